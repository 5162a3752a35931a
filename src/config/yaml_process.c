/*
 * yaml_process.c - a conversation with coop-yaml
 *
 * The program gets one socket, as its standard input and output. A pipe would raise SIGPIPE in a
 * host program when the reader of it dies; a socket can be told not to. The text goes out and the
 * answer comes in as each has room, so neither side ever waits for the other.
 *
 * From clone to exec the child shares our memory while we sleep, as in the launch of a box: system
 * calls only, no handler of the host's. The host may wait for children of its own at any time, and
 * so take ours; a descriptor of the process stays ours, and is what we kill.
 */
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>

#include "base/cleanup.h"
#include "base/fd.h"
#include "config/yaml_private.h"
#include "sys/clone.h"
#include "sys/kernel.h"
#include "sys/raw.h"

#define STACK_SIZE    (64 * 1024)
#define KERNEL_SIGSET 8 /* bytes the kernel has in a signal set */

struct child {
    const char *path;
    int socket_fd; /* its end; not 0 or 1 */
    long failure;  /* of execve */
    pid_t pid;
    int pidfd; /* -1: the kernel has none */
};

/* ---- start */

static int become_program(void *arg)
{
    struct child *child = arg;
    char name[] = "coop-yaml";
    char *argv[] = { name, NULL };
    char *no_environment[] = { NULL };
    uint64_t none = 0;

    (void)raw(SYS_dup3, child->socket_fd, STDIN_FILENO, 0);
    (void)raw(SYS_dup3, child->socket_fd, STDOUT_FILENO, 0);
    (void)raw(SYS_close, STDERR_FILENO);
    (void)raw(SYS_rt_sigprocmask, SIG_SETMASK, &none, NULL, KERNEL_SIGSET);
    child->failure = raw(SYS_execve, child->path, argv, no_environment);
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

/* ---- talk */

static int64_t now_ms(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

struct talk {
    int fd;
    const char *text;
    size_t n; /* not yet sent */
    bool is_sent;
    bool is_over; /* no more will come */
    struct yaml_stream *stream;
    int fed;
};

/* A program that does not listen may still have answered; that it does not listen is no error. */
static void send_some(struct talk *talk)
{
    while (talk->n > 0) {
        ssize_t n = send(talk->fd, talk->text, talk->n, MSG_NOSIGNAL | MSG_DONTWAIT);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && errno == EAGAIN)
            return;
        if (n < 0)
            break;
        talk->text += n;
        talk->n -= (size_t)n;
    }
    (void)shutdown(talk->fd, SHUT_WR);
    talk->is_sent = true;
}

/* What is there; -EAGAIN: nothing at the moment. */
static int receive_some(struct talk *talk)
{
    char bytes[16384];
    ssize_t n;

    do
        n = recv(talk->fd, bytes, sizeof bytes, MSG_DONTWAIT);
    while (n < 0 && errno == EINTR);
    if (n < 0 && errno != ECONNRESET)
        return -errno;
    if (n <= 0) {
        talk->is_over = true;
        return 0;
    }
    talk->fed = yaml_stream_feed(talk->stream, bytes, (size_t)n);
    if (talk->fed < 0 || talk->stream->is_done)
        talk->is_over = true;
    return 0;
}

/* Until the answer ends; -ETIME, or what a system call gave. */
static int talk_to(struct talk *talk, const struct child *child, int64_t deadline)
{
    while (!talk->is_over) {
        struct pollfd polls[] = {
            { .fd = talk->fd, .events = (short)(talk->is_sent ? POLLIN : POLLIN | POLLOUT) },
            { .fd = child->pidfd, .events = POLLIN },
        };
        int64_t left = deadline - now_ms();

        if (left <= 0)
            return -ETIME;
        int r = poll(polls, COUNT(polls), left > INT_MAX ? INT_MAX : (int)left);
        if (r < 0 && errno != EINTR)
            return -errno;
        if (r <= 0)
            continue;
        if (polls[0].revents & POLLOUT)
            send_some(talk);
        r = receive_some(talk);
        /* Another child of the host may hold a copy of the socket: no end of file will come. */
        if (r == -EAGAIN && polls[1].revents)
            talk->is_over = true;
        else if (r < 0 && r != -EAGAIN)
            return r;
    }
    return 0;
}

/* ---- end */

static void kill_child(const struct child *child)
{
    if (child->pidfd >= 0)
        (void)raw(NR_PIDFD_SEND_SIGNAL, child->pidfd, SIGKILL, NULL, 0);
    else
        (void)raw(SYS_kill, child->pid, SIGKILL);
}

/* Whoever has closed its socket is about to end; whoever does not by the deadline is helped. */
static void await_end(const struct child *child, int64_t deadline)
{
    struct pollfd end = { .fd = child->pidfd, .events = POLLIN };
    int64_t left = deadline - now_ms();

    while (child->pidfd >= 0 && left > 0 && poll(&end, 1, (int)left) <= 0)
        left = deadline - now_ms();
}

/* How a program ended that has not answered wholly. */
static void find_ending(const struct child *child, struct yaml_outcome *outcome)
{
    siginfo_t info = { 0 };
    long r = wait_for(child, &info);

    if (outcome->ending != YAML_ENDED_WELL)
        return;
    if (r < 0)
        outcome->ending = YAML_ENDED_UNSEEN;
    else
        outcome->ending = info.si_code == CLD_EXITED ? YAML_EXITED : YAML_KILLED;
    outcome->number = info.si_status;
}

static struct yaml_outcome finish(const struct talk *talk, const struct child *child, int r,
                                  int64_t deadline)
{
    struct yaml_outcome outcome = { .fed = talk->fed };
    siginfo_t info;
    bool is_cut = talk->fed == 0 && !talk->stream->is_done;

    if (r < 0) {
        outcome.ending = r == -ETIME ? YAML_TOO_LATE : YAML_FAILED;
        outcome.number = -r;
    } else if (is_cut) {
        await_end(child, deadline);
    }
    kill_child(child); /* whatever it is doing, nobody waits for it any more */
    if (is_cut)
        find_ending(child, &outcome);
    else
        (void)wait_for(child, &info);
    return outcome;
}

struct yaml_outcome yaml_converse(const struct yaml_program *program, const char *text, size_t n,
                                  struct yaml_stream *stream)
{
    int64_t deadline = now_ms() + program->timeout_ms;
    int fds[2];
    long r = 0;

    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) < 0)
        return (struct yaml_outcome){ .ending = YAML_FAILED, .number = errno };
    auto_close int ours = fds[0];
    auto_close int theirs = fds[1];
    struct child child = { .path = program->path, .pidfd = -1 };
    r = fd_lift(&ours);
    if (r == 0)
        r = fd_lift(&theirs);
    child.socket_fd = theirs;
    if (r == 0)
        r = start(&child);
    close_fd(&theirs);
    struct talk talk = { .fd = ours, .text = text, .n = n, .stream = stream };
    struct yaml_outcome outcome = { .ending = YAML_NOT_STARTED, .number = (int)-r };
    if (r == 0)
        outcome = finish(&talk, &child, talk_to(&talk, &child, deadline), deadline);
    close_fd(&child.pidfd);
    return outcome;
}
