#include "yaml/lockdown.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "sys/kernel.h"
#include "sys/lockdown.h"
#include "sys/seccomp_filter.h"

/* ---- descriptors */

static int close_others(void)
{
    struct rlimit files;

    if (syscall(NR_CLOSE_RANGE, 2, ~0u, 0) == 0)
        return 0;
    if (getrlimit(RLIMIT_NOFILE, &files) < 0)
        return -errno;
    for (rlim_t fd = 2; fd < files.rlim_cur; fd++)
        (void)close((int)fd);
    return 0;
}

/* ---- limits */

static const struct {
    int resource;
    rlim_t most;
} limits[] = {
    { RLIMIT_DATA, LOCKDOWN_MEMORY },
    { RLIMIT_CPU, LOCKDOWN_CPU_SECONDS },
    { RLIMIT_NOFILE, 0 },
    { RLIMIT_FSIZE, 0 },
    { RLIMIT_CORE, 0 },
    { RLIMIT_NPROC, 0 },
};

/* Lower limits stay as they are. */
static int set_limits(void)
{
    for (size_t i = 0; i < COUNT(limits); i++) {
        struct rlimit limit;

        if (getrlimit(limits[i].resource, &limit) < 0)
            return -errno;
        if (limit.rlim_max > limits[i].most)
            limit.rlim_max = limits[i].most;
        limit.rlim_cur = limit.rlim_max;
        if (setrlimit(limits[i].resource, &limit) < 0)
            return -errno;
    }
    return 0;
}

/* ---- system calls */

static const struct sock_filter filter[] = {
    FILTER_BEGIN,
    /* one descriptor each */
    FILTER_IF_EQUAL(SYS_read, 0, 4),
    FILTER_LOAD(args[0]),
    FILTER_IF_EQUAL(STDIN_FILENO, 0, 1),
    FILTER_ALLOW,
    FILTER_KILL,
    FILTER_IF_EQUAL(SYS_write, 0, 4),
    FILTER_LOAD(args[0]),
    FILTER_IF_EQUAL(STDOUT_FILENO, 0, 1),
    FILTER_ALLOW,
    FILTER_KILL,
    FILTER_ALLOW_CALL(SYS_brk),
    FILTER_ALLOW_CALL(SYS_munmap),
    FILTER_ALLOW_CALL(SYS_mremap),
    FILTER_ALLOW_CALL(SYS_madvise),
    FILTER_ALLOW_WITHOUT(SYS_mprotect, args[2], PROT_EXEC),
    FILTER_ALLOW_MEMORY(SYS_mmap),
    FILTER_ALLOW_CALL(SYS_exit_group),
    FILTER_ALLOW_CALL(SYS_exit),
    FILTER_KILL,
};

static int filter_calls(void)
{
    return lockdown_filter(filter, COUNT(filter));
}

static int give_up_privileges(void)
{
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ? -errno : 0;
}

/* ---- */

static const struct lockdown_step steps[] = {
    { "close other descriptors", close_others },
    { "set its limits", set_limits },
    { "give up privileges", give_up_privileges },
    { "install its system call filter", filter_calls },
};

int lockdown(const char **out_step)
{
    return lockdown_take(steps, COUNT(steps), out_step);
}
