#include "slow.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <time.h>

#include "init/notify/denial.h"
#include "init/notify/status.h"
#include "sys/raw.h"

#define RESTART_CALL \
    512 /* ERESTARTSYS: the kernel's own word, EINTR or once more as the handler says */
#define LOOK_EVERY (20 * 1000 * 1000) /* ns */

static _Noreturn void leave(void)
{
    for (;;)
        (void)raw(SYS_exit_group, 0);
}

/* A signal waits for the caller: it cannot be taken while the call is at notify. */
static bool is_interrupted(const struct seccomp_notif *asked)
{
    char text[NOTIFY_STATUS_SIZE];

    if (!notify_status_read(asked->pid, text))
        return false;
    uint64_t pending = notify_status_number(text, "\nSigPnd:\t", 16, 0);
    if (notify_status_number(text, "\nThreads:\t", 10, 0) == 1) /* else another may take it */
        pending |= notify_status_number(text, "\nShdPnd:\t", 16, 0);
    return pending & ~notify_status_number(text, "\nSigBlk:\t", 16, 0);
}

/* Ends the one that opens, its parent, when nobody waits for it any more; and ends with it. */
static _Noreturn void watch(const struct seccomp_notif *asked, long parent)
{
    const struct timespec pause = { 0, LOOK_EVERY };

    (void)raw(SYS_prctl, PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
    while (raw(SYS_getppid) == parent) {
        bool is_waiting = notify_is_waiting(asked->id);

        if (!is_waiting || is_interrupted(asked)) {
            (void)raw(SYS_prctl, PR_SET_PDEATHSIG, 0, 0, 0, 0); /* there is an answer to give */
            (void)raw(SYS_kill, parent, SIGKILL);
            if (is_waiting)
                notify_answer(asked->id, -RESTART_CALL);
            break;
        }
        (void)raw(SYS_nanosleep, &pause, NULL);
    }
    leave();
}

long notify_slow_open(const struct seccomp_notif *asked, int fd, int flags)
{
    char path[64];
    long pid = raw(SYS_clone, SIGCHLD, 0, 0, 0, 0);

    if (pid != 0)
        return pid < 0 ? pid : -EINPROGRESS;
    notify_denial_in_child();
    long self = raw(SYS_getpid);
    pid = raw(SYS_clone, SIGCHLD, 0, 0, 0, 0);
    if (pid == 0)
        watch(asked, self);
    /* The object and not its name: that may be another's by now, in another place. */
    (void)notify_append_number(notify_append(path, "/proc/self/fd/"), (unsigned long)fd);
    flags &= ~(O_CREAT | O_EXCL | O_NOFOLLOW);
    long opened = pid < 0 ? pid : raw(SYS_openat, AT_FDCWD, path, flags | O_CLOEXEC);
    if (opened < 0)
        notify_answer(asked->id, opened);
    else
        notify_answer_descriptor(asked, (int)opened, flags & O_CLOEXEC);
    leave();
}
