#include "clone.h"

#include <errno.h>
#include <sched.h>
#include <stddef.h>

#include "sys/kernel.h"
#include "sys/raw.h"

/* What ran on this stack before left it by exec, with its frames still marked as in use. */
#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#define FORGET_FRAMES(stack, size) ASAN_UNPOISON_MEMORY_REGION(stack, size)
#else
#define FORGET_FRAMES(stack, size) ((void)0)
#endif

#ifndef CLONE_PIDFD
#define CLONE_PIDFD 0x1000
#endif
#define CLONE_INTO_CGROUP_V2 0x200000000ull

/* clone3 gives the child another stack, so it cannot return through a C function. */
static long clone3_call(struct kernel_clone_args *args, int (*fn)(void *), void *arg)
{
#if defined(__x86_64__)
    register long result __asm__("rax") = NR_CLONE3;
    register void *rdi __asm__("rdi") = args;
    register long rsi __asm__("rsi") = sizeof *args;
    register int (*r12)(void *) __asm__("r12") = fn;
    register void *r13 __asm__("r13") = arg;

    __asm__ volatile("syscall\n\t"
                     "test %%rax, %%rax\n\t"
                     "jnz 1f\n\t"
                     "xor %%ebp, %%ebp\n\t"
                     "mov %%r13, %%rdi\n\t"
                     "call *%%r12\n\t"
                     "mov %%eax, %%edi\n\t"
                     "mov $60, %%eax\n\t"
                     "syscall\n\t"
                     "hlt\n"
                     "1:"
                     : "+r"(result)
                     : "r"(rdi), "r"(rsi), "r"(r12), "r"(r13)
                     : "rcx", "r11", "memory", "cc");
    return result;
#elif defined(__aarch64__)
    register long x8 __asm__("x8") = NR_CLONE3;
    register long x0 __asm__("x0") = (long)args;
    register long x1 __asm__("x1") = sizeof *args;
    register int (*x10)(void *) __asm__("x10") = fn;
    register void *x11 __asm__("x11") = arg;

    __asm__ volatile("svc #0\n\t"
                     "cbnz x0, 1f\n\t"
                     "mov x29, xzr\n\t"
                     "mov x0, x11\n\t"
                     "blr x10\n\t"
                     "mov x8, #93\n\t"
                     "svc #0\n\t"
                     "brk #1\n"
                     "1:"
                     : "+r"(x0)
                     : "r"(x8), "r"(x1), "r"(x10), "r"(x11)
                     : "memory", "cc");
    return x0;
#endif
}

/* clone(2) through libc: for kernels, containers and tools that do not know clone3. */
static long clone_call(const struct sys_clone *how, int (*fn)(void *), void *arg)
{
    int flags = (int)(how->flags & ~0xffull) | how->exit_signal;
    int saved = errno;
    int pidfd = -1;

    if (how->out_pidfd)
        flags |= CLONE_PIDFD;
    if (how->gone) {
        *how->gone = 1;
        flags |= CLONE_CHILD_CLEARTID;
    }
    int pid = clone(fn, (char *)how->stack + how->stack_size, flags, arg, &pidfd, NULL, how->gone);
    long result = pid < 0 ? -errno : pid;
    errno = saved;
    if (pid > 0 && how->out_pidfd)
        *how->out_pidfd = pidfd;
    return result;
}

long sys_clone(const struct sys_clone *how, int (*fn)(void *), void *arg)
{
    int pidfd = -1;

    FORGET_FRAMES(how->stack, how->stack_size);
    struct kernel_clone_args args = {
        .flags = how->flags | (how->out_pidfd ? CLONE_PIDFD : 0),
        .pidfd = (uintptr_t)&pidfd,
        .exit_signal = (uint64_t)how->exit_signal,
        .stack = (uintptr_t)how->stack,
        .stack_size = how->stack_size,
    };

    if (how->cgroup_fd) {
        args.flags |= CLONE_INTO_CGROUP_V2;
        args.cgroup = (uint64_t)*how->cgroup_fd;
    }
    if (how->gone) {
        *how->gone = 1;
        args.flags |= CLONE_CHILD_CLEARTID;
        args.child_tid = (uintptr_t)how->gone;
    }
    long pid = clone3_call(&args, fn, arg);
    /* Old kernels do not know it, and filters of containers answer EPERM instead of ENOSYS. */
    if ((pid == -ENOSYS || pid == -EPERM) && !how->cgroup_fd)
        return clone_call(how, fn, arg);
    if (pid > 0 && how->out_pidfd)
        *how->out_pidfd = pidfd;
    return pid;
}
