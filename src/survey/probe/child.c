/*
 * child.c - children for tries: our memory, their own everything else
 *
 * A child has its own descriptor table, credentials, filters and (when asked) namespaces, but our
 * address space. All signals are blocked around it, so that none of the host's handlers runs in it.
 * Its exit signal is 0 and it is waited for by its pidfd: the host's own waits do not see it.
 */
#include "survey/probe/probe.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "sys/clone.h"
#include "sys/kernel.h"
#include "sys/raw.h"

#define STACK_SIZE    (64 * 1024)
#define KERNEL_SIGSET 8 /* bytes the kernel has in a signal set */

static void *stack_new(void)
{
    void *stack = mmap(NULL, STACK_SIZE, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);

    return stack == MAP_FAILED ? NULL : stack;
}

static long start(uint64_t flags, void *stack, int *out_pidfd, int (*fn)(void *), void *arg)
{
    struct sys_clone how = {
        .flags = flags, .stack = stack, .stack_size = STACK_SIZE, .out_pidfd = out_pidfd
    };
    uint64_t all = ~0ull;
    uint64_t before = 0;

    (void)raw(SYS_rt_sigprocmask, SIG_SETMASK, &all, &before, KERNEL_SIGSET);
    long pid = sys_clone(&how, fn, arg);
    (void)raw(SYS_rt_sigprocmask, SIG_SETMASK, &before, NULL, KERNEL_SIGSET);
    return pid;
}

/* The exit status, 128 + signal, or -errno. */
static long finish(pid_t pid, int pidfd)
{
    siginfo_t info = { 0 };
    long r;

    do {
        if (pidfd >= 0)
            r = raw(SYS_waitid, WAIT_ON_PIDFD, pidfd, &info, WEXITED | __WALL, NULL);
        else
            r = raw(SYS_waitid, P_PID, pid, &info, WEXITED | __WALL, NULL);
    } while (r == -EINTR);
    if (r < 0)
        return r;
    return info.si_code == CLD_EXITED ? info.si_status : 128 + info.si_status;
}

long probe_child(uint64_t namespaces, int (*fn)(void *), void *arg)
{
    auto_close int pidfd = -1;
    void *stack = stack_new();

    if (!stack)
        return -ENOMEM;
    long pid = start(CLONE_VM | CLONE_VFORK | namespaces, stack, &pidfd, fn, arg);
    long r = pid < 0 ? pid : finish((pid_t)pid, pidfd);
    (void)munmap(stack, STACK_SIZE);
    return r;
}

/* Ends with the thread that holds it, should that end first. */
static int hold_child(void *arg)
{
    const struct probe_held *held = arg;

    (void)raw(SYS_prctl, PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
    while (raw(SYS_getppid) == held->parent)
        (void)raw(SYS_ppoll, NULL, 0, NULL, NULL, 0);
    return 0;
}

long probe_hold(struct probe_held *held)
{
    *held = (struct probe_held){ .stack = stack_new(), .parent = getpid(), .pidfd = -1 };
    if (!held->stack)
        return -ENOMEM;
    long pid = start(CLONE_VM | CLONE_NEWUSER, held->stack, &held->pidfd, hold_child, held);
    if (pid < 0) {
        (void)munmap(held->stack, STACK_SIZE);
        held->stack = NULL;
        return pid;
    }
    held->pid = (pid_t)pid;
    return 0;
}

void probe_let_go(struct probe_held *held)
{
    if (!held->stack)
        return;
    (void)raw(SYS_kill, held->pid, SIGKILL); /* not reaped yet, so the number is still its own */
    (void)finish(held->pid, held->pidfd);
    (void)munmap(held->stack, STACK_SIZE);
    close_fd(&held->pidfd);
    held->stack = NULL;
}
