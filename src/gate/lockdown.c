/*
 * lockdown.c - what is left of a process that hostile code talks to
 *
 * Files: an ordinary user's gate may read what is in the directories of /etc/hosts and
 * /etc/resolv.conf, because both may be replaced while it runs, and there is nothing there that
 * others may not read as well. Root's gate may read the two files themselves, and directories
 * other than /etc. Where the kernel has no Landlock it can open nothing. What it cannot open it
 * knows as it was at the start.
 */
#include "lockdown.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "gate/resolver.h"
#include "sys/kernel.h"
#include "sys/lockdown.h"
#include "sys/seccomp_filter.h"

static bool can_open; /* files, as far as Landlock lets it */

/* ---- privileges */

static int limit_resources(void)
{
    static const int none[] = { RLIMIT_CORE, RLIMIT_FSIZE, RLIMIT_NPROC, RLIMIT_MEMLOCK };

    return lockdown_limits(none, COUNT(none));
}

static int hide(void)
{
    return prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0 ? -errno : 0;
}

/* ---- files */

/* 0, -errno. What is not there needs no rule. */
static int allow_reading(int ruleset_fd, const char *path)
{
    auto_close int fd = open(path, O_PATH | O_CLOEXEC);
    struct kernel_landlock_path rule = { .allowed = LANDLOCK_READ_FILE, .parent_fd = fd };

    if (fd < 0)
        return 0;
    return syscall(NR_LANDLOCK_ADD_RULE, ruleset_fd, LANDLOCK_PATH_RULE, &rule, 0) < 0 ? -errno : 0;
}

/* The file, wherever its name leads, and where it is safe the directory in which it is. */
static int allow_file(int ruleset_fd, const char *path)
{
    auto_free char *real = realpath(path, NULL);
    int r = allow_reading(ruleset_fd, path);

    if (r < 0 || !real)
        return r;
    *strrchr(real, '/') = 0;
    bool is_safe = *real && (strcmp(real, "/etc") != 0 || getuid() != 0);
    return is_safe ? allow_reading(ruleset_fd, real) : 0;
}

static int allow_files(int ruleset_fd)
{
    int r = allow_file(ruleset_fd, GATE_HOSTS_FILE);

    return r < 0 ? r : allow_file(ruleset_fd, GATE_SERVERS_FILE);
}

static int restrict_files(void)
{
    int r = lockdown_landlock(LANDLOCK_TCP_BIND, allow_files);

    can_open = r > 0;
    return r < 0 ? r : 0;
}

/* ---- system calls */

#define OPEN_CHANGES (O_WRONLY | O_RDWR | O_CREAT | O_TRUNC | O_PATH)
#define TYPE_MASK    (~(unsigned)(SOCK_CLOEXEC | SOCK_NONBLOCK))

static const unsigned calls[] = {
    SYS_epoll_pwait,
#ifdef SYS_epoll_wait
    SYS_epoll_wait,
#endif
    SYS_recvfrom,    SYS_sendto,    SYS_splice,          SYS_accept4,    SYS_getsockname,
    SYS_epoll_ctl,   SYS_close,     SYS_shutdown,        SYS_connect,    SYS_setsockopt,
    SYS_getsockopt,  SYS_recvmsg,   SYS_sendmsg,         SYS_pipe2,      SYS_pread64,
    SYS_fcntl,       SYS_getrandom, SYS_clock_gettime,   SYS_brk,        SYS_munmap,
    SYS_mremap,      SYS_madvise,   SYS_restart_syscall, SYS_exit_group, SYS_exit,
};

/* Of the others, those whose arguments matter; first comes the rule for files. */
static const struct sock_filter rest[] = {
    FILTER_ALLOW_WITHOUT(SYS_mprotect, args[2], PROT_EXEC),
    FILTER_ALLOW_MEMORY(SYS_mmap),
    /* of the internet: streams and datagrams */
    FILTER_IF_EQUAL(SYS_socket, 0, 9),
    FILTER_LOAD(args[0]),
    FILTER_IF_EQUAL(AF_INET, 1, 0),
    FILTER_IF_EQUAL(AF_INET6, 0, 5),
    FILTER_LOAD(args[1]),
    FILTER_MASK(TYPE_MASK),
    FILTER_IF_EQUAL(SOCK_STREAM, 1, 0),
    FILTER_IF_EQUAL(SOCK_DGRAM, 0, 1),
    FILTER_ALLOW,
    FILTER_KILL,
    FILTER_KILL,
};
static const struct sock_filter open_files[] = {
    FILTER_ALLOW_WITHOUT(SYS_openat, args[2], OPEN_CHANGES),
};
static const struct sock_filter open_nothing[] = {
    FILTER_IF_EQUAL(SYS_openat, 0, 1),
    FILTER_FAIL(EACCES),
};

static int filter_calls(void)
{
    struct sock_filter others[COUNT(open_files) + COUNT(rest)];
    size_t n = can_open ? COUNT(open_files) : COUNT(open_nothing);

    memcpy(others, can_open ? open_files : open_nothing, n * sizeof *others);
    memcpy(others + n, rest, sizeof rest);
    return lockdown_calls(calls, COUNT(calls), others, n + COUNT(rest));
}

/* ---- */

static const struct lockdown_step steps[] = {
    { "set its limits", limit_resources },
    { "hide from other processes", hide },
    { "give up capabilities", lockdown_capabilities },
    { "restrict itself to two files", restrict_files },
    { "install its system call filter", filter_calls },
};

int gate_lockdown(const char **out_step)
{
    return lockdown_take(steps, COUNT(steps), out_step);
}
