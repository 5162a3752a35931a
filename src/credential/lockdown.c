#include "lockdown.h"

#include <errno.h>
#include <linux/capability.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "sys/kernel.h"
#include "sys/lockdown.h"
#include "sys/seccomp_filter.h"

/* ---- privileges */

/* Its memory may be locked as far as it could before. */
static int limit_resources(void)
{
    static const int none[] = { RLIMIT_CORE, RLIMIT_FSIZE, RLIMIT_NPROC };

    return lockdown_limits(none, COUNT(none));
}

/* ---- files and the network */

static int restrict_itself(void)
{
    int r = lockdown_landlock(LANDLOCK_TCP_BIND | LANDLOCK_TCP_CONNECT, NULL);

    return r < 0 ? r : 0;
}

/* ---- system calls */

static const struct sock_filter filter[] = {
    FILTER_BEGIN,
    FILTER_ALLOW_CALL(SYS_epoll_pwait),
#ifdef SYS_epoll_wait
    FILTER_ALLOW_CALL(SYS_epoll_wait),
#endif
    FILTER_ALLOW_CALL(SYS_read),
    FILTER_ALLOW_CALL(SYS_write),
    FILTER_ALLOW_CALL(SYS_recvfrom),
    FILTER_ALLOW_CALL(SYS_sendto),
    FILTER_ALLOW_CALL(SYS_recvmsg),
    FILTER_ALLOW_CALL(SYS_epoll_ctl),
    FILTER_ALLOW_CALL(SYS_close),
    FILTER_ALLOW_CALL(SYS_shutdown),
    FILTER_ALLOW_CALL(SYS_setsockopt),
    FILTER_ALLOW_CALL(SYS_getsockopt),
    FILTER_ALLOW_CALL(SYS_getrandom),
    FILTER_ALLOW_CALL(SYS_clock_gettime),
    FILTER_ALLOW_CALL(SYS_futex),
    FILTER_ALLOW_CALL(SYS_getpid),
    FILTER_ALLOW_CALL(SYS_brk),
    FILTER_ALLOW_CALL(SYS_munmap),
    FILTER_ALLOW_CALL(SYS_mremap),
    FILTER_ALLOW_CALL(SYS_madvise),
    FILTER_ALLOW_CALL(SYS_mlock),
    FILTER_ALLOW_CALL(SYS_rt_sigreturn),
    FILTER_ALLOW_CALL(SYS_restart_syscall),
    FILTER_ALLOW_CALL(SYS_exit_group),
    FILTER_ALLOW_CALL(SYS_exit),
    FILTER_ALLOW_WITHOUT(SYS_mprotect, args[2], PROT_EXEC),
    FILTER_ALLOW_MEMORY(SYS_mmap),
    /* A library may look for a file of its own, and does without. */
    FILTER_IF_EQUAL(SYS_openat, 0, 1),
    FILTER_FAIL(EACCES),
    FILTER_KILL,
};

static int filter_calls(void)
{
    return lockdown_filter(filter, COUNT(filter));
}

/* ---- */

static const struct lockdown_step steps[] = {
    { "set its limits", limit_resources },
    { "give up capabilities", lockdown_capabilities },
    { "give up files and connections", restrict_itself },
    { "install its system call filter", filter_calls },
};

int credential_lockdown(const char **out_step)
{
    return lockdown_take(steps, COUNT(steps), out_step);
}
