#include "secret_command.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/fd.h"
#include "sys/spawn.h"

extern char **environ;

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

/* ---- read */

/* Until the end of the output, or of the program if something of it lives on and holds the output
 * open. -ETIME, -EFBIG, or what a call gave. */
static ssize_t read_output(const struct spawn *child, int fd, int64_t deadline, char *out,
                           size_t room)
{
    size_t n = 0;

    for (;;) {
        struct pollfd polls[] = { { .fd = fd, .events = POLLIN },
                                  { .fd = child->pidfd, .events = POLLIN } };
        int64_t left = deadline - clock_now_ms();

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

static ssize_t converse(const struct spawn *child, int fd, int timeout_ms, char *out, size_t room,
                        coop_error **err)
{
    int64_t deadline = clock_now_ms() + timeout_ms;
    siginfo_t info = { 0 };
    ssize_t n = read_output(child, fd, deadline, out, room);
    int r = n < 0 ? (int)n : spawn_await(child, deadline);

    if (r < 0)
        (void)kill(-child->pid, SIGKILL); /* its session leads a group of the same number */
    long waited = spawn_wait(child, &info);
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
    struct spawn child = { .pidfd = -1 };
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
    if (r == 0)
        r = (int)spawn_start(&(struct spawn_program){ .paths = candidates,
                                                      .argv = argv,
                                                      .environment = environ,
                                                      .fds = { null_fd, theirs, null_fd },
                                                      .is_detached = true },
                             &child);
    close_fd(&theirs);
    if (r < 0)
        return fail_kind(err, COOP_ERROR_BAD_POLICY, -r, "cannot be executed: %s", strerror(-r));
    ssize_t n = converse(&child, ours, timeout_ms, out, room, err);
    spawn_done(&child);
    return n;
}
