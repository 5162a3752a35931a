/*
 * process.c - a conversation with coop-yaml
 *
 * The program gets one socket, as its standard input and output. A pipe would raise SIGPIPE in a
 * host program when the reader of it dies; a socket can be told not to. The text goes out and the
 * answer comes in as each has room, so neither side ever waits for the other.
 */
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/fd.h"
#include "config/yaml/private.h"
#include "sys/spawn.h"

/* ---- talk */

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
static int talk_to(struct talk *talk, const struct spawn *child, int64_t deadline)
{
    while (!talk->is_over) {
        struct pollfd polls[] = {
            { .fd = talk->fd, .events = (short)(talk->is_sent ? POLLIN : POLLIN | POLLOUT) },
            { .fd = child->pidfd, .events = POLLIN },
        };
        int64_t left = deadline - clock_now_ms();

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

/* How a program ended that has not answered wholly. */
static void find_ending(const struct spawn *child, struct yaml_outcome *outcome)
{
    siginfo_t info = { 0 };
    long r = spawn_wait(child, &info);

    if (outcome->ending != YAML_ENDED_WELL)
        return;
    if (r < 0)
        outcome->ending = YAML_ENDED_UNSEEN;
    else
        outcome->ending = info.si_code == CLD_EXITED ? YAML_EXITED : YAML_KILLED;
    outcome->number = info.si_status;
}

static struct yaml_outcome finish(const struct talk *talk, const struct spawn *child, int r,
                                  int64_t deadline)
{
    struct yaml_outcome outcome = { .fed = talk->fed };
    siginfo_t info;
    bool is_cut = talk->fed == 0 && !talk->stream->is_done;

    if (r < 0) {
        outcome.ending = r == -ETIME ? YAML_TOO_LATE : YAML_FAILED;
        outcome.number = -r;
    } else if (is_cut) {
        (void)spawn_await(child, deadline); /* whoever has closed its socket is about to end */
    }
    spawn_kill(child); /* whatever it is doing, nobody waits for it any more */
    if (is_cut)
        find_ending(child, &outcome);
    else
        (void)spawn_wait(child, &info);
    return outcome;
}

struct yaml_outcome yaml_converse(const struct yaml_program *program, const char *text, size_t n,
                                  struct yaml_stream *stream)
{
    int64_t deadline = clock_now_ms() + program->timeout_ms;
    char name[] = "coop-yaml";
    char *const paths[] = { (char *)(uintptr_t)program->path, NULL };
    char *const argv[] = { name, NULL };
    struct spawn child = { .pidfd = -1 };
    int fds[2];
    long r = 0;

    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) < 0)
        return (struct yaml_outcome){ .ending = YAML_FAILED, .number = errno };
    auto_close int ours = fds[0];
    auto_close int theirs = fds[1];
    r = fd_lift(&ours);
    if (r == 0)
        r = fd_lift(&theirs);
    if (r == 0)
        r = spawn_start(&(struct spawn_program){ .paths = paths,
                                                 .argv = argv,
                                                 .environment = (char *[]){ NULL },
                                                 .fds = { theirs, theirs, -1 } },
                        &child);
    close_fd(&theirs);
    struct talk talk = { .fd = ours, .text = text, .n = n, .stream = stream };
    struct yaml_outcome outcome = { .ending = YAML_NOT_STARTED, .number = (int)-r };
    if (r == 0)
        outcome = finish(&talk, &child, talk_to(&talk, &child, deadline), deadline);
    spawn_done(&child);
    return outcome;
}
