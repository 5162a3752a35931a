#include "ended.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "init/notify/denial.h"
#include "sys/kernel.h"
#include "sys/raw.h"

#define MAX_TAKEN 256 /* at once; what is more is not told */
#define NO_LIMIT  UINT64_MAX

/* The limits are those that it had when it began: if they are the policy's, the supervisor knows. */
static struct taken {
    uint32_t pid;
    int pidfd;
    uint64_t cpu_seconds, file_size;
} taken[MAX_TAKEN];
static unsigned n_taken;

static void note_limit(enum denial_op op, int error, uint64_t limit)
{
    char text[24];

    if (limit == NO_LIMIT)
        return;
    (void)notify_append_number(text, limit);
    notify_note(
        &(struct notify_denial){ .op = op, .nr = -1, .error = error, .rule = -1, .text = text });
}

/* True: it has ended, and was looked at. */
static bool has_ended(const struct taken *one)
{
    struct kernel_pidfd_info info = { .mask = PIDFD_ENDED };

    if (raw(SYS_ioctl, one->pidfd, PIDFD_ASK_INFO, &info) < 0 || !(info.mask & PIDFD_ENDED))
        return false;
    if (WIFSIGNALED(info.exit_code) && WTERMSIG(info.exit_code) == SIGXCPU)
        note_limit(DENIAL_CPU, 0, one->cpu_seconds);
    if (WIFSIGNALED(info.exit_code) && WTERMSIG(info.exit_code) == SIGXFSZ)
        note_limit(DENIAL_FILE_SIZE, EFBIG, one->file_size);
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
    } limit = { NO_LIMIT, NO_LIMIT };

    return raw(SYS_prlimit64, asked->pid, resource, NULL, &limit) == 0 ? limit.soft : NO_LIMIT;
}

/* The same one again, unless the number is another's by now. */
static struct taken *find(uint32_t pid)
{
    for (unsigned i = 0; i < n_taken; i++)
        if (taken[i].pid == pid)
            return &taken[i];
    return NULL;
}

void notify_ended_take(const struct seccomp_notif *asked)
{
    uint64_t cpu_seconds = limit_of(asked, RLIMIT_CPU);
    uint64_t file_size = limit_of(asked, RLIMIT_FSIZE);

    if (cpu_seconds == NO_LIMIT && file_size == NO_LIMIT)
        return;
    struct taken *one = find(asked->pid);
    if (one || n_taken == MAX_TAKEN) {
        sweep();
        one = find(asked->pid);
    }
    if (!one) {
        long pidfd = n_taken == MAX_TAKEN ? -ENOSPC : raw(NR_PIDFD_OPEN, asked->pid, 0);

        if (pidfd < 0)
            return;
        one = &taken[n_taken++];
        one->pid = asked->pid;
        one->pidfd = (int)pidfd;
    }
    one->cpu_seconds = cpu_seconds;
    one->file_size = file_size;
}

void notify_ended_report(void)
{
    sweep();
}
