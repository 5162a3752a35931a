/*
 * shared_box_loop.c - the thread of a shared box
 *
 * It makes the box, so that what follows the maker's thread follows this one, and serves it until its end:
 * the box's own events, the runner's, and the outputs of the jobs. Everything is done with the lock, and
 * nothing blocks in it.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/fd.h"
#include "base/redact.h"
#include "policy/policy.h"
#include "supervise/shared_box_private.h"

#define CHUNK            65536
#define CHUNKS           64   /* of what a shell's command wrote before it ended */
#define GRACE_MS         2000 /* between SIGTERM and SIGKILL */
#define TERMINAL_LATE_MS 30 /* what was written to a terminal comes through a queue of the kernel */
#define DEVPTS_MAGIC     0x1cd1

/* ---- output */

static void keep(void *job, const char *bytes, size_t n)
{
    struct shared_job *of = job;

    capture_append(&of->capture, bytes, n);
}

static void take(struct shared_job *job, char *bytes, size_t n)
{
    if (!job->redact) {
        keep(job, bytes, n);
        return;
    }
    redact_run(job->redact, bytes, n, keep, job);
    explicit_bzero(bytes, n);
}

/* False: there is nothing more now. */
static bool read_output(struct shared_job *job)
{
    char bytes[CHUNK];
    ssize_t n = read(job->output_fd, bytes, sizeof bytes);

    if (n > 0)
        take(job, bytes, (size_t)n);
    else if (n == 0 || (errno != EAGAIN && errno != EINTR)) {
        if (job->redact)
            redact_end(job->redact, keep, job);
        close_fd(&job->output_fd);
        if (job->state.is_terminal)
            job->input_fd = -1;
    }
    return n > 0;
}

static void drain(struct shared_job *job)
{
    struct pollfd late = { .fd = job->output_fd, .events = POLLIN };

    if (job->output_fd < 0)
        return;
    if (job->state.is_terminal)
        (void)poll(&late, 1, TERMINAL_LATE_MS);
    for (int i = 0; i < CHUNKS && job->output_fd >= 0 && read_output(job); i++)
        ;
    if (job->redact)
        redact_flush(job->redact, keep, job);
}

/* ---- shells: an exit code and a NUL for each command */

static void read_reply(struct shared_job *job)
{
    char byte = 0;
    ssize_t n;

    while ((n = read(job->reply_fd, &byte, 1)) == 1) {
        if (byte) {
            if (job->n_reply < sizeof job->reply - 1)
                job->reply[job->n_reply++] = byte;
            continue;
        }
        job->reply[job->n_reply] = '\0';
        job->n_reply = 0;
        job->last_status = (int)strtol(job->reply, NULL, 10) & 0xff;
        drain(job);
        job->is_busy = false;
    }
    if (n == 0 || (errno != EAGAIN && errno != EINTR))
        close_fd(&job->reply_fd);
}

/* ---- the runner */

static void end_job(struct shared_job *job, int status)
{
    if (job->phase == JOB_ENDED)
        return;
    drain(job);
    job->phase = JOB_ENDED;
    job->state.is_running = false;
    job->state.status = status;
    job->state.ended_ms = clock_now_ms();
    job->is_busy = false;
    close_fd(&job->text_fd);
    close_fd(&job->reply_fd);
    if (!job->state.is_terminal)
        close_fd(&job->input_fd);
}

static void take_event(struct shared_box *box, const struct runner_event_message *event)
{
    struct shared_job *job = shared_box_job(box, event->id);

    switch (event->event) {
    case RUNNER_READY:
        box->is_ready = true;
        break;
    case RUNNER_STARTED:
        if (job && job->phase == JOB_STARTING) {
            job->phase = JOB_RUNNING;
            job->session = event->value;
        }
        break;
    case RUNNER_NO_DIRECTORY:
    case RUNNER_NO_PROGRAM:
    case RUNNER_FAILED:
        if (job && job->phase == JOB_STARTING) {
            job->phase = JOB_FAILED;
            job->state.is_running = false;
            job->failure = *event;
        }
        break;
    case RUNNER_ENDED:
        if (job)
            end_job(job, event->value);
        break;
    default:
        break;
    }
}

/* Only what came with the first message is taken: until then no command has run. */
static void take_terminals(struct shared_box *box, struct msghdr *header)
{
    struct cmsghdr *control = CMSG_FIRSTHDR(header);
    struct statfs fs;
    auto_close int fd = -1;

    if (!control || control->cmsg_level != SOL_SOCKET || control->cmsg_type != SCM_RIGHTS ||
        control->cmsg_len != CMSG_LEN(sizeof fd))
        return;
    memcpy(&fd, CMSG_DATA(control), sizeof fd);
    if (box->is_ready || fstatfs(fd, &fs) < 0 || fs.f_type != DEVPTS_MAGIC || fd_lift(&fd) < 0)
        return;
    box->terminals_fd = take_fd(&fd);
}

static bool read_event(struct shared_box *box)
{
    struct runner_event_message event = { 0 };
    struct iovec io = { &event, sizeof event };
    union {
        char bytes[CMSG_SPACE(sizeof(int))];
        struct cmsghdr align;
    } control;
    struct msghdr header = { .msg_iov = &io,
                             .msg_iovlen = 1,
                             .msg_control = control.bytes,
                             .msg_controllen = sizeof control.bytes };
    ssize_t n = recvmsg(box->socket_fd, &header, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);

    if (n == 0)
        close_fd(&box->socket_fd);
    if (n <= 0)
        return false;
    take_terminals(box, &header);
    if (n == (ssize_t)sizeof event)
        take_event(box, &event);
    return true;
}

/* ---- time */

static void signal_job(struct shared_box *box, const struct shared_job *job, int number)
{
    const struct runner_order_message order = { .order = RUNNER_SIGNAL,
                                                .id = job->state.id,
                                                .value = number };

    (void)shared_box_order(box, &order, NULL, 0);
}

static void sooner(int64_t *at, int64_t when)
{
    if (when && (!*at || when < *at))
        *at = when;
}

/* Ends what is over its time; how long to wait until the next, -1: for ever. */
static int watch_time(struct shared_box *box)
{
    int64_t now = clock_now_ms();
    int64_t next = 0;

    for (struct shared_job *job = box->jobs; job; job = job->next) {
        if (job->phase != JOB_RUNNING)
            continue;
        if (job->deadline_ms && now >= job->deadline_ms) {
            job->deadline_ms = 0;
            job->state.timed_out = true;
            job->kill_ms = now + GRACE_MS;
            signal_job(box, job, SIGCONT);
            signal_job(box, job, SIGTERM);
        }
        if (job->kill_ms && now >= job->kill_ms) {
            job->kill_ms = 0;
            signal_job(box, job, SIGKILL);
        }
        sooner(&next, job->deadline_ms);
        sooner(&next, job->kill_ms);
    }
    return next ? (int)(next > now ? next - now : 0) : -1;
}

/* ---- the loop */

static void serve(struct shared_box *box)
{
    auto_error coop_error *err = NULL;

    while (box->socket_fd >= 0 && read_event(box))
        ;
    for (struct shared_job *job = box->jobs; job; job = job->next) {
        if (job->reply_fd >= 0)
            read_reply(job);
        if (job->output_fd >= 0)
            (void)read_output(job);
    }
    if (box->is_ending && box->box)
        (void)coop_kill(box->box);
    int r = box->box ? coop_step(box->box, &err) : 1;
    if (r != 0 && box->box) {
        coop_result *result = NULL;
        coop_box *ended = take_ptr(box->box);

        if (r < 0)
            (void)coop_kill(ended);
        (void)coop_wait(ended, &result, NULL);
        coop_result_free(result);
    }
    if (!box->box) {
        for (struct shared_job *job = box->jobs; job; job = job->next)
            end_job(job, -1);
        box->has_finished = true;
    }
}

static int start(struct shared_box *box, coop_error **err)
{
    coop_run_options options = {
        .size = sizeof options,
        .env_pass = box->options.env_pass,
        .explain = COOP_EXPLAIN_HIDDEN,
        .log = box->options.log,
    };
    int ends[2];

    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
        return fail(err, errno, "make a socket for the runner");
    int r = fd_lift(&ends[0]);
    if (r == 0)
        r = fd_lift(&ends[1]);
    box->socket_fd = ends[0];
    auto_close int theirs = ends[1];
    if (r < 0)
        return fail(err, -r, "make a socket for the runner");
    (void)pthread_mutex_lock(box->options.start_lock);
    r = box_start_runner(box->options.sandbox, &options, theirs, &box->box, err);
    (void)pthread_mutex_unlock(box->options.start_lock);
    if (r < 0)
        return r;
    box->tier = coop_box_tier(box->box);
    box->has_owner = box->options.sandbox->host.is_root;
    box->uid = box->box->plan.outside_uid;
    box->gid = box->box->plan.outside_gid;
    if (box->tier >= COOP_TIER_NAMESPACES) {
        shared_box_watch(box, coop_box_fd(box->box));
        shared_box_watch(box, box->socket_fd);
        return 0;
    }
    coop_result *result = NULL;
    (void)coop_kill(box->box);
    (void)coop_wait(take_ptr(box->box), &result, NULL);
    coop_result_free(result);
    return fail_kind(err, COOP_ERROR_NOT_AVAILABLE, ENOTSUP,
                     "without namespaces nothing would end jobs and shells");
}

void *shared_box_main(void *argument)
{
    struct shared_box *box = argument;
    struct epoll_event events[16];

    (void)pthread_mutex_lock(&box->lock);
    box->start_result = start(box, &box->start_error);
    box->has_finished = box->start_result < 0;
    while (!box->has_finished) {
        int timeout = watch_time(box);

        (void)pthread_mutex_unlock(&box->lock);
        int n = epoll_wait(box->epoll_fd, events, COUNT(events), timeout);
        (void)pthread_mutex_lock(&box->lock);
        (void)!read(box->wake_fd, &(uint64_t){ 0 }, sizeof(uint64_t));
        if (n < 0 && errno != EINTR)
            box->is_ending = true;
        serve(box);
        shared_box_changed(box);
    }
    shared_box_changed(box);
    (void)pthread_mutex_unlock(&box->lock);
    return NULL;
}
