#include "runner.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "sys/raw.h"

#define PATH_ROOM 4096

static struct {
    uint32_t id;
    int pid; /* 0: the place is free */
} jobs[RUNNER_JOBS];
static int socket_fd;
static const char *const *environment;

static _Noreturn void leave(int status)
{
    for (;;)
        (void)raw(SYS_exit_group, status);
}

/* ---- events */

static void tell(enum runner_event event, uint32_t id, int value)
{
    const struct runner_event_message message = { event, id, value };

    (void)raw(SYS_sendto, socket_fd, &message, sizeof message, MSG_NOSIGNAL, NULL, 0);
}

/* Before anything else runs here, so the supervisor knows where that descriptor comes from. */
static void tell_ready(void)
{
    struct runner_event_message message = { RUNNER_READY, 0, 0 };
    struct iovec io = { &message, sizeof message };
    union {
        char bytes[CMSG_SPACE(sizeof(int))];
        struct cmsghdr align;
    } control = { 0 };
    struct msghdr header = { .msg_iov = &io, .msg_iovlen = 1 };
    int fd = (int)raw(SYS_openat, AT_FDCWD, "/dev/pts", O_PATH | O_DIRECTORY | O_CLOEXEC);

    if (fd >= 0) {
        header.msg_control = control.bytes;
        header.msg_controllen = sizeof control.bytes;
        control.align.cmsg_level = SOL_SOCKET;
        control.align.cmsg_type = SCM_RIGHTS;
        control.align.cmsg_len = CMSG_LEN(sizeof fd);
        memcpy(CMSG_DATA(&control.align), &fd, sizeof fd);
    }
    if (raw(SYS_sendmsg, socket_fd, &header, MSG_NOSIGNAL) < 0)
        leave(1);
    if (fd >= 0)
        (void)raw(SYS_close, fd);
}

/* ---- one command */

struct starting {
    const struct runner_order_message *order;
    int fds[RUNNER_FDS + 1]; /* the file first */
    int n_fds;
    const char *directory;
    const char *words[RUNNER_WORDS_MAX + 1];
};

/* Where it went wrong, through a pipe that closes when the program is executed. */
struct failure {
    uint32_t event;
    int32_t error;
};

static const char *variable(const char *name)
{
    size_t n = strlen(name);

    for (const char *const *p = environment; *p; p++)
        if (strncmp(*p, name, n) == 0 && (*p)[n] == '=')
            return *p + n + 1;
    return NULL;
}

/* As execvp does: the last reason that is not "there is none". */
static int execute(const char *const *words)
{
    char path[PATH_ROOM];
    const char *places = variable("PATH");
    const size_t n_name = strlen(words[0]);
    int error = ENOENT;

    if (memchr(words[0], '/', n_name) || !places)
        return (int)-raw(SYS_execve, words[0], words, environment);
    while (*places) {
        size_t n = strcspn(places, ":");

        if (n > 0 && n + 1 + n_name < sizeof path) {
            memcpy(path, places, n);
            path[n] = '/';
            memcpy(path + n + 1, words[0], n_name + 1);
            int r = (int)-raw(SYS_execve, path, words, environment);
            if (r != ENOENT && r != ENOTDIR)
                error = r;
        }
        places += n + (places[n] == ':');
    }
    return error;
}

static _Noreturn void fail_in_child(int pipe_fd, enum runner_event event, int error)
{
    const struct failure failure = { event, error };

    (void)raw(SYS_write, pipe_fd, &failure, sizeof failure);
    leave(127);
}

static _Noreturn void child(const struct starting *starting, int pipe_fd)
{
    const uint64_t none = 0;

    (void)raw(SYS_close, socket_fd);
    (void)raw(SYS_setsid);
    if (starting->order->value == 1)
        (void)raw(SYS_ioctl, starting->fds[1], TIOCSCTTY, 0);
    for (int i = 1; i < starting->n_fds; i++) {
        long r = raw(SYS_dup3, starting->fds[i], i <= 3 ? i - 1 : RUNNER_EXTRA_FD + i - 4, 0);

        if (r < 0)
            fail_in_child(pipe_fd, RUNNER_FAILED, (int)-r);
    }
    if (starting->directory[0]) {
        long r = raw(SYS_chdir, starting->directory);

        if (r < 0)
            fail_in_child(pipe_fd, RUNNER_NO_DIRECTORY, (int)-r);
    }
    (void)raw(SYS_rt_sigprocmask, SIG_SETMASK, &none, NULL, sizeof none);
    fail_in_child(pipe_fd, RUNNER_NO_PROGRAM, execute(starting->words));
}

/* Adds it to the list; false: there is no room. */
static bool remember(uint32_t id, int pid)
{
    for (int i = 0; i < RUNNER_JOBS; i++)
        if (!jobs[i].pid) {
            jobs[i].id = id;
            jobs[i].pid = pid;
            return true;
        }
    return false;
}

static bool is_full(void)
{
    for (int i = 0; i < RUNNER_JOBS; i++)
        if (!jobs[i].pid)
            return false;
    return true;
}

static void execute_job(const struct starting *starting)
{
    struct failure failure = { 0 };
    const uint32_t id = starting->order->id;
    int ends[2] = { -1, -1 };

    if (is_full()) {
        tell(RUNNER_FAILED, id, EAGAIN);
        return;
    }
    long r = raw(SYS_pipe2, ends, O_CLOEXEC);
    if (r < 0) {
        tell(RUNNER_FAILED, id, (int)-r);
        return;
    }
    long pid = raw(SYS_clone, SIGCHLD, 0, 0, 0, 0);
    if (pid == 0)
        child(starting, ends[1]);
    (void)raw(SYS_close, ends[1]);
    long n = pid < 0 ? 0 : raw(SYS_read, ends[0], &failure, sizeof failure);
    (void)raw(SYS_close, ends[0]);
    if (pid < 0) {
        tell(RUNNER_FAILED, id, (int)-pid);
    } else if (n > 0) {
        (void)raw(SYS_wait4, pid, NULL, 0, NULL);
        tell((enum runner_event)failure.event, id, failure.error);
    } else {
        (void)remember(id, (int)pid);
        tell(RUNNER_STARTED, id, (int)pid);
    }
}

/* The texts lie one behind the other, and the supervisor has ended each. */
static bool take_words(struct starting *starting, const char *text)
{
    const struct runner_order_message *order = starting->order;
    const char *end = text + order->size;

    starting->directory = text;
    text += strlen(text) + 1;
    for (uint32_t i = 0; i < order->words; i++) {
        if (text >= end)
            return false;
        starting->words[i] = text;
        text += strlen(text) + 1;
    }
    return order->words > 0;
}

static void start(struct starting *starting)
{
    const struct runner_order_message *order = starting->order;
    long text = -EINVAL;

    if (starting->n_fds >= 4 && order->words <= RUNNER_WORDS_MAX && order->size > 0 &&
        order->size <= RUNNER_TEXT_MAX)
        text = raw(SYS_mmap, NULL, order->size, PROT_READ, MAP_PRIVATE, starting->fds[0], 0);
    if (text < 0 && text > -4096) {
        tell(RUNNER_FAILED, order->id, (int)-text);
        return;
    }
    if (take_words(starting, (const char *)text))
        execute_job(starting);
    else
        tell(RUNNER_FAILED, order->id, EINVAL);
    (void)raw(SYS_munmap, text, order->size);
}

/* ---- signals */

struct entry {
    uint64_t ino;
    int64_t next;
    uint16_t size;
    uint8_t kind;
    char name[];
};

static int number_of(const char *text)
{
    int number = 0;

    for (; *text >= '0' && *text <= '9'; text++)
        number = number * 10 + (*text - '0');
    return *text ? 0 : number;
}

/* Whoever has a process group of its own is still of the session; who has left that is not found. */
static void signal_session(int session, int number)
{
    _Alignas(8) char room[4096];
    long fd = raw(SYS_openat, AT_FDCWD, "/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    long n;

    (void)raw(SYS_kill, -session, number);
    while (fd >= 0 && (n = raw(SYS_getdents64, fd, room, sizeof room)) > 0)
        for (long at = 0; at < n;) {
            const struct entry *entry = (const struct entry *)(room + at);
            int pid = number_of(entry->name);

            if (pid > 1 && raw(SYS_getsid, pid) == session && raw(SYS_getpgid, pid) != session)
                (void)raw(SYS_kill, pid, number);
            at += entry->size;
        }
    if (fd >= 0)
        (void)raw(SYS_close, fd);
}

static void signal_job(const struct runner_order_message *order)
{
    for (int i = 0; i < RUNNER_JOBS; i++)
        if (jobs[i].pid && jobs[i].id == order->id)
            signal_session(jobs[i].pid, order->value);
}

/* ---- the loop */

static void obey(void)
{
    struct runner_order_message order = { 0 };
    struct iovec io = { &order, sizeof order };
    union {
        char bytes[CMSG_SPACE(sizeof(int) * (RUNNER_FDS + 1))];
        struct cmsghdr align;
    } control;
    struct msghdr header = { .msg_iov = &io,
                             .msg_iovlen = 1,
                             .msg_control = control.bytes,
                             .msg_controllen = sizeof control.bytes };
    static struct starting starting;
    long n = raw(SYS_recvmsg, socket_fd, &header, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);

    if (n == -EAGAIN || n == -EINTR)
        return;
    if (n != (long)sizeof order)
        leave(0);
    memset(&starting, 0, sizeof starting);
    starting.order = &order;
    if (header.msg_controllen >= sizeof control.align) {
        starting.n_fds = (int)((control.align.cmsg_len - CMSG_LEN(0)) / sizeof(int));
        memcpy(starting.fds, CMSG_DATA(&control.align), sizeof(int) * (size_t)starting.n_fds);
    }
    if (order.order == RUNNER_START)
        start(&starting);
    else if (order.order == RUNNER_SIGNAL)
        signal_job(&order);
    for (int i = 0; i < starting.n_fds; i++)
        (void)raw(SYS_close, starting.fds[i]);
}

static void reap(void)
{
    int status = 0;
    long pid;

    while ((pid = raw(SYS_wait4, -1, &status, WNOHANG, NULL)) > 0)
        for (int i = 0; i < RUNNER_JOBS; i++)
            if (jobs[i].pid == (int)pid) {
                tell(RUNNER_ENDED, jobs[i].id, status);
                jobs[i].pid = 0;
            }
}

_Noreturn void runner_main(int argc, const char *const *argv)
{
    const uint64_t all = UINT64_MAX;
    const uint64_t children = 1ull << (SIGCHLD - 1);
    uint64_t drain[16];

    if (argc < 4)
        leave(1);
    (void)raw(SYS_prctl, PR_SET_NAME, "coop-runner", 0, 0, 0);
    socket_fd = number_of(argv[2]);
    (void)raw(SYS_close, number_of(argv[3]));
    environment = argv + argc + 1;
    (void)raw(SYS_fcntl, socket_fd, F_SETFD, FD_CLOEXEC);
    (void)raw(SYS_rt_sigprocmask, SIG_SETMASK, &all, NULL, sizeof all);
    long signal_fd = raw(SYS_signalfd4, -1, &children, sizeof children, O_CLOEXEC);
    if (signal_fd < 0)
        leave(1);
    tell_ready();
    struct pollfd fds[] = { { .fd = socket_fd, .events = POLLIN },
                            { .fd = (int)signal_fd, .events = POLLIN } };
    for (;;) {
        long n = raw(SYS_ppoll, fds, 2, NULL, NULL, 0);

        if (n < 0 && n != -EINTR)
            leave(1);
        if (n <= 0)
            continue;
        if (fds[1].revents) {
            (void)raw(SYS_read, signal_fd, drain, sizeof drain);
            reap();
        }
        if (fds[0].revents)
            obey();
    }
}
