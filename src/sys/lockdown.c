#include "lockdown.h"

#include <errno.h>
#include <linux/capability.h>
#include <linux/seccomp.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "sys/kernel.h"

int lockdown_take(const struct lockdown_step *steps, size_t n, const char **out_step)
{
    /* The first allocation of a C library may ask for random bytes: not after this. */
    free(malloc(1));
    for (size_t i = 0; i < n; i++) {
        int r = steps[i].take();

        if (r < 0) {
            *out_step = steps[i].name;
            return r;
        }
    }
    return 0;
}

int lockdown_limits(const int *resources, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (setrlimit(resources[i], &(struct rlimit){ 0 }) < 0)
            return -errno;
    return 0;
}

int lockdown_capabilities(void)
{
    struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
    struct __user_cap_data_struct none[2] = { { 0 } };

    (void)prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
        return -errno;
    return syscall(SYS_capset, &header, none) < 0 ? -errno : 0;
}

int lockdown_landlock(uint64_t net, int (*allow)(int ruleset_fd))
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
        all.net = net;
    if (abi >= 5)
        all.fs |= LANDLOCK_IOCTL_DEV;
    if (abi >= 6)
        all.scoped = LANDLOCK_SCOPE_ABSTRACT | LANDLOCK_SCOPE_SIGNAL;
    size_t size = abi >= 6 ? sizeof all : abi >= 4 ? 2 * sizeof(uint64_t) : sizeof(uint64_t);
    auto_close int fd = (int)syscall(NR_LANDLOCK_CREATE_RULESET, &all, size, 0);
    if (fd < 0)
        return -errno;
    int r = allow ? allow(fd) : 0;
    if (r == 0 && syscall(NR_LANDLOCK_RESTRICT_SELF, fd, 0) < 0)
        r = -errno;
    return r < 0 ? r : 1;
}

int lockdown_filter(const struct sock_filter *filter, size_t n)
{
    const struct sock_fprog program = { (unsigned short)n,
                                        (struct sock_filter *)(uintptr_t)filter };

    return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) < 0 ? -errno : 0;
}
