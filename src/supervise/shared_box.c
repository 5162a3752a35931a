#include "shared_box.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <termios.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/fd.h"
#include "base/redact.h"
#include "base/utf8.h"
#include "policy/policy.h"
#include "supervise/denial/denial_words.h"
#include "supervise/shared_box_private.h"

#define START_MS    30000 /* for the runner and for each start; a machine may be busy */
#define INPUT_MS    2000
#define STACK_BYTES ((size_t)1 << 20)
#define ROWS        24
#define COLUMNS     80

#ifndef TIOCGPTPEER /* 4.13 */
#define TIOCGPTPEER _IO('T', 0x41)
#endif

/* Runs each command in the shell itself, so that directory, variables and functions stay. What it starts
 * has neither of the two descriptors. */
const char SHARED_BOX_SHELL[] = "while IFS= read -r -d '' COOP_COMMAND <&200; do\n"
                                "eval \"$COOP_COMMAND\" 200<&- 201>&-\n"
                                "printf '%d\\0' \"$?\" >&201\n"
                                "done";

/* ---- waiting */

struct shared_job *shared_box_job(struct shared_box *box, uint32_t id)
{
    for (struct shared_job *job = box->jobs; job; job = job->next)
        if (job->state.id == id)
            return job;
    return NULL;
}

void shared_box_watch(struct shared_box *box, int fd)
{
    struct epoll_event event = { .events = EPOLLIN };

    (void)epoll_ctl(box->epoll_fd, EPOLL_CTL_ADD, fd, &event);
}

static void poke(int fd)
{
    (void)!write(fd, &(uint64_t){ 1 }, sizeof(uint64_t));
}

void shared_box_changed(struct shared_box *box)
{
    for (struct shared_box_waiter *waiter = box->waiters; waiter; waiter = waiter->next)
        poke(waiter->fd);
}

static void leave(struct shared_box *box, struct shared_box_waiter *waiter)
{
    for (struct shared_box_waiter **at = &box->waiters; *at; at = &(*at)->next)
        if (*at == waiter) {
            *at = waiter->next;
            return;
        }
}

int shared_box_await(struct shared_box *box, bool (*is_done)(struct shared_box *, void *),
                     void *context, int64_t deadline_ms, int cancel_fd)
{
    auto_close int fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    struct shared_box_waiter waiter = { box->waiters, fd };
    int r = 0;

    if (fd < 0)
        return -errno;
    box->waiters = &waiter;
    while (r == 0) {
        struct pollfd fds[] = { { .fd = fd, .events = POLLIN },
                                { .fd = cancel_fd, .events = POLLIN } };
        int64_t left = deadline_ms - clock_now_ms();

        if (is_done(box, context)) {
            r = 1;
            break;
        }
        if (left <= 0)
            break;
        (void)pthread_mutex_unlock(&box->lock);
        int n = poll(fds, COUNT(fds), left < INT32_MAX ? (int)left : INT32_MAX);
        (void)!read(fd, &(uint64_t){ 0 }, sizeof(uint64_t));
        (void)pthread_mutex_lock(&box->lock);
        if (n > 0 && fds[1].revents)
            r = is_done(box, context) ? 1 : -ECANCELED;
    }
    leave(box, &waiter);
    return r;
}

/* ---- life */

static bool is_up(struct shared_box *box, void *context)
{
    (void)context;
    return box->is_ready || box->has_finished;
}

/* No handler of the program runs in this thread. */
static int start_thread(struct shared_box *box)
{
    pthread_attr_t attributes;
    sigset_t all;
    sigset_t old;

    (void)sigfillset(&all);
    (void)pthread_attr_init(&attributes);
    (void)pthread_attr_setstacksize(&attributes, STACK_BYTES);
    (void)pthread_sigmask(SIG_BLOCK, &all, &old);
    int r = pthread_create(&box->thread, &attributes, shared_box_main, box);
    (void)pthread_sigmask(SIG_SETMASK, &old, NULL);
    (void)pthread_attr_destroy(&attributes);
    return -r;
}

static void box_done(struct shared_box *box)
{
    while (box->jobs) {
        struct shared_job *job = box->jobs;

        box->jobs = job->next;
        shared_job_free(job);
    }
    close_fd(&box->socket_fd);
    close_fd(&box->epoll_fd);
    close_fd(&box->wake_fd);
    close_fd(&box->terminals_fd);
    redact_free(box->redact);
    coop_error_free(box->start_error);
    (void)pthread_mutex_destroy(&box->lock);
    free(box);
}

int shared_box_new(const struct shared_box_options *options, struct shared_box **out,
                   coop_error **err)
{
    struct shared_box *box = calloc(1, sizeof *box);

    if (!box)
        return fail_no_memory(err);
    box->options = *options;
    atomic_init(&box->references, 1);
    box->socket_fd = box->terminals_fd = -1;
    (void)pthread_mutex_init(&box->lock, NULL);
    box->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    box->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    int r = box->epoll_fd < 0 || box->wake_fd < 0 ? -errno : 0;
    if (r == 0) {
        fd_settle(&box->epoll_fd);
        fd_settle(&box->wake_fd);
        shared_box_watch(box, box->wake_fd);
        r = policy_redact(options->sandbox->policy, false, &box->redact, NULL);
    }
    if (r == 0)
        r = start_thread(box);
    if (r < 0) {
        box_done(box);
        return fail(err, -r, "prepare a box for jobs and shells");
    }
    (void)pthread_mutex_lock(&box->lock);
    (void)shared_box_await(box, is_up, NULL, clock_now_ms() + START_MS, -1);
    r = box->start_result;
    if (r < 0 && err)
        *err = take_ptr(box->start_error);
    if (r == 0 && (!box->is_ready || box->has_finished))
        r = fail_kind(err, COOP_ERROR_SETUP, EIO, "the box for jobs and shells did not start");
    (void)pthread_mutex_unlock(&box->lock);
    if (r < 0) {
        shared_box_unref(box);
        return r;
    }
    *out = box;
    return 0;
}

struct shared_box *shared_box_ref(struct shared_box *box)
{
    (void)atomic_fetch_add(&box->references, 1);
    return box;
}

void shared_box_unref(struct shared_box *box)
{
    if (!box || atomic_fetch_sub(&box->references, 1) > 1)
        return;
    (void)pthread_mutex_lock(&box->lock);
    box->is_ending = true;
    poke(box->wake_fd);
    (void)pthread_mutex_unlock(&box->lock);
    (void)pthread_join(box->thread, NULL);
    box_done(box);
}

bool shared_box_is_alive(struct shared_box *box)
{
    (void)pthread_mutex_lock(&box->lock);
    bool is_alive = !box->has_finished;
    (void)pthread_mutex_unlock(&box->lock);
    return is_alive;
}

coop_tier shared_box_tier(const struct shared_box *box)
{
    return box->tier;
}

/* ---- orders */

int shared_box_order(struct shared_box *box, const struct runner_order_message *order,
                     const int *fds, size_t n_fds)
{
    struct iovec io = { (void *)order, sizeof *order };
    union {
        char bytes[CMSG_SPACE(sizeof(int) * (RUNNER_FDS + 1))];
        struct cmsghdr align;
    } control = { 0 };
    struct msghdr header = { .msg_iov = &io, .msg_iovlen = 1 };

    if (box->socket_fd < 0)
        return -EPIPE;
    if (n_fds > 0) {
        header.msg_control = control.bytes;
        header.msg_controllen = CMSG_SPACE(sizeof(int) * n_fds);
        control.align.cmsg_level = SOL_SOCKET;
        control.align.cmsg_type = SCM_RIGHTS;
        control.align.cmsg_len = CMSG_LEN(sizeof(int) * n_fds);
        memcpy(CMSG_DATA(&control.align), fds, sizeof(int) * n_fds);
    }
    return sendmsg(box->socket_fd, &header, MSG_NOSIGNAL | MSG_DONTWAIT) < 0 ? -errno : 0;
}

/* The directory and the words, each with its NUL, in a file of memory. */
static int write_words(const struct shared_job_options *options, struct runner_order_message *order)
{
    auto_buffer struct buffer text = { 0 };
    auto_close int fd = memfd_create("coop-job", MFD_CLOEXEC);

    if (fd < 0)
        return -errno;
    buffer_append_string(&text, options->directory ? options->directory : "");
    buffer_append_char(&text, '\0');
    for (; options->argv[order->words]; order->words++) {
        buffer_append_string(&text, options->argv[order->words]);
        buffer_append_char(&text, '\0');
    }
    if (text.failed)
        return -ENOMEM;
    if (text.length > RUNNER_TEXT_MAX || order->words > RUNNER_WORDS_MAX)
        return -E2BIG;
    ssize_t n = write(fd, text.data, text.length);
    if (n != (ssize_t)text.length)
        return n < 0 ? -errno : -ENOSPC;
    order->size = (uint32_t)text.length;
    int r = fd_lift(&fd);
    return r < 0 ? r : take_fd(&fd);
}

/* ---- descriptors of a job: ours in the job, theirs in `theirs` */

static int make_pipe(struct shared_box *box, int *reader, int *writer)
{
    int ends[2];

    if (pipe2(ends, O_CLOEXEC) < 0)
        return -errno;
    int r = fd_lift(&ends[0]);
    if (r == 0)
        r = fd_lift(&ends[1]);
    /* /dev/stdout opens it anew. */
    if (r == 0 && box->has_owner && fchown(ends[0], box->uid, box->gid) < 0)
        r = -errno;
    *reader = ends[0];
    *writer = ends[1];
    return r;
}

static void settle(int *fd)
{
    fd_settle(fd);
    (void)fcntl(*fd, F_SETFL, O_NONBLOCK | O_RDWR);
}

/* Opened here in the box's own /dev/pts: nobody else has this description of the master. */
static int make_terminal(struct shared_box *box, struct shared_job *job, int theirs[RUNNER_FDS])
{
    const struct winsize size = { .ws_row = ROWS, .ws_col = COLUMNS };
    int locked = 0;

    if (box->terminals_fd < 0)
        return -ENOTTY;
    int master =
        openat(box->terminals_fd, "ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
    if (master < 0)
        return -errno;
    int r = fd_lift(&master);
    fd_settle(&master);
    job->input_fd = job->output_fd = master;
    if (r < 0 || ioctl(master, TIOCSPTLCK, &locked) < 0 || ioctl(master, TIOCSWINSZ, &size) < 0)
        return -errno;
    theirs[0] = ioctl(master, TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (theirs[0] < 0)
        return -errno;
    r = fd_lift(&theirs[0]);
    if (r == 0 && box->has_owner && fchown(theirs[0], box->uid, box->gid) < 0)
        r = -errno;
    for (int i = 1; r == 0 && i < 3; i++) {
        theirs[i] = fcntl(theirs[0], F_DUPFD_CLOEXEC, 3);
        r = theirs[i] < 0 ? -errno : 0;
    }
    return r;
}

static int make_pipes(struct shared_box *box, struct shared_job *job, int theirs[RUNNER_FDS])
{
    int r = make_pipe(box, &theirs[0], &job->input_fd);

    if (r == 0)
        r = make_pipe(box, &job->output_fd, &theirs[1]);
    if (r < 0)
        return r;
    settle(&job->input_fd);
    settle(&job->output_fd);
    theirs[2] = fcntl(theirs[1], F_DUPFD_CLOEXEC, 3);
    return theirs[2] < 0 ? -errno : 0;
}

static int make_descriptors(struct shared_box *box, struct shared_job *job, int theirs[RUNNER_FDS])
{
    int r = job->state.is_terminal ? make_terminal(box, job, theirs) : make_pipes(box, job, theirs);

    if (r == 0 && job->state.name[0])
        r = make_pipe(box, &theirs[3], &job->text_fd);
    if (r == 0 && job->state.name[0])
        r = make_pipe(box, &job->reply_fd, &theirs[4]);
    if (r < 0)
        return r;
    if (job->state.name[0]) {
        settle(&job->text_fd);
        settle(&job->reply_fd);
        shared_box_watch(box, job->reply_fd);
        if (!job->state.is_terminal)
            close_fd(&job->input_fd); /* its commands read nothing, unless they have a terminal */
    }
    shared_box_watch(box, job->output_fd);
    return policy_redact(box->options.sandbox->policy, job->state.is_terminal, &job->redact, NULL);
}

/* ---- jobs */

void shared_job_close(struct shared_job *job)
{
    if (job->input_fd != job->output_fd)
        close_fd(&job->input_fd);
    job->input_fd = -1;
    close_fd(&job->output_fd);
    close_fd(&job->text_fd);
    close_fd(&job->reply_fd);
}

void shared_job_free(struct shared_job *job)
{
    shared_job_close(job);
    capture_done(&job->capture);
    redact_free(job->redact);
    free(job);
}

static void forget(struct shared_box *box, struct shared_job *job)
{
    for (struct shared_job **at = &box->jobs; *at; at = &(*at)->next)
        if (*at == job) {
            *at = job->next;
            shared_job_free(job);
            return;
        }
}

/* Room for one more: the oldest that have ended go. */
static int make_room(struct shared_box *box, coop_error **err)
{
    size_t n = 0;
    size_t n_running = 0;
    struct shared_job *oldest = NULL;

    for (struct shared_job *job = box->jobs; job; job = job->next) {
        n++;
        n_running += job->state.is_running;
        if (!oldest && job->phase == JOB_ENDED)
            oldest = job;
    }
    if (n_running >= SHARED_BOX_RUNNING) {
        int r =
            fail_kind(err, COOP_ERROR_DENIED, EAGAIN, "%zu jobs and shells run already", n_running);
        return fail_hint(err, r, "stop one with job_stop; jobs lists them");
    }
    if (n >= SHARED_BOX_KEPT && oldest)
        forget(box, oldest);
    return 0;
}

static struct shared_job *job_new(struct shared_box *box, const struct shared_job_options *options)
{
    struct shared_job *job = calloc(1, sizeof *job);
    struct shared_job **end = &box->jobs;

    if (!job)
        return NULL;
    job->input_fd = job->output_fd = job->text_fd = job->reply_fd = -1;
    capture_init(&job->capture, SHARED_BOX_OUTPUT);
    job->state = (struct shared_job_state){ .id = ++box->last_id,
                                            .is_running = true,
                                            .is_terminal = options->is_terminal,
                                            .denial_mark = box->box ? box->box->denials.n : 0,
                                            .started_ms = clock_now_ms() };
    job->deadline_ms =
        options->timeout_ms ? job->state.started_ms + (int64_t)options->timeout_ms : 0;
    (void)snprintf(job->state.name, sizeof job->state.name, "%s",
                   options->name ? options->name : "");
    size_t n = snprintf(job->state.label, sizeof job->state.label, "%s", options->label) > 200
                   ? utf8_valid_prefix(job->state.label, 200)
                   : strlen(job->state.label);
    job->state.label[n] = '\0';
    while (*end)
        end = &(*end)->next;
    *end = job;
    return job;
}

static bool has_started(struct shared_box *box, void *context)
{
    struct shared_job *job = context;

    return job->phase != JOB_STARTING || box->has_finished;
}

static int explain(const struct shared_job *job, const struct shared_job_options *options,
                   coop_error **err)
{
    int error = job->failure.value > 0 ? job->failure.value : EIO;

    if (job->failure.event == RUNNER_NO_DIRECTORY)
        return fail(err, error, "start in the directory '%s'", options->directory);
    if (job->failure.event == RUNNER_NO_PROGRAM)
        return fail(err, error, "execute '%s'", options->argv[0]);
    return fail(err, error, "start the job");
}

static int start_job(struct shared_box *box, struct shared_job *job,
                     const struct shared_job_options *options, coop_error **err)
{
    struct runner_order_message order = { .order = RUNNER_START,
                                          .id = job->state.id,
                                          .value = options->is_terminal };
    int fds[RUNNER_FDS + 1] = { -1, -1, -1, -1, -1, -1 };
    int r = make_descriptors(box, job, fds + 1);

    if (r == 0) {
        fds[0] = write_words(options, &order);
        r = fds[0] < 0 ? fds[0] : 0;
    }
    if (r == 0)
        r = shared_box_order(box, &order, fds, options->name ? 6 : 4);
    for (size_t i = 0; i < COUNT(fds); i++)
        close_fd(&fds[i]);
    if (r < 0)
        return fail(err, -r, "start the job");
    poke(box->wake_fd);
    r = shared_box_await(box, has_started, job, clock_now_ms() + START_MS, -1);
    if (job->phase == JOB_FAILED)
        return explain(job, options, err);
    return r == 1 && job->phase != JOB_STARTING
               ? 0
               : fail_kind(err, COOP_ERROR_SETUP, EIO, "the job did not start");
}

static int start_locked(struct shared_box *box, const struct shared_job_options *options,
                        uint32_t *out, coop_error **err)
{
    int r = make_room(box, err);

    if (r < 0)
        return r;
    struct shared_job *job = job_new(box, options);
    if (!job)
        return fail_no_memory(err);
    r = start_job(box, job, options, err);
    if (r < 0)
        forget(box, job);
    else
        *out = job->state.id;
    return r;
}

int shared_box_start(struct shared_box *box, const struct shared_job_options *options,
                     uint32_t *out, coop_error **err)
{
    (void)pthread_mutex_lock(&box->lock);
    int r = start_locked(box, options, out, err);
    (void)pthread_mutex_unlock(&box->lock);
    return r;
}

static void fill_state(struct shared_job *job, struct shared_job_state *out)
{
    *out = job->state;
    out->total = capture_total_bytes(&job->capture);
    out->kept_from = capture_dropped_bytes(&job->capture);
}

int shared_box_look(struct shared_box *box, uint32_t id, struct shared_job_state *out)
{
    (void)pthread_mutex_lock(&box->lock);
    struct shared_job *job = shared_box_job(box, id);
    if (job)
        fill_state(job, out);
    (void)pthread_mutex_unlock(&box->lock);
    return job ? 0 : -ENOENT;
}

size_t shared_box_list(struct shared_box *box, struct shared_job_state **out)
{
    size_t n = 0;

    *out = calloc(SHARED_BOX_KEPT + SHARED_BOX_RUNNING, sizeof **out);
    (void)pthread_mutex_lock(&box->lock);
    for (struct shared_job *job = box->jobs;
         *out && job && n < SHARED_BOX_KEPT + SHARED_BOX_RUNNING; job = job->next)
        fill_state(job, &(*out)[n++]);
    (void)pthread_mutex_unlock(&box->lock);
    return n;
}

uint32_t shared_box_find_shell(struct shared_box *box, const char *name)
{
    uint32_t id = 0;

    (void)pthread_mutex_lock(&box->lock);
    for (struct shared_job *job = box->jobs; job; job = job->next)
        if (job->state.is_running && strcmp(job->state.name, name) == 0)
            id = job->state.id;
    (void)pthread_mutex_unlock(&box->lock);
    return id;
}

/* ---- output */

static void put(void *job, const char *bytes, size_t n)
{
    struct shared_job *of = job;

    capture_append(&of->capture, bytes, n);
}

/* Somebody looks: what was held back because a secret might follow is shown. */
static void show_held(struct shared_job *job)
{
    if (job->redact && redact_is_holding(job->redact))
        redact_flush(job->redact, put, job);
}

int shared_box_read(struct shared_box *box, uint32_t id, uint64_t *offset, size_t most,
                    struct buffer *out)
{
    const char *text = NULL;
    size_t n = 0;
    int r = -ENOENT;

    (void)pthread_mutex_lock(&box->lock);
    struct shared_job *job = shared_box_job(box, id);
    if (job) {
        show_held(job);
        uint64_t first = capture_dropped_bytes(&job->capture);
        capture_text(&job->capture, &text, &n);
        if (*offset < first)
            *offset = first;
        size_t skip = *offset - first < n ? (size_t)(*offset - first) : n;
        size_t length = n - skip < most ? n - skip : most;
        if (length > 0)
            buffer_append(out, text + skip, length);
        *offset = first + skip + length;
        r = out->failed ? -ENOMEM : 0;
    }
    (void)pthread_mutex_unlock(&box->lock);
    return r;
}

void shared_box_mark(struct shared_box *box, uint32_t id, uint64_t offset)
{
    (void)pthread_mutex_lock(&box->lock);
    struct shared_job *job = shared_box_job(box, id);
    if (job)
        job->state.mark = offset;
    (void)pthread_mutex_unlock(&box->lock);
}

void shared_box_mark_denials(struct shared_box *box, uint32_t id, size_t n)
{
    (void)pthread_mutex_lock(&box->lock);
    struct shared_job *job = shared_box_job(box, id);
    if (job)
        job->state.denial_mark = n;
    (void)pthread_mutex_unlock(&box->lock);
}

struct waiting {
    uint32_t id;
    const struct shared_job_wait *wait;
};

static bool has_come(struct shared_box *box, void *context)
{
    const struct waiting *waiting = context;
    const struct shared_job_wait *wait = waiting->wait;
    struct shared_job *job = shared_box_job(box, waiting->id);
    const char *text = NULL;
    size_t n = 0;

    if (!job || !job->state.is_running || box->has_finished)
        return true;
    uint64_t first = capture_dropped_bytes(&job->capture);
    if (capture_total_bytes(&job->capture) <= wait->offset || (!wait->text && !wait->any_output))
        return false;
    if (!wait->text)
        return true;
    capture_text(&job->capture, &text, &n);
    size_t skip = wait->offset > first ? (size_t)(wait->offset - first) : 0;
    return skip < n && memmem(text + skip, n - skip, wait->text, strlen(wait->text));
}

int shared_box_wait(struct shared_box *box, uint32_t id, const struct shared_job_wait *wait)
{
    struct waiting waiting = { id, wait };

    (void)pthread_mutex_lock(&box->lock);
    int r = shared_box_await(box, has_come, &waiting, clock_now_ms() + wait->timeout_ms,
                             wait->cancel_fd);
    (void)pthread_mutex_unlock(&box->lock);
    return r;
}

/* ---- input */

/* All that fits; waits for room without the lock, on a copy of the descriptor. */
static ssize_t write_all(int fd, const char *bytes, size_t n, int64_t deadline_ms)
{
    size_t done = 0;

    while (done < n) {
        struct pollfd room = { .fd = fd, .events = POLLOUT };
        ssize_t written = write(fd, bytes + done, n - done);

        if (written > 0)
            done += (size_t)written;
        else if (written < 0 && errno != EAGAIN && errno != EINTR)
            return done > 0 ? (ssize_t)done : -errno;
        else if (deadline_ms <= clock_now_ms() ||
                 poll(&room, 1, (int)(deadline_ms - clock_now_ms())) == 0)
            break;
    }
    return (ssize_t)done;
}

static int copy_of(struct shared_box *box, uint32_t id, bool is_text)
{
    int fd = -EPIPE;

    (void)pthread_mutex_lock(&box->lock);
    struct shared_job *job = shared_box_job(box, id);
    int of = !job ? -1 : is_text ? job->text_fd : job->input_fd;
    if (!job)
        fd = -ENOENT;
    else if (of >= 0)
        fd = fcntl(of, F_DUPFD_CLOEXEC, 3);
    (void)pthread_mutex_unlock(&box->lock);
    return fd == -1 ? -errno : fd;
}

ssize_t shared_box_write(struct shared_box *box, uint32_t id, const char *bytes, size_t n)
{
    auto_close int fd = copy_of(box, id, false);

    return fd < 0 ? fd : write_all(fd, bytes, n, clock_now_ms() + INPUT_MS);
}

int shared_box_close_input(struct shared_box *box, uint32_t id)
{
    (void)pthread_mutex_lock(&box->lock);
    struct shared_job *job = shared_box_job(box, id);
    if (job && !job->state.is_terminal)
        close_fd(&job->input_fd);
    (void)pthread_mutex_unlock(&box->lock);
    return job ? 0 : -ENOENT;
}

int shared_box_signal(struct shared_box *box, uint32_t id, int number)
{
    const struct runner_order_message order = { .order = RUNNER_SIGNAL, .id = id, .value = number };

    (void)pthread_mutex_lock(&box->lock);
    int r = shared_box_job(box, id) ? shared_box_order(box, &order, NULL, 0) : -ENOENT;
    (void)pthread_mutex_unlock(&box->lock);
    return r;
}

/* ---- shells */

static bool has_run(struct shared_box *box, void *context)
{
    const struct shared_job *job = shared_box_job(box, *(uint32_t *)context);

    return !job || !job->is_busy || !job->state.is_running || box->has_finished;
}

static int begin_run(struct shared_box *box, uint32_t id)
{
    struct shared_job *job = shared_box_job(box, id);

    if (!job || !job->state.is_running)
        return -EPIPE;
    if (job->is_busy)
        return -EBUSY;
    job->is_busy = true;
    return 0;
}

int shared_box_run(struct shared_box *box, uint32_t id, const char *text, int64_t timeout_ms,
                   int cancel_fd, int *status)
{
    int64_t deadline_ms = clock_now_ms() + timeout_ms;
    size_t n = strlen(text) + 1;

    (void)pthread_mutex_lock(&box->lock);
    int r = begin_run(box, id);
    (void)pthread_mutex_unlock(&box->lock);
    if (r < 0)
        return r;
    auto_close int fd = copy_of(box, id, true);
    if (fd < 0 || write_all(fd, text, n, deadline_ms) != (ssize_t)n)
        return -EPIPE;
    (void)pthread_mutex_lock(&box->lock);
    r = shared_box_await(box, has_run, &id, deadline_ms, cancel_fd);
    struct shared_job *job = shared_box_job(box, id);
    if (r == 1 && (!job || !job->state.is_running))
        r = -EPIPE;
    if (r == 1)
        *status = job->last_status;
    (void)pthread_mutex_unlock(&box->lock);
    return r;
}

/* ---- denials */

static void append_bytes(void *buffer, const char *bytes, size_t n)
{
    buffer_append(buffer, bytes, n);
}

/* What was tried to reach may have a secret in its name. */
static const char *without_secrets(struct shared_box *box, const char *text, struct buffer *space)
{
    if (!text || !box->redact)
        return text;
    redact_run(box->redact, text, strlen(text), append_bytes, space);
    redact_end(box->redact, append_bytes, space);
    return space->failed || !space->data ? "" : space->data;
}

static void show_denial(struct shared_box *box, const struct denial *denial, bool is_known,
                        shared_box_denial_fn *fn, void *context)
{
    auto_buffer struct buffer target = { 0 };
    auto_buffer struct buffer allow = { 0 };
    auto_buffer struct buffer why = { 0 };
    const coop_denial shown = {
        .operation = denial_op_names[denial->op],
        .target = without_secrets(box, denial->target ? denial->target : "", &target),
        .rule = denial->rule_text,
        .origin = denial->origin ? denial->origin : "built-in default",
        .fix = without_secrets(box, denial->allow, &allow),
        .count = denial->count,
        .error = denial->error,
        .why = without_secrets(box, denial->why ? denial->why : "", &why),
        .first_ms = denial->first_ms,
    };

    fn(context, &shown, is_known);
}

size_t shared_box_denials(struct shared_box *box, uint32_t id, size_t from,
                          shared_box_denial_fn *fn, void *context)
{
    size_t n = 0;

    (void)pthread_mutex_lock(&box->lock);
    const struct shared_job *job = id ? shared_box_job(box, id) : NULL;
    if (box->box) {
        denial_words_so_far(box->box);
        n = box->box->denials.n;
    }
    for (size_t i = from; i < n; i++) {
        const struct denial *denial = &box->box->denials.items[i];
        bool is_known = job && denial->session > 0 && denial->session == job->session;

        if (denial->rule_text && (!id || is_known || denial->session <= 0))
            show_denial(box, denial, is_known, fn, context);
    }
    (void)pthread_mutex_unlock(&box->lock);
    return n;
}
