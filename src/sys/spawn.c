#include "spawn.h"

#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "sys/clone.h"
#include "sys/kernel.h"
#include "sys/raw.h"

#define STACK_SIZE    (64 * 1024)
#define KERNEL_SIGSET 8 /* bytes the kernel has in a signal set */

struct starting {
    const struct spawn_program *program;
    long failure; /* of execve */
};

static int become_program(void *arg)
{
    struct starting *starting = arg;
    const struct spawn_program *program = starting->program;
    uint64_t none = 0;

    if (program->is_detached) {
        (void)raw(SYS_setsid);
        (void)raw(SYS_chdir, "/");
    }
    for (int fd = 0; fd < 3; fd++) {
        if (program->fds[fd] >= 0)
            (void)raw(SYS_dup3, program->fds[fd], fd, 0);
        else
            (void)raw(SYS_close, fd);
    }
    if (program->is_detached)
        (void)raw(NR_CLOSE_RANGE, 3, ~0u, CLOSE_RANGE_SET_CLOEXEC);
    (void)raw(SYS_rt_sigprocmask, SIG_SETMASK, &none, NULL, KERNEL_SIGSET);
    long failure = -ENOENT;
    for (char *const *path = program->paths; *path; path++) {
        long r = raw(SYS_execve, *path, program->argv, program->environment);

        if (r != -ENOENT && r != -ENOTDIR) /* what is there but cannot run is the better reason */
            failure = r;
    }
    starting->failure = failure;
    return 127;
}

long spawn_wait(const struct spawn *spawn, siginfo_t *info)
{
    long r;

    do {
        r = spawn->pidfd >= 0
                ? raw(SYS_waitid, WAIT_ON_PIDFD, spawn->pidfd, info, WEXITED | __WALL, NULL)
                : raw(SYS_waitid, P_PID, spawn->pid, info, WEXITED | __WALL, NULL);
    } while (r == -EINTR);
    return r;
}

long spawn_start(const struct spawn_program *program, struct spawn *out)
{
    struct starting starting = { .program = program };
    struct sys_clone how = { .flags = CLONE_VM | CLONE_VFORK,
                             .exit_signal = SIGCHLD,
                             .stack_size = STACK_SIZE,
                             .out_pidfd = &out->pidfd };
    uint64_t all = ~0ull;
    uint64_t before = 0;
    siginfo_t info;

    *out = (struct spawn){ .pidfd = -1 };
    how.stack = mmap(NULL, STACK_SIZE, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
    if (how.stack == MAP_FAILED)
        return -errno;
    (void)raw(SYS_rt_sigprocmask, SIG_SETMASK, &all, &before, KERNEL_SIGSET);
    long pid = sys_clone(&how, become_program, &starting);
    (void)raw(SYS_rt_sigprocmask, SIG_SETMASK, &before, NULL, KERNEL_SIGSET);
    (void)munmap(how.stack, STACK_SIZE);
    if (pid < 0)
        return pid;
    out->pid = (pid_t)pid;
    if (starting.failure < 0) {
        (void)spawn_wait(out, &info);
        spawn_done(out);
    }
    return starting.failure;
}

int spawn_await(const struct spawn *spawn, int64_t deadline_ms)
{
    struct pollfd end = { .fd = spawn->pidfd, .events = POLLIN };

    while (spawn->pidfd >= 0) {
        int64_t left = deadline_ms - clock_now_ms();

        if (left <= 0)
            return -ETIME;
        if (poll(&end, 1, (int)left) > 0)
            break;
    }
    return 0;
}

void spawn_kill(const struct spawn *spawn)
{
    if (spawn->pidfd >= 0)
        (void)raw(NR_PIDFD_SEND_SIGNAL, spawn->pidfd, SIGKILL, NULL, 0);
    else
        (void)raw(SYS_kill, spawn->pid, SIGKILL);
}

void spawn_done(struct spawn *spawn)
{
    close_fd(&spawn->pidfd);
}
