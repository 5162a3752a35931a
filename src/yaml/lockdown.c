#include "lockdown.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "sys/kernel.h"

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

#if defined(__x86_64__) && !defined(__ILP32__)
#define NATIVE_ARCH AUDIT_ARCH_X86_64
#elif defined(__aarch64__) && !defined(__AARCH64EB__) && !defined(__ILP32__)
#define NATIVE_ARCH AUDIT_ARCH_AARCH64
#else
#error "the filter does not know this architecture"
#endif

#define LOAD(member)           BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, member))
#define IF_EQUAL(k, yes, no)   BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, k, yes, no)
#define IF_ANY_BIT(k, yes, no) BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, k, yes, no)
#define ALLOW                  BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)
#define KILL                   BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS)

/* Each rule falls through to the next one for other calls; the low half of an argument comes first. */
#define RULE(nr)        IF_EQUAL(nr, 0, 1), ALLOW
#define RULE_ON(nr, fd) IF_EQUAL(nr, 0, 4), LOAD(args[0]), IF_EQUAL(fd, 0, 1), ALLOW, KILL
#define RULE_NO_EXEC(nr, arg) \
    IF_EQUAL(nr, 0, 4), LOAD(arg), IF_ANY_BIT(PROT_EXEC, 1, 0), ALLOW, KILL

static const struct sock_filter filter[] = {
    LOAD(arch),
    IF_EQUAL(NATIVE_ARCH, 1, 0),
    KILL,
    LOAD(nr),
    RULE_ON(SYS_read, STDIN_FILENO),
    RULE_ON(SYS_write, STDOUT_FILENO),
    RULE(SYS_brk),
    RULE(SYS_munmap),
    RULE(SYS_mremap),
    RULE(SYS_madvise),
    RULE_NO_EXEC(SYS_mprotect, args[2]),
    /* mmap: of memory, not of files */
    IF_EQUAL(SYS_mmap, 0, 6),
    LOAD(args[2]),
    IF_ANY_BIT(PROT_EXEC, 3, 0),
    LOAD(args[3]),
    IF_ANY_BIT(MAP_ANONYMOUS, 0, 1),
    ALLOW,
    KILL,
    RULE(SYS_exit_group),
    RULE(SYS_exit),
    KILL,
};

static int filter_calls(void)
{
    const struct sock_fprog program = { COUNT(filter), (struct sock_filter *)(uintptr_t)filter };

    return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) < 0 ? -errno : 0;
}

static int give_up_privileges(void)
{
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ? -errno : 0;
}

/* ---- */

static const struct {
    const char *name;
    int (*take)(void);
} steps[] = {
    { "close other descriptors", close_others },
    { "set its limits", set_limits },
    { "give up privileges", give_up_privileges },
    { "install its system call filter", filter_calls },
};

int lockdown(const char **out_step)
{
    /* The first allocation of a C library may ask for random bytes: not after this. */
    free(malloc(1));
    for (size_t i = 0; i < COUNT(steps); i++) {
        int r = steps[i].take();

        if (r < 0) {
            *out_step = steps[i].name;
            return r;
        }
    }
    return 0;
}
