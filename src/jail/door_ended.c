#include "door_ended.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "jail/door_record.h"
#include "sys/kernel.h"
#include "sys/raw.h"

#define MAX_TAKEN 256 /* at once; what is more is not told */
#define NO_LIMIT  UINT64_MAX

/* The limits are those that it had when it began: if they are the policy's, the supervisor knows. */
static struct taken {
    int pidfd;
    uint64_t cpu_seconds, file_size;
} taken[MAX_TAKEN];
static unsigned n_taken;

static void note_limit(enum record_op op, int error, uint64_t limit)
{
    char text[24];

    if (limit == NO_LIMIT)
        return;
    (void)door_append_number(text, limit);
    door_note(
        &(struct door_denial){ .op = op, .nr = -1, .error = error, .rule = -1, .text = text });
}

/* True: it has ended, and was looked at. */
static bool has_ended(const struct taken *one)
{
    struct kernel_pidfd_info info = { .mask = PIDFD_ENDED };

    if (raw(SYS_ioctl, one->pidfd, PIDFD_ASK_INFO, &info) < 0 || !(info.mask & PIDFD_ENDED))
        return false;
    if (WIFSIGNALED(info.exit_code) && WTERMSIG(info.exit_code) == SIGXCPU)
        note_limit(RECORD_CPU, 0, one->cpu_seconds);
    if (WIFSIGNALED(info.exit_code) && WTERMSIG(info.exit_code) == SIGXFSZ)
        note_limit(RECORD_FILE_SIZE, EFBIG, one->file_size);
    return true;
}

static void sweep(void)
{
    for (unsigned i = 0; i < n_taken;) {
        if (!has_ended(&taken[i])) {
            i++;
            continue;
        }
        (void)raw(SYS_close, taken[i].pidfd);
        taken[i] = taken[--n_taken];
    }
}

static uint64_t limit_of(const struct seccomp_notif *asked, int resource)
{
    struct {
        uint64_t soft, hard;
    } limit;

    return raw(SYS_prlimit64, asked->pid, resource, NULL, &limit) == 0 ? limit.soft : NO_LIMIT;
}

void door_ended_take(const struct seccomp_notif *asked)
{
    struct taken one = { .cpu_seconds = limit_of(asked, RLIMIT_CPU),
                         .file_size = limit_of(asked, RLIMIT_FSIZE) };

    if (one.cpu_seconds == NO_LIMIT && one.file_size == NO_LIMIT)
        return;
    if (n_taken == MAX_TAKEN)
        sweep();
    one.pidfd = n_taken == MAX_TAKEN ? -1 : (int)raw(NR_PIDFD_OPEN, asked->pid, 0);
    if (one.pidfd < 0) /* also of a thread: who executes as one becomes the process */
        return;
    taken[n_taken++] = one;
}

void door_ended_report(void)
{
    sweep();
}
