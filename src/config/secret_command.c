/*
 * secret_command.c - as yaml_process.c: a child that shares our memory until it executes, and a
 * descriptor of it that says when it ends, whoever waits for it
 */
#include "secret_command.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "base/fd.h"
#include "sys/clone.h"
#include "sys/kernel.h"
#include "sys/raw.h"

#define STACK_SIZE    (64 * 1024)
#define KERNEL_SIGSET 8 /* bytes the kernel has in a signal set */

extern char **environ;

struct child {
    char *const *argv;
    char **candidates; /* NULL-ended */
    int null_fd;
    int output_fd; /* its end; not 0 to 2 */
    long failure;  /* of execve */
    pid_t pid;
    int pidfd; /* -1: the kernel has none */
};

/* ---- where the program is */

static void free_candidates(char ***candidates)
{
    for (size_t i = 0; *candidates && (*candidates)[i]; i++)
        free((*candidates)[i]);
    free(*candidates);
}

/* A directory that is not absolute would be one of '/', and was not meant. */
static char **find_candidates(const char *name)
{
    const char *path = getenv("PATH");
    size_t n = 0;

    if (!path || strchr(name, '/'))
        path = "/usr/local/bin:/usr/bin:/bin";
    for (const char *p = path; *p; p++)
        n += *p == ':';
    char **list = calloc(n + 2, sizeof *list);
    if (!list)
        return NULL;
    if (strchr(name, '/')) {
        list[0] = strdup(name);
        return list;
    }
    n = 0;
    for (const char *p = path; *p;) {
        size_t length = strcspn(p, ":");

        if (*p == '/' && asprintf(&list[n++], "%.*s/%s", (int)length, p, name) < 0) {
            list[n - 1] = NULL;
            break;
        }
        p += length;
        p += *p == ':';
    }
    return list;
}

/* ---- start */

static int become_program(void *arg)
{
    struct child *child = arg;
    uint64_t none = 0;

    (void)raw(SYS_setsid);
    (void)raw(SYS_chdir, "/");
    (void)raw(SYS_dup3, child->null_fd, STDIN_FILENO, 0);
    (void)raw(SYS_dup3, child->null_fd, STDERR_FILENO, 0);
    (void)raw(SYS_dup3, child->output_fd, STDOUT_FILENO, 0);
    (void)raw(NR_CLOSE_RANGE, 3, ~0u, CLOSE_RANGE_SET_CLOEXEC);
    (void)raw(SYS_rt_sigprocmask, SIG_SETMASK, &none, NULL, KERNEL_SIGSET);
    long failure = -ENOENT;
    for (char **path = child->candidates; *path; path++) {
        long r = raw(SYS_execve, *path, child->argv, environ);

        if (r != -ENOENT && r != -ENOTDIR) /* what is there but cannot run is the better reason */
            failure = r;
    }
    child->failure = failure;
    return 127;
}

static long wait_for(const struct child *child, siginfo_t *info)
{
    long r;

    do {
        r = child->pidfd >= 0
                ? raw(SYS_waitid, WAIT_ON_PIDFD, child->pidfd, info, WEXITED | __WALL, NULL)
                : raw(SYS_waitid, P_PID, child->pid, info, WEXITED | __WALL, NULL);
    } while (r == -EINTR);
    return r;
}

static long start(struct child *child)
{
    struct sys_clone how = { .flags = CLONE_VM | CLONE_VFORK,
                             .exit_signal = SIGCHLD,
                             .stack_size = STACK_SIZE,
                             .out_pidfd = &child->pidfd };
    uint64_t all = ~0ull;
    uint64_t before = 0;
    siginfo_t info;

    how.stack = mmap(NULL, STACK_SIZE, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
    if (how.stack == MAP_FAILED)
        return -errno;
    (void)raw(SYS_rt_sigprocmask, SIG_SETMASK, &all, &before, KERNEL_SIGSET);
    long pid = sys_clone(&how, become_program, child);
    (void)raw(SYS_rt_sigprocmask, SIG_SETMASK, &before, NULL, KERNEL_SIGSET);
    (void)munmap(how.stack, STACK_SIZE);
    if (pid < 0)
        return pid;
    child->pid = (pid_t)pid;
    if (child->failure < 0)
        (void)wait_for(child, &info);
    return child->failure;
}

/* ---- read */

static int64_t now_ms(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* Until the end of the output, or of the program if something of it lives on and holds the output
 * open. -ETIME, -EFBIG, or what a call gave. */
static ssize_t read_output(const struct child *child, int fd, int64_t deadline, char *out,
                           size_t room)
{
    size_t n = 0;

    for (;;) {
        struct pollfd polls[] = { { .fd = fd, .events = POLLIN },
                                  { .fd = child->pidfd, .events = POLLIN } };
        int64_t left = deadline - now_ms();

        if (left <= 0)
            return -ETIME;
        if (poll(polls, COUNT(polls), (int)left) < 0 && errno != EINTR)
            return -errno;
        char beyond;
        ssize_t got = n < room ? read(fd, out + n, room - n) : read(fd, &beyond, 1);
        if (got == 0)
            return (ssize_t)n;
        if (got > 0 && n == room)
            return -EFBIG;
        if (got > 0)
            n += (size_t)got;
        else if (errno == EAGAIN && polls[1].revents)
            return (ssize_t)n;
        else if (errno != EAGAIN && errno != EINTR)
            return -errno;
    }
}

/* -ETIME: it had to be killed. */
static int await_end(const struct child *child, int64_t deadline)
{
    struct pollfd end = { .fd = child->pidfd, .events = POLLIN };

    while (child->pidfd >= 0) {
        int64_t left = deadline - now_ms();

        if (left <= 0)
            return -ETIME;
        if (poll(&end, 1, (int)left) > 0)
            break;
    }
    return 0;
}

static int fail_read(int r, int timeout_ms, coop_error **err)
{
    if (r == -ETIME)
        return fail_kind(err, COOP_ERROR_BAD_POLICY, ETIME,
                         "has not ended after %d s, and was killed", timeout_ms / 1000);
    if (r == -EFBIG)
        return fail_kind(err, COOP_ERROR_BAD_POLICY, EFBIG, "prints more than a secret may have");
    return fail(err, -r, "cannot be listened to");
}

static int check_ending(const siginfo_t *info, coop_error **err)
{
    if (info->si_code != CLD_EXITED)
        return fail_kind(err, COOP_ERROR_BAD_POLICY, EIO, "was ended by the signal %d",
                         info->si_status);
    if (info->si_status != 0)
        return fail_kind(err, COOP_ERROR_BAD_POLICY, EIO, "ended with the exit status %d",
                         info->si_status);
    return 0;
}

static ssize_t converse(const struct child *child, int fd, int timeout_ms, char *out, size_t room,
                        coop_error **err)
{
    int64_t deadline = now_ms() + timeout_ms;
    siginfo_t info = { 0 };
    ssize_t n = read_output(child, fd, deadline, out, room);
    int r = n < 0 ? (int)n : await_end(child, deadline);

    if (r < 0)
        (void)kill(-child->pid, SIGKILL); /* its session leads a group of the same number */
    long waited = wait_for(child, &info);
    if (r < 0)
        return fail_read(r, timeout_ms, err);
    if (waited < 0) /* somebody else has its status, or nobody */
        return fail_kind(err, COOP_ERROR_BAD_POLICY, (int)-waited,
                         "ended unseen, because its caller ignores SIGCHLD");
    r = check_ending(&info, err);
    return r < 0 ? r : n;
}

ssize_t secret_command_run(char *const argv[], int timeout_ms, char *out, size_t room,
                           coop_error **err)
{
    __attribute__((cleanup(free_candidates))) char **candidates = find_candidates(argv[0]);
    struct child child = { .argv = argv, .candidates = candidates, .pidfd = -1 };
    int fds[2];

    if (!candidates)
        return fail_no_memory(err);
    if (pipe2(fds, O_CLOEXEC) < 0)
        return fail(err, errno, "cannot be listened to");
    auto_close int ours = fds[0];
    auto_close int theirs = fds[1];
    auto_close int null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);
    int r = null_fd < 0 ? -errno : fd_lift(&ours);
    if (r == 0)
        r = fd_lift(&theirs);
    if (r == 0)
        r = fd_lift(&null_fd);
    if (r == 0 && fcntl(ours, F_SETFL, O_NONBLOCK) < 0)
        r = -errno;
    child.output_fd = theirs;
    child.null_fd = null_fd;
    if (r == 0)
        r = (int)start(&child);
    close_fd(&theirs);
    if (r < 0)
        return fail_kind(err, COOP_ERROR_BAD_POLICY, -r, "cannot be executed: %s", strerror(-r));
    ssize_t n = converse(&child, ours, timeout_ms, out, room, err);
    close_fd(&child.pidfd);
    return n;
}
