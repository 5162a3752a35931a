/*
 * Each try is a child that locks itself down and then makes one system call, itself: nothing of a
 * C library or sanitizer comes in between.
 */
#include "lockdown.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "sys/kernel.h"
#include "sys/raw.h"
#include "test/check.h"

static char byte[1];

/* 0..127: the call returned, and that with -errno as far as it fits; 128 + signal: it was killed. */
static int try(long (*call)(void))
{
    int status = 0;
    pid_t pid = fork();

    CHECK(pid >= 0);
    if (pid == 0) {
        const char *step = NULL;

        if (gate_lockdown(&step) < 0)
            _exit(126);
        long r = call();
        (void)raw(SYS_exit_group, r < 0 ? -r : 0);
    }
    CHECK(waitpid(pid, &status, 0) == pid);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static bool has_landlock(void)
{
    return raw(NR_LANDLOCK_CREATE_RULESET, 0, 0, LANDLOCK_VERSION_FLAG) >= 1;
}

/* ---- allowed */

static long do_stream(void)
{
    return raw(SYS_socket, AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
}
static long do_datagram(void)
{
    return raw(SYS_socket, AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0);
}
static long do_hosts(void)
{
    return raw(SYS_openat, AT_FDCWD, "/etc/hosts", O_RDONLY | O_CLOEXEC, 0);
}
static long do_servers(void)
{
    return raw(SYS_openat, AT_FDCWD, "/etc/resolv.conf", O_RDONLY | O_CLOEXEC, 0);
}
static long do_pipe(void)
{
    static int fds[2];

    return raw(SYS_pipe2, fds, O_NONBLOCK);
}

TEST(it_can_connect_and_look_names_up)
{
    CHECK(try(do_stream) == 0);
    CHECK(try(do_pipe) == 0);
    int r = try(do_datagram);
    CHECK(r == 0 || r == EAFNOSUPPORT);
    if (!has_landlock())
        SKIP_NEVER("the kernel has no Landlock: files cannot be opened again");
    CHECK(try(do_hosts) == 0);
    CHECK(try(do_servers) == 0);
}

/* ---- refused */

static long do_open_other(void)
{
    return raw(SYS_openat, AT_FDCWD, "/proc/self/maps", O_RDONLY, 0);
}
static long do_open_home(void)
{
    return raw(SYS_openat, AT_FDCWD, "/tmp", O_RDONLY | O_DIRECTORY, 0);
}
static long do_bind(void)
{
    struct sockaddr_in any = { .sin_family = AF_INET };
    long fd = do_stream();

    return raw(SYS_bind, fd, &any, sizeof any);
}

TEST(other_files_cannot_be_opened)
{
    CHECK(try(do_open_other) == EACCES);
    CHECK(try(do_open_home) == EACCES);
}

/* ---- killed */

static long do_write_file(void)
{
    return raw(SYS_openat, AT_FDCWD, "/etc/hosts", O_WRONLY, 0);
}
static long do_create(void)
{
    return raw(SYS_openat, AT_FDCWD, "/tmp/x", O_RDONLY | O_CREAT, 0600);
}
static long do_unix(void)
{
    return raw(SYS_socket, AF_UNIX, SOCK_STREAM, 0);
}
static long do_netlink(void)
{
    return raw(SYS_socket, AF_NETLINK, SOCK_RAW, 0);
}
static long do_raw_socket(void)
{
    return raw(SYS_socket, AF_INET, SOCK_RAW, IPPROTO_ICMP);
}
static long do_exec(void)
{
    char *argv[] = { NULL };

    return raw(SYS_execve, "/bin/true", argv, argv);
}
static long do_clone(void)
{
    return raw(SYS_clone, SIGCHLD, 0, 0, 0, 0);
}
static long do_kill(void)
{
    return raw(SYS_kill, raw(SYS_getppid), 0);
}
static long do_ioctl(void)
{
    return raw(SYS_ioctl, 0, 0x5412, byte);
}
static long do_prctl(void)
{
    return raw(SYS_prctl, PR_GET_DUMPABLE, 0, 0, 0, 0);
}
static long do_map_code(void)
{
    return raw(SYS_mmap, 0, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}
static long do_map_file(void)
{
    return raw(SYS_mmap, 0, 4096, PROT_READ, MAP_PRIVATE, 0, 0);
}
static long do_unknown(void)
{
    return raw(1000);
}
#if defined(__x86_64__)
static long do_x32(void)
{
    return raw(0x40000000 | SYS_close, 100);
}
#endif

TEST(it_dies_of_any_other_system_call)
{
    static long (*const calls[])(void) = {
        do_bind,
        do_unix,
        do_netlink,
        do_raw_socket,
        do_exec,
        do_clone,
        do_kill,
        do_ioctl,
        do_prctl,
        do_map_code,
        do_map_file,
        do_unknown,
#if defined(__x86_64__)
        do_x32,
#endif
    };

    for (size_t i = 0; i < COUNT(calls); i++) {
        int r = try(calls[i]);

        if (r != 128 + SIGSYS)
            printf("# call %zu: %d\n", i, r);
        CHECK(r == 128 + SIGSYS);
    }
}

TEST(files_are_never_changed)
{
    if (!has_landlock())
        SKIP_NEVER("the kernel has no Landlock: nothing can be opened at all");
    CHECK(try(do_write_file) == 128 + SIGSYS);
    CHECK(try(do_create) == 128 + SIGSYS);
}
