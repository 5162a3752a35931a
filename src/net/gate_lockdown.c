/*
 * gate_lockdown.c - what is left of a process that hostile code talks to
 *
 * Files: an ordinary user's gate may read what is in the directories of /etc/hosts and
 * /etc/resolv.conf, because both may be replaced while it runs, and there is nothing there that
 * others may not read as well. Root's gate may read the two files themselves, and directories
 * other than /etc. Where the kernel has no Landlock it can open nothing. What it cannot open it
 * knows as it was at the start.
 */
#include "gate_lockdown.h"

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
#include "net/gate_resolver.h"
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

/* What follows the beginning and the rule for files. */
static const struct sock_filter calls[] = {
    FILTER_ALLOW_CALL(SYS_epoll_pwait),
#ifdef SYS_epoll_wait
    FILTER_ALLOW_CALL(SYS_epoll_wait),
#endif
    FILTER_ALLOW_CALL(SYS_recvfrom),
    FILTER_ALLOW_CALL(SYS_sendto),
    FILTER_ALLOW_CALL(SYS_splice),
    FILTER_ALLOW_CALL(SYS_accept4),
    FILTER_ALLOW_CALL(SYS_getsockname),
    FILTER_ALLOW_CALL(SYS_epoll_ctl),
    FILTER_ALLOW_CALL(SYS_close),
    FILTER_ALLOW_CALL(SYS_shutdown),
    FILTER_ALLOW_CALL(SYS_connect),
    FILTER_ALLOW_CALL(SYS_setsockopt),
    FILTER_ALLOW_CALL(SYS_getsockopt),
    FILTER_ALLOW_CALL(SYS_recvmsg),
    FILTER_ALLOW_CALL(SYS_sendmsg),
    FILTER_ALLOW_CALL(SYS_pipe2),
    FILTER_ALLOW_CALL(SYS_pread64),
    FILTER_ALLOW_CALL(SYS_fcntl),
    FILTER_ALLOW_CALL(SYS_getrandom),
    FILTER_ALLOW_CALL(SYS_clock_gettime),
    FILTER_ALLOW_CALL(SYS_brk),
    FILTER_ALLOW_CALL(SYS_munmap),
    FILTER_ALLOW_CALL(SYS_mremap),
    FILTER_ALLOW_CALL(SYS_madvise),
    FILTER_ALLOW_CALL(SYS_restart_syscall),
    FILTER_ALLOW_CALL(SYS_exit_group),
    FILTER_ALLOW_CALL(SYS_exit),
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
static const struct sock_filter begin[] = { FILTER_BEGIN };
static const struct sock_filter open_files[] = {
    FILTER_ALLOW_WITHOUT(SYS_openat, args[2], OPEN_CHANGES),
};
static const struct sock_filter open_nothing[] = {
    FILTER_IF_EQUAL(SYS_openat, 0, 1),
    FILTER_FAIL(EACCES),
};

static int filter_calls(void)
{
    struct sock_filter filter[COUNT(begin) + COUNT(open_files) + COUNT(calls)];
    size_t n = COUNT(begin);

    memcpy(filter, begin, sizeof begin);
    if (can_open) {
        memcpy(filter + n, open_files, sizeof open_files);
        n += COUNT(open_files);
    } else {
        memcpy(filter + n, open_nothing, sizeof open_nothing);
        n += COUNT(open_nothing);
    }
    memcpy(filter + n, calls, sizeof calls);
    return lockdown_filter(filter, n + COUNT(calls));
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
