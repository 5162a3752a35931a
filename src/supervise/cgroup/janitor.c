/*
 * janitor.c - start and end the janitor (the supervisor's side; see janitor.h)
 */
#include "private.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "init/janitor.h"
#include "sys/clone.h"
#include "sys/kernel.h"
#include "sys/raw.h"

#define IMAGE_FD      (JANITOR_PARENTS_FD + JANITOR_MAX_PARENTS)
#define JANITOR_STACK (16 * 1024)

/* What the janitor-to-be needs between clone and exec, in memory that it shares with us. */
struct start {
    const struct cgroup *cgroup;
    int init_fd, life_fd, supervisor_fd;
    const char *arguments[4];
    volatile long error;
};

/* Puts a copy of `fd` at `target`, to stay open over exec or not. */
static long place(int fd, int target, int flags)
{
    return fd < 0 ? raw(SYS_close, target) : raw(SYS_dup3, fd, target, flags);
}

/*
 * System calls only. The sources may bear the very numbers that are wanted for others, so all are
 * copied out of the way first; the last call closes those copies.
 */
static long take_places(const struct start *start)
{
    int sources[IMAGE_FD + 1] = { -1, -1, -1 };
    long r = 0;

    sources[JANITOR_LIFE_FD] = start->life_fd;
    sources[JANITOR_SUPERVISOR_FD] = start->supervisor_fd;
    for (int i = 0; i < JANITOR_MAX_PARENTS; i++)
        sources[JANITOR_PARENTS_FD + i] = start->cgroup->parent_fds[i];
    sources[IMAGE_FD] = start->init_fd;
    for (int i = 3; i <= IMAGE_FD; i++) {
        if (sources[i] < 0)
            continue;
        r = raw(SYS_fcntl, sources[i], F_DUPFD_CLOEXEC, IMAGE_FD + 1);
        if (r < 0)
            return r;
        sources[i] = (int)r;
    }
    for (int i = 0; i <= IMAGE_FD; i++) {
        r = place(sources[i], i, i == IMAGE_FD ? O_CLOEXEC : 0);
        if (r < 0 && sources[i] >= 0)
            return r;
    }
    return raw(NR_CLOSE_RANGE, IMAGE_FD + 1, ~0u, 0);
}

static int become_janitor(void *argument)
{
    static const char *const no_environment[] = { NULL };
    struct start *start = argument;

    (void)raw(SYS_setsid); /* signals to the caller's process group or terminal pass it by */
    (void)raw(SYS_chdir, "/");
    long r = take_places(start);
    if (r >= 0)
        r = raw(SYS_execveat, IMAGE_FD, "", start->arguments, no_environment, AT_EMPTY_PATH);
    start->error = r;
    return 1;
}

static void reap_janitor(struct cgroup *cgroup)
{
    siginfo_t info;

    while (raw(SYS_waitid, WAIT_ON_PIDFD, cgroup->janitor_pidfd, &info, WEXITED | __WALL, NULL) ==
           -EINTR)
        ;
    close_fd(&cgroup->janitor_pidfd);
    cgroup->janitor = 0;
}

/* All signals wait meanwhile: no handler of ours may run in a child that shares our memory. */
static long clone_janitor(struct cgroup *cgroup, struct start *start)
{
    auto_free char *stack = malloc(JANITOR_STACK);
    struct sys_clone how = {
        .flags = CLONE_VM | CLONE_VFORK,
        .stack = stack,
        .stack_size = JANITOR_STACK,
        .out_pidfd = &cgroup->janitor_pidfd,
    };
    uint64_t all = UINT64_MAX;
    uint64_t old = 0;

    if (!stack)
        return -ENOMEM;
    (void)raw(SYS_rt_sigprocmask, SIG_SETMASK, &all, &old, sizeof all);
    long pid = sys_clone(&how, become_janitor, start);
    (void)raw(SYS_rt_sigprocmask, SIG_SETMASK, &old, NULL, sizeof old);
    return pid;
}

/*
 * It gets every directory that was found; where the group is not, it has nothing to do. The end of
 * the pipe or of this process sets it to work. Ordinarily neither comes: we clean up and kill it.
 */
int cgroup_start_janitor(struct cgroup *cgroup, int init_fd, coop_error **err)
{
    int life[2];

    if (pipe2(life, O_CLOEXEC) < 0)
        return fail(err, errno, "make a pipe");
    auto_close int life_fd = life[0];
    /* Not 0, 1 or 2, even if the caller closed those: it may do so again. */
    cgroup->janitor_fd = fcntl(life[1], F_DUPFD_CLOEXEC, 3);
    (void)close(life[1]);
    if (cgroup->janitor_fd < 0)
        return fail(err, errno, "make a pipe");
    auto_close int supervisor_fd = (int)syscall(NR_PIDFD_OPEN, getpid(), 0);
    struct start start = {
        .cgroup = cgroup,
        .init_fd = init_fd,
        .life_fd = life_fd,
        .supervisor_fd = supervisor_fd,
        .arguments = { "coop-janitor", JANITOR_WORD, cgroup->name, NULL },
    };
    long pid = clone_janitor(cgroup, &start);
    if (pid < 0)
        return fail(err, (int)-pid, "start the janitor");
    cgroup->janitor = (pid_t)pid;
    if (start.error == 0)
        return 0;
    reap_janitor(cgroup);
    return fail(err, (int)-start.error, "execute the janitor");
}

void cgroup_stop_janitor(struct cgroup *cgroup)
{
    if (cgroup->janitor_pidfd >= 0) {
        (void)raw(NR_PIDFD_SEND_SIGNAL, cgroup->janitor_pidfd, SIGKILL, NULL, 0);
        reap_janitor(cgroup);
    }
    close_fd(&cgroup->janitor_fd);
}
