/*
 * supervise.c - the parent's loop: output, input, time, memory, the end
 *
 * One epoll descriptor watches the box's pidfd, its control socket, both outputs, the input pipe
 * and a timer. Each step does what is due and never blocks. The box has ended when its pidfd says
 * so: then nothing in it lives, every pipe's other end is closed, and what is left in the pipes is
 * read out.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/fd.h"
#include "base/redact.h"
#include "init/protocol.h"
#include "supervise/box.h"
#include "supervise/config_review.h"
#include "supervise/denial/box_denials.h"
#include "supervise/guard.h"
#include "supervise/memory_watch.h"
#include "supervise/supervise.h"
#include "sys/kernel.h"
#include "sys/raw.h"

#define CHUNK 65536

enum source {
    FROM_PIDFD,
    FROM_CONTROL,
    FROM_STDOUT,
    FROM_STDERR,
    FROM_TIMER,
    TO_INPUT,
    FROM_INPUT,
    FROM_CANCEL,
    FROM_GUARD,
    FROM_GATE,
    FROM_GATE_WAIT,
    FROM_ORDERS
};

static int watch(struct coop_box *box, int fd, uint32_t events, enum source source)
{
    struct epoll_event event = { .events = events, .data.u32 = source };

    return epoll_ctl(box->epoll_fd, EPOLL_CTL_ADD, fd, &event) < 0 ? -errno : 0;
}

static void change_watch(struct coop_box *box, int fd, uint32_t events, enum source source)
{
    struct epoll_event event = { .events = events, .data.u32 = source };

    (void)epoll_ctl(box->epoll_fd, EPOLL_CTL_MOD, fd, &event);
}

/* Out of the watch first: another process may hold a copy, and epoll would go on about it. */
static void close_watched(struct coop_box *box, int *fd)
{
    if (*fd >= 0 && box->epoll_fd >= 0)
        (void)epoll_ctl(box->epoll_fd, EPOLL_CTL_DEL, *fd, NULL);
    close_fd(fd);
}

static void set_timer(struct coop_box *box)
{
    uint64_t at = box->deadline_ns;

    if (box->next_sample_ns && (!at || box->next_sample_ns < at))
        at = box->next_sample_ns;
    if (guard_due(box->guard) && (!at || guard_due(box->guard) < at))
        at = guard_due(box->guard);
    struct itimerspec when = { .it_value = { (time_t)(at / 1000000000u),
                                             (long)(at % 1000000000u) } };
    if (box->timer_fd >= 0)
        (void)timerfd_settime(box->timer_fd, TFD_TIMER_ABSTIME, &when, NULL);
}

/* A timer only where something is to be timed: it costs a descriptor and two system calls. */
static int start_timer(struct coop_box *box)
{
    if (box->options.timeout_ms)
        box->deadline_ns = box->started_ns + box->options.timeout_ms * 1000000u;
    if (box->plan.watch_memory)
        box->next_sample_ns = box->started_ns + MEMORY_WATCH_FIRST_NS;
    if (!box->deadline_ns && !box->next_sample_ns && !guard_due(box->guard))
        return 0;
    box->timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
    if (box->timer_fd < 0)
        return -errno;
    fd_settle(&box->timer_fd);
    set_timer(box);
    return watch(box, box->timer_fd, EPOLLIN, FROM_TIMER);
}

static void set_nonblocking(int fd)
{
    if (fd >= 0)
        (void)fcntl(fd, F_SETFL, O_NONBLOCK | O_RDWR);
}

static int start_input(struct coop_box *box)
{
    if (box->input_fd < 0)
        return 0;
    if (!box->options.relay_input && box->options.input_length == 0) {
        close_fd(&box->input_fd);
        return 0;
    }
    set_nonblocking(box->input_fd);
    if (!box->options.relay_input)
        return watch(box, box->input_fd, EPOLLOUT, TO_INPUT);
    /* A regular file cannot be watched: it is always readable, so only the pipe's room counts. */
    int r = watch(box, box->options.input_fd, EPOLLIN, FROM_INPUT);
    if (r == -EPERM) {
        box->input_waits = true;
        return watch(box, box->input_fd, EPOLLOUT, TO_INPUT);
    }
    return r < 0 ? r : watch(box, box->input_fd, 0, TO_INPUT);
}

int supervise_start(struct coop_box *box, coop_error **err)
{
    box->started_ns = clock_now_ns();
    box->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    if (box->epoll_fd < 0)
        return fail(err, errno, "make an epoll descriptor");
    fd_settle(&box->epoll_fd);
    int r = watch(box, box->pidfd, EPOLLIN, FROM_PIDFD);
    if (r == 0)
        r = watch(box, box->control_fd, EPOLLIN, FROM_CONTROL);
    for (int i = 0; i < 2 && r == 0; i++)
        if (box->output_fds[i] >= 0) {
            set_nonblocking(box->output_fds[i]);
            r = watch(box, box->output_fds[i], EPOLLIN, i ? FROM_STDERR : FROM_STDOUT);
        }
    if (r == 0 && box->gate.fd >= 0)
        r = watch(box, box->gate.fd, EPOLLIN, FROM_GATE);
    if (r == 0 && box->gate.wait.epoll_fd >= 0)
        r = watch(box, box->gate.wait.epoll_fd, EPOLLIN, FROM_GATE_WAIT);
    if (r == 0 && box->gate.orders.fd >= 0)
        r = watch(box, box->gate.orders.fd, EPOLLIN, FROM_ORDERS);
    if (r == 0 && box->options.can_cancel)
        r = watch(box, box->options.cancel_fd, EPOLLIN, FROM_CANCEL);
    if (r == 0)
        r = start_input(box);
    if (r == 0)
        r = start_timer(box);
    if (r < 0)
        return fail(err, -r, "watch the sandbox");
    return 0;
}

static void give_output(struct coop_box *box, int stream, const char *bytes, size_t n)
{
    if (box->options.on_output)
        box->options.on_output(box->options.context,
                               stream ? COOP_STREAM_STDERR : COOP_STREAM_STDOUT, bytes, n);
    else
        capture_append(&box->captures[stream], bytes, n);
}

/* Nobody wants more of a stream that on_output has closed. */
static void give_stdout(void *box, const char *bytes, size_t n)
{
    if (((struct coop_box *)box)->output_fds[0] >= 0)
        give_output(box, 0, bytes, n);
}

static void give_stderr(void *box, const char *bytes, size_t n)
{
    if (((struct coop_box *)box)->output_fds[1] >= 0)
        give_output(box, 1, bytes, n);
}

static redact_put *const givers[] = { give_stdout, give_stderr };

/* At its end; what was held back because a secret might have followed goes out. */
static void end_output(struct coop_box *box, int stream)
{
    if (box->redacts[stream])
        redact_end(box->redacts[stream], givers[stream], box);
    close_watched(box, &box->output_fds[stream]);
}

/* At most one chunk a step, so that no stream starves the others or the timer. */
static ssize_t read_output(struct coop_box *box, int stream)
{
    char bytes[CHUNK];
    ssize_t n = read(box->output_fds[stream], bytes, sizeof bytes);

    if (n > 0 && box->redacts[stream]) {
        redact_run(box->redacts[stream], bytes, (size_t)n, givers[stream], box);
        explicit_bzero(bytes, (size_t)n); /* it was there as the command wrote it */
    } else if (n > 0) {
        give_output(box, stream, bytes, (size_t)n);
    } else if (n == 0 || (errno != EAGAIN && errno != EINTR)) {
        end_output(box, stream);
        errno = 0;
    }
    return n;
}

static void write_input(struct coop_box *box)
{
    size_t left = box->options.input_length - box->input_at;
    ssize_t n = left ? write(box->input_fd, box->options.input + box->input_at, left) : 0;

    if (n > 0)
        box->input_at += (size_t)n;
    if ((n < 0 && errno != EAGAIN && errno != EINTR) || box->input_at == box->options.input_length)
        close_watched(box, &box->input_fd);
}

/* Either the caller's input is waited for, or room in the command's pipe; never both. */
static void watch_input(struct coop_box *box, bool has_room)
{
    change_watch(box, box->options.input_fd, has_room ? EPOLLIN : 0, FROM_INPUT);
    change_watch(box, box->input_fd, has_room ? 0 : EPOLLOUT, TO_INPUT);
}

static void end_input(struct coop_box *box)
{
    if (box->options.relay_input)
        (void)epoll_ctl(box->epoll_fd, EPOLL_CTL_DEL, box->options.input_fd, NULL);
    close_watched(box, &box->input_fd);
}

/* Only what fits the pipe is taken from the caller's input, so nothing has to be kept here. */
static void relay_input(struct coop_box *box)
{
    char bytes[CHUNK];
    int room = fcntl(box->input_fd, F_GETPIPE_SZ);
    int used = 0;

    (void)ioctl(box->input_fd, FIONREAD, &used);
    size_t most = room - used > (int)sizeof bytes ? sizeof bytes : (size_t)(room - used);
    if (most < 4096) { /* wait until the command has read some */
        if (!box->input_waits)
            watch_input(box, false);
        return;
    }
    ssize_t n = read(box->options.input_fd, bytes, most < 4096 ? most : most & ~(size_t)4095);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (n <= 0 || write(box->input_fd, bytes, (size_t)n) != n) {
        end_input(box);
        return;
    }
}

/* What the command left unread goes back, where the caller's input can seek. */
static void give_back_input(struct coop_box *box)
{
    int unread = 0;

    if (box->unread_fd >= 0 && ioctl(box->unread_fd, FIONREAD, &unread) == 0 && unread > 0)
        (void)lseek(box->options.input_fd, -(off_t)unread, SEEK_CUR);
    close_fd(&box->unread_fd);
}

static int received_descriptor(struct msghdr *header)
{
    struct cmsghdr *control = CMSG_FIRSTHDR(header);
    int fd = -1;

    if (control && control->cmsg_level == SOL_SOCKET && control->cmsg_type == SCM_RIGHTS &&
        control->cmsg_len == CMSG_LEN(sizeof fd))
        memcpy(&fd, CMSG_DATA(control), sizeof fd);
    return fd;
}

static void receive_terminal(struct coop_box *box, struct msghdr *header)
{
    auto_close int fd = received_descriptor(header);

    if (box->terminal_fd < 0)
        box->terminal_fd = take_fd(&fd);
}

static void answer_gate(struct coop_box *box, struct msghdr *header,
                        struct protocol_event_message *message)
{
    struct protocol_order_message order = { .order = ORDER_REVIEWED,
                                            .slot = (uint32_t)message->count };
    auto_close int fd = received_descriptor(header);

    message->text[sizeof message->text - 1] = '\0';
    order.value = fd < 0 ? -EACCES : config_review(box, message, fd);
    (void)send(box->control_fd, &order, sizeof order, MSG_NOSIGNAL | MSG_DONTWAIT);
}

static bool is_denied(uint32_t event)
{
    return event == EVENT_DENIED || event == EVENT_MAYBE || event == EVENT_COUNT ||
           event == EVENT_MORE;
}

bool supervise_read_control(struct coop_box *box)
{
    union {
        struct protocol_event_message event;
        struct protocol_denied denied;
    } received;
    struct iovec io = { &received, sizeof received };
    char space[CMSG_SPACE(sizeof(int))];
    struct msghdr header = {
        .msg_iov = &io, .msg_iovlen = 1, .msg_control = space, .msg_controllen = sizeof space
    };
    ssize_t n = recvmsg(box->control_fd, &header, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);

    if (n == 0) /* init is gone; the pidfd will say so too */
        (void)epoll_ctl(box->epoll_fd, EPOLL_CTL_DEL, box->control_fd, NULL);
    if (n > (ssize_t)PROTOCOL_DENIED_HEAD && is_denied(received.event.event)) {
        box_denials_take(box, &received.denied, (size_t)n);
        return true;
    }
    if (n != (ssize_t)sizeof received.event)
        return false;
    struct protocol_event_message message = received.event;
    switch (message.event) {
    case EVENT_TERMINAL:
        receive_terminal(box, &header);
        break;
    case EVENT_STOPPED:
        box->state = BOX_STOPPED;
        break;
    case EVENT_CONTINUED:
        box->state = BOX_RUNNING;
        break;
    case EVENT_ENDED:
        box->has_status = true;
        box->status = message.status;
        box->pids_reached |= message.count > 0;
        box->n_left = message.rule > 0 ? (unsigned)message.rule : 0;
        network_gate_finish(&box->gate);
        break;
    case EVENT_SEGMENTS:
        box->segments = message.count;
        break;
    case EVENT_WHOSE:
        guard_answered(box, (unsigned)message.count, message.status);
        break;
    case EVENT_REVIEW:
        answer_gate(box, &header, &message);
        break;
    default:
        break;
    }
    return true;
}

static int send_order(struct coop_box *box, enum protocol_order order, int value)
{
    struct protocol_order_message message = { order, value, 0 };

    if (send(box->control_fd, &message, sizeof message, MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
        return -errno;
    return 0;
}

static int send_signal(struct coop_box *box, int number)
{
    if (box->plan.tier < COOP_TIER_NAMESPACES)
        return kill(-box->pid, number) < 0 && kill(box->pid, number) < 0 ? -errno : 0;
    return send_order(box, ORDER_SIGNAL, number);
}

void box_kill(struct coop_box *box)
{
    if (box->pidfd < 0)
        return;
    if (box->plan.tier < COOP_TIER_NAMESPACES)
        (void)kill(-box->pid, SIGKILL);
    (void)raw(NR_PIDFD_SEND_SIGNAL, box->pidfd, SIGKILL, NULL, 0);
}

static void on_deadline(struct coop_box *box)
{
    uint64_t grace_ms = box->options.grace_ms ? box->options.grace_ms : 2000;

    if (box->is_killing) {
        box->deadline_ns = 0;
        box_kill(box);
        return;
    }
    box->timed_out = true;
    box->is_killing = true;
    box->deadline_ns = clock_now_ns() + grace_ms * 1000000u;
    (void)send_signal(box, SIGCONT); /* a stopped command could not act on the other */
    (void)send_signal(box, SIGTERM);
}

/* Sampling costs time in proportion to what is sampled: never more than a tenth of it. */
static uint64_t sample_again_at(const struct coop_box *box, uint64_t now)
{
    uint64_t idle_ns = (now - box->ran_ns) / 4;

    if (box->n_idle < 2)
        return now + 9 * (clock_now_ns() - now) +
               (now - box->started_ns < MEMORY_WATCH_EARLY_NS ? MEMORY_WATCH_FIRST_NS
                                                              : MEMORY_WATCH_LATER_NS);
    if (idle_ns < MEMORY_WATCH_LATER_NS)
        return now + MEMORY_WATCH_LATER_NS;
    return now + (idle_ns < MEMORY_WATCH_IDLE_NS ? idle_ns : MEMORY_WATCH_IDLE_NS);
}

static void take_sample(struct coop_box *box)
{
    const uint64_t *limits = box->plan.policy->limits;
    uint64_t limit = limits[COOP_LIMIT_MEMORY];
    /* Before anything is counted, and only where there is hope. */
    bool has_noted = box->is_asleep && idle_note(&box->idle, box->pid);
    struct memory_sample sample = memory_watch_sample(box->pid, limit, box->segments);

    box->is_asleep = sample.is_asleep;
    if (!has_noted || sample.n_processes != box->idle.n)
        idle_forget(&box->idle);
    if (sample.bytes > box->peak_sampled)
        box->peak_sampled = sample.bytes;
    if (box->plan.counts_pids && sample.tasks >= limits[COOP_LIMIT_PIDS])
        box->pids_reached = true;
    if (sample.bytes > limit || sample.is_hidden) {
        box->memory_killed = true;
        box_kill(box);
    }
    (void)send_order(box, ORDER_COUNT_SEGMENTS, 0); /* for the next time */
}

/*
 * Where nothing has run, nothing has grown. The second sample of what did not run since the first has its
 * segments too: from then on only clocks are read.
 */
static void on_sample(struct coop_box *box, uint64_t now)
{
    box->n_idle = idle_is(&box->idle) ? box->n_idle + 1 : 0;
    if (box->n_idle == 0)
        box->ran_ns = now;
    if (box->n_idle < 2)
        take_sample(box);
    box->next_sample_ns = sample_again_at(box, now);
}

static void watch_guard(struct coop_box *box)
{
    int fd = guard_fd(box->guard);
    uint32_t events = guard_due(box->guard) ? 0 : EPOLLIN;

    if (fd >= 0 && watch(box, fd, events, FROM_GUARD) == -EEXIST)
        change_watch(box, fd, events, FROM_GUARD);
}

static void on_timer(struct coop_box *box)
{
    uint64_t expirations;
    uint64_t now = clock_now_ns();

    (void)!read(box->timer_fd, &expirations, sizeof expirations);
    if (box->deadline_ns && now >= box->deadline_ns)
        on_deadline(box);
    if (box->next_sample_ns && now >= box->next_sample_ns)
        on_sample(box, now);
    if (guard_due(box->guard) && now >= guard_due(box->guard)) {
        guard_go_on(box);
        watch_guard(box);
    }
    set_timer(box);
}

/*
 * Of the box's init: it has waited for everything in the box, so its sums are the box's. A host that
 * waits for any child, or ignores SIGCHLD, may have reaped it: then init's own word stands, and the
 * sums are not known.
 */
static void collect(struct coop_box *box)
{
    siginfo_t info = { 0 };
    struct rusage usage = { 0 };

    long r;

    do
        r = raw(SYS_waitid, WAIT_ON_PIDFD, box->pidfd, &info, WEXITED | __WALL, &usage);
    while (r == -EINTR);
    box->ended_ns = clock_now_ns();
    if (!box->has_status) {
        if (box->plan.tier >= COOP_TIER_NAMESPACES) /* init itself was killed, and so the command */
            box->status = SIGKILL;
        else if (r < 0) /* somebody else has it: neither an exit code nor a signal */
            box->status = BOX_STATUS_UNKNOWN;
        else
            box->status = info.si_code == CLD_EXITED ? info.si_status << 8 : info.si_status;
        box->has_status = true;
    }
    box->cpu_us = (uint64_t)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000000u +
                  (uint64_t)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
    box->max_rss = (uint64_t)usage.ru_maxrss * 1024u;
    box->bytes_written = (uint64_t)usage.ru_oublock * 512u;
}

static void on_end(struct coop_box *box)
{
    while (supervise_read_control(box))
        ;
    guard_end(box); /* before the status of a killed init is taken for the command's */
    collect(box);
    if (box->plan.tier < COOP_TIER_NAMESPACES)
        (void)kill(-box->pid, SIGKILL);
    for (int i = 0; i < 2; i++)
        while (box->output_fds[i] >= 0) {
            ssize_t n = read_output(box, i);

            if (n < 0 && errno == EAGAIN) /* held by somebody outside the box: not waited for */
                end_output(box, i);
        }
    give_back_input(box);
    close_fd(&box->input_fd);
    network_gate_end(box);
    if (box->cgroup.is_made)
        cgroup_read(&box->cgroup, &box->usage);
    if (box->plan.counts_pids && box->pids_reached)
        box->usage.pids_refused = 1;
    box->state = BOX_ENDED;
}

static void dispatch(struct coop_box *box, enum source source, uint32_t events)
{
    switch (source) {
    case FROM_CONTROL:
        (void)supervise_read_control(box);
        break;
    case FROM_STDOUT:
    case FROM_STDERR:
        if (box->output_fds[source == FROM_STDERR] >= 0)
            (void)read_output(box, source == FROM_STDERR);
        break;
    case FROM_TIMER:
        on_timer(box);
        break;
    case TO_INPUT:
        if (box->input_fd < 0)
            break;
        if (events & (EPOLLERR | EPOLLHUP)) /* nobody reads it any more */
            end_input(box);
        else if (!box->options.relay_input)
            write_input(box);
        else if (box->input_waits)
            relay_input(box);
        else /* room again: ask the caller's input once more, and never read it unasked */
            watch_input(box, true);
        break;
    case FROM_INPUT:
        if (box->input_fd >= 0)
            relay_input(box);
        break;
    case FROM_CANCEL: /* once: it stays readable */
        (void)epoll_ctl(box->epoll_fd, EPOLL_CTL_DEL, box->options.cancel_fd, NULL);
        (void)coop_kill(box);
        break;
    case FROM_GUARD:
        guard_serve(box);
        if (guard_due(box->guard)) {
            watch_guard(box);
            set_timer(box);
        }
        break;
    case FROM_GATE:
        if (box->gate.fd >= 0 && !network_gate_read(box))
            (void)epoll_ctl(box->epoll_fd, EPOLL_CTL_DEL, box->gate.fd, NULL);
        break;
    case FROM_GATE_WAIT:
        network_gate_wake(box);
        break;
    case FROM_ORDERS:
        if (box->gate.orders.fd >= 0)
            network_gate_obey(box);
        break;
    case FROM_PIDFD:
        break;
    }
}

static int step(struct coop_box *box, int timeout, coop_error **err)
{
    struct epoll_event events[8];
    bool has_ended = false;

    if (box->state == BOX_ENDED)
        return 1;
    int n = epoll_wait(box->epoll_fd, events, 8, timeout);
    if (n < 0 && errno == EINTR)
        return 0;
    if (n < 0)
        return fail(err, errno, "wait for the sandbox");
    for (int i = 0; i < n; i++) {
        if (events[i].data.u32 == FROM_PIDFD)
            has_ended = true;
        else
            dispatch(box, (enum source)events[i].data.u32, events[i].events);
    }
    if (has_ended)
        on_end(box);
    return has_ended;
}

int coop_step(coop_box *box, coop_error **err)
{
    return step(box, 0, err);
}

void supervise_abort(struct coop_box *box)
{
    struct pollfd end = { .fd = box->pidfd, .events = POLLIN };

    box_kill(box);
    while (poll(&end, 1, -1) < 0 && errno == EINTR)
        ;
    collect(box);
}

int supervise_wait(struct coop_box *box, coop_error **err)
{
    int r;

    do
        r = step(box, -1, err);
    while (r == 0);
    return r < 0 ? r : 0;
}

int coop_box_fd(const coop_box *box)
{
    return box->epoll_fd;
}

int coop_box_terminal(const coop_box *box)
{
    return box->terminal_fd;
}

bool coop_box_is_stopped(const coop_box *box)
{
    return box->state == BOX_STOPPED;
}

const char *coop_box_limit(const coop_box *box, coop_limit limit, uint64_t *value)
{
    if ((unsigned)limit >= COOP_LIMIT_COUNT)
        return NULL;
    if (value)
        *value = box->plan.policy->limits[limit];
    return box->plan.enforced.limits[limit];
}

coop_tier coop_box_tier(const coop_box *box)
{
    return box->plan.tier;
}

const char *coop_box_note(const coop_box *box)
{
    return box->plan.note;
}

int coop_kill(coop_box *box)
{
    if (!box->has_status) /* what has ended by itself was not cancelled */
        box->cancelled = true;
    box_kill(box);
    return 0;
}

void coop_close_output(coop_box *box, coop_stream stream)
{
    close_watched(box, &box->output_fds[stream == COOP_STREAM_STDERR]);
}

int coop_signal(coop_box *box, int number)
{
    return send_signal(box, number);
}
