#include "door_slow.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>

#include "jail/door_record.h"
#include "sys/raw.h"

#define RESTART_CALL \
    512 /* ERESTARTSYS: the kernel's own word, EINTR or once more as the handler says */
#define LOOK_EVERY (20 * 1000 * 1000) /* ns */

static _Noreturn void leave(void)
{
    for (;;)
        (void)raw(SYS_exit_group, 0);
}

/* A line's hexadecimal or, if it is short, decimal number. */
static uint64_t number_of(const char *text, const char *line)
{
    size_t n = strlen(line);
    uint64_t value = 0;

    while (*text && strncmp(text, line, n) != 0)
        text++;
    for (text += *text ? n : 0; *text && *text != '\n'; text++)
        value = value * 16 + (uint64_t)(*text <= '9' ? *text - '0' : *text - 'a' + 10);
    return value;
}

/* A signal waits for the caller: it cannot be taken while the call is at the door. */
static bool is_interrupted(const struct seccomp_notif *asked)
{
    char text[2048];
    char path[64];

    door_proc_path(asked, "/status", path);
    long fd = raw(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC);
    long n = fd < 0 ? fd : raw(SYS_read, fd, text, sizeof text - 1);
    if (fd >= 0)
        (void)raw(SYS_close, fd);
    if (n <= 0)
        return false;
    text[n] = '\0';
    uint64_t pending = number_of(text, "\nSigPnd:\t");
    if (number_of(text, "\nThreads:\t") == 1) /* else another thread may take it */
        pending |= number_of(text, "\nShdPnd:\t");
    return pending & ~number_of(text, "\nSigBlk:\t");
}

/* Ends the one that opens, its parent, when nobody waits for it any more; and ends with it. */
static _Noreturn void watch(const struct seccomp_notif *asked, long parent)
{
    const struct timespec pause = { 0, LOOK_EVERY };

    (void)raw(SYS_prctl, PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
    while (raw(SYS_getppid) == parent) {
        bool is_waiting = door_is_waiting(asked->id);

        if (!is_waiting || is_interrupted(asked)) {
            (void)raw(SYS_prctl, PR_SET_PDEATHSIG, 0, 0, 0, 0); /* there is an answer to give */
            (void)raw(SYS_kill, parent, SIGKILL);
            if (is_waiting)
                door_answer(asked->id, -RESTART_CALL);
            break;
        }
        (void)raw(SYS_nanosleep, &pause, NULL);
    }
    leave();
}

long door_slow_open(const struct seccomp_notif *asked, int fd, int flags)
{
    char path[64];
    long pid = raw(SYS_clone, SIGCHLD, 0, 0, 0, 0);

    if (pid != 0)
        return pid < 0 ? pid : -EINPROGRESS;
    door_record_in_child();
    long self = raw(SYS_getpid);
    pid = raw(SYS_clone, SIGCHLD, 0, 0, 0, 0);
    if (pid == 0)
        watch(asked, self);
    /* The object and not its name: that may be another's by now, in another place. */
    (void)door_append_number(door_append(path, "/proc/self/fd/"), (unsigned long)fd);
    flags &= ~(O_CREAT | O_EXCL | O_NOFOLLOW);
    long opened = pid < 0 ? pid : raw(SYS_openat, AT_FDCWD, path, flags | O_CLOEXEC);
    if (opened < 0)
        door_answer(asked->id, opened);
    else
        door_answer_descriptor(asked, (int)opened, flags & O_CLOEXEC);
    leave();
}
