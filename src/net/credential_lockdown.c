#include "credential_lockdown.h"

#include <errno.h>
#include <linux/capability.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "sys/kernel.h"
#include "sys/seccomp_filter.h"

/* ---- privileges */

/* Its memory may be locked as far as it could before. */
static int limit_resources(void)
{
    static const int none[] = { RLIMIT_CORE, RLIMIT_FSIZE, RLIMIT_NPROC };

    for (size_t i = 0; i < COUNT(none); i++)
        if (setrlimit(none[i], &(struct rlimit){ 0 }) < 0)
            return -errno;
    return 0;
}

static int give_up_capabilities(void)
{
    struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
    struct __user_cap_data_struct none[2] = { { 0 } };

    (void)prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
        return -errno;
    return syscall(SYS_capset, &header, none) < 0 ? -errno : 0;
}

/* ---- files and the network */

/* All that this kernel's Landlock knows of, and nothing of it is allowed. */
static int restrict_itself(void)
{
    long abi = syscall(NR_LANDLOCK_CREATE_RULESET, NULL, 0, LANDLOCK_VERSION_FLAG);
    struct kernel_landlock_attr all = { .fs = LANDLOCK_ALL_ABI1 };

    if (abi < 1)
        return 0;
    if (abi >= 2)
        all.fs |= LANDLOCK_REFER;
    if (abi >= 3)
        all.fs |= LANDLOCK_TRUNCATE;
    if (abi >= 4)
        all.net = LANDLOCK_TCP_BIND | LANDLOCK_TCP_CONNECT;
    if (abi >= 5)
        all.fs |= LANDLOCK_IOCTL_DEV;
    if (abi >= 6)
        all.scoped = LANDLOCK_SCOPE_ABSTRACT | LANDLOCK_SCOPE_SIGNAL;
    size_t size = abi >= 6 ? sizeof all : abi >= 4 ? 2 * sizeof(uint64_t) : sizeof(uint64_t);
    auto_close int fd = (int)syscall(NR_LANDLOCK_CREATE_RULESET, &all, size, 0);
    if (fd < 0)
        return -errno;
    return syscall(NR_LANDLOCK_RESTRICT_SELF, fd, 0) < 0 ? -errno : 0;
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
    const struct sock_fprog program = { COUNT(filter), (struct sock_filter *)(uintptr_t)filter };

    return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) < 0 ? -errno : 0;
}

/* ---- */

static const struct {
    const char *name;
    int (*take)(void);
} steps[] = {
    { "set its limits", limit_resources },
    { "give up capabilities", give_up_capabilities },
    { "give up files and connections", restrict_itself },
    { "install its system call filter", filter_calls },
};

int credential_lockdown(const char **out_step)
{
    free(malloc(1)); /* the first may need more than later ones */
    for (size_t i = 0; i < COUNT(steps); i++) {
        int r = steps[i].take();

        if (r < 0) {
            *out_step = steps[i].name;
            return r;
        }
    }
    return 0;
}
