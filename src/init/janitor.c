#include "janitor.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <time.h>

#include "sys/kernel.h"
#include "sys/raw.h"

#define PATIENCE_MS     10000
#define LONGEST_WAIT_MS 256

static size_t length_of(const char *text)
{
    size_t n = 0;

    while (text[n])
        n++;
    return n;
}

/* Whether `text` holds `word`; text need not end in NUL. */
static bool contains(const char *text, size_t size, const char *word)
{
    size_t n = length_of(word);

    for (size_t at = 0; at + n <= size; at++) {
        size_t i = 0;

        while (i < n && text[at + i] == word[i])
            i++;
        if (i == n)
            return true;
    }
    return false;
}

/* "/proc/N/cgroup"; the buffer must hold 32 bytes. */
static void write_proc_path(char *out, unsigned long pid)
{
    static const char before[] = "/proc/";
    static const char after[] = "/cgroup";
    char digits[20];
    size_t n = 0;

    do
        digits[n++] = (char)('0' + pid % 10);
    while ((pid /= 10) > 0);
    for (size_t i = 0; before[i]; i++)
        *out++ = before[i];
    while (n > 0)
        *out++ = digits[--n];
    for (size_t i = 0; i < sizeof after; i++) /* the NUL too */
        *out++ = after[i];
}

static bool is_member(unsigned long pid, const char *name)
{
    char path[32];
    char text[4096];

    write_proc_path(path, pid);
    long fd = raw(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0);
    if (fd < 0)
        return false;
    long n = raw(SYS_read, fd, text, sizeof text);
    (void)raw(SYS_close, fd);
    return n > 0 && contains(text, (size_t)n, name);
}

/* The number may be another process's by now: the descriptor is taken first and then judged. */
static void kill_member(unsigned long pid, const char *name)
{
    long pidfd = raw(NR_PIDFD_OPEN, pid, 0);

    if (pidfd < 0)
        return;
    if (is_member(pid, name))
        (void)raw(NR_PIDFD_SEND_SIGNAL, pidfd, SIGKILL, NULL, 0);
    (void)raw(SYS_close, pidfd);
}

static void kill_listed(long list_fd, const char *name)
{
    unsigned long pid = 0;
    char text[1024];
    long n;

    while ((n = raw(SYS_read, list_fd, text, sizeof text)) > 0) {
        for (long i = 0; i < n; i++) {
            if (text[i] >= '0' && text[i] <= '9') {
                pid = pid * 10 + (unsigned long)(text[i] - '0');
                continue;
            }
            if (pid > 0) /* 0: in another pid namespace, out of reach */
                kill_member(pid, name);
            pid = 0;
        }
    }
}

/* cgroup.kill: v2, Linux 5.14. */
static void kill_members(int parent_fd, const char *name)
{
    long dir_fd =
        raw(SYS_openat, parent_fd, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC, 0);

    if (dir_fd < 0)
        return;
    long fd = raw(SYS_openat, dir_fd, "cgroup.kill", O_WRONLY | O_CLOEXEC, 0);
    if (fd >= 0) {
        (void)raw(SYS_write, fd, "1", 1);
        (void)raw(SYS_close, fd);
    } else {
        fd = raw(SYS_openat, dir_fd, "cgroup.procs", O_RDONLY | O_CLOEXEC, 0);
        if (fd >= 0) {
            kill_listed(fd, name);
            (void)raw(SYS_close, fd);
        }
    }
    (void)raw(SYS_close, dir_fd);
}

long janitor_clear(int parent_fd, const char *name)
{
    long waited_ms = 0;
    long wait_ms = 1;

    for (;;) {
        long r = raw(SYS_unlinkat, parent_fd, name, AT_REMOVEDIR);

        if (r == -ENOENT)
            return 0;
        if (r != -EBUSY || waited_ms >= PATIENCE_MS)
            return r;
        kill_members(parent_fd, name); /* each time: a fork may have slipped through */
        struct timespec wait = { .tv_sec = 0, .tv_nsec = wait_ms * 1000000 };
        (void)raw(SYS_ppoll, NULL, 0, &wait, NULL, 0);
        waited_ms += wait_ms;
        if (wait_ms < LONGEST_WAIT_MS)
            wait_ms *= 2;
    }
}

static void await_the_end(void)
{
    bool has_pidfd = raw(SYS_fcntl, JANITOR_SUPERVISOR_FD, F_GETFD, 0) >= 0;
    struct pollfd fds[2];

    fds[0].fd = JANITOR_LIFE_FD;
    fds[0].events = POLLIN;
    fds[1].fd = has_pidfd ? JANITOR_SUPERVISOR_FD : -1;
    fds[1].events = POLLIN;
    while (raw(SYS_ppoll, fds, 2, NULL, NULL, 0) == -EINTR)
        ;
}

_Noreturn void janitor_main(int argc, const char *const *argv)
{
    (void)raw(SYS_prctl, PR_SET_DUMPABLE, 0, 0, 0, 0);
    (void)raw(SYS_prctl, PR_SET_NAME, "coop-janitor", 0, 0, 0);
    if (argc == 3) {
        await_the_end();
        for (int i = 0; i < JANITOR_MAX_PARENTS; i++)
            (void)janitor_clear(JANITOR_PARENTS_FD + i, argv[2]);
    }
    for (;;)
        (void)raw(SYS_exit_group, 0);
}
