#include "lockdown.h"

#include <errno.h>
#include <linux/capability.h>
#include <linux/seccomp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "sys/kernel.h"
#include "sys/seccomp_filter.h"

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

/* ---- calls */

#define CALLS_MOST 64
#define REST_MOST  64

/* What a tree of n calls takes: one instruction for each, and one for each fork. */
static size_t tree_size(size_t n)
{
    return 2 * n - 1;
}

/* `left` instructions of the whole tree stand behind this one; then what allows, then the rest. */
static struct sock_filter *put_tree(struct sock_filter *out, const unsigned *calls, size_t n,
                                    size_t left)
{
    size_t half = n / 2;

    if (n == 1) {
        *out++ = (struct sock_filter)FILTER_IF_EQUAL(calls[0], (uint8_t)left, (uint8_t)(left + 1));
        return out;
    }
    *out++ = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, calls[half],
                                          (uint8_t)tree_size(half), 0);
    out = put_tree(out, calls, half, left - 1);
    return put_tree(out, calls + half, n - half, left - 1 - tree_size(half));
}

static int ascending(const void *a, const void *b)
{
    const unsigned x = *(const unsigned *)a;
    const unsigned y = *(const unsigned *)b;

    return x < y ? -1 : x > y;
}

int lockdown_calls(const unsigned *allowed, size_t n, const struct sock_filter *rest, size_t n_rest)
{
    static const struct sock_filter begin[] = { FILTER_BEGIN };
    static const struct sock_filter allow[] = { FILTER_ALLOW };
    struct sock_filter filter[COUNT(begin) + 2 * CALLS_MOST + COUNT(allow) + REST_MOST];
    unsigned calls[CALLS_MOST];
    struct sock_filter *at = filter + COUNT(begin);

    if (n == 0 || n > CALLS_MOST || n_rest > REST_MOST)
        return -EINVAL;
    memcpy(calls, allowed, n * sizeof *calls);
    qsort(calls, n, sizeof *calls, ascending);
    memcpy(filter, begin, sizeof begin);
    at = put_tree(at, calls, n, tree_size(n) - 1);
    memcpy(at, allow, sizeof allow);
    memcpy(at + COUNT(allow), rest, n_rest * sizeof *rest);
    return lockdown_filter(filter, COUNT(begin) + tree_size(n) + COUNT(allow) + n_rest);
}
