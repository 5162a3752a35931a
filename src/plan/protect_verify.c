/*
 * protect_verify.c - is every directory what it was?
 *
 * One stat each. Two threads take one half each: in halves that lie together they use one another's
 * caches least, and that is what makes them twice as fast as one.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/stat.h>

#include "plan/protect_records.h"

#define WORTH_A_THREAD 2000

struct half {
    int root_fd;
    const struct scan_records *records;
    size_t from, to;
    bool *verified;
    bool is_good;
};

bool record_is_current(const struct scan_record *record, const struct stat *st)
{
    return record->ctime_sec != 0 && S_ISDIR(st->st_mode) && st->st_dev == record->dev &&
           st->st_ino == record->ino && st->st_ctim.tv_sec == record->ctime_sec &&
           st->st_ctim.tv_nsec == record->ctime_nsec;
}

static bool is_as_it_was(int root_fd, const struct scan_records *records, size_t i)
{
    const struct scan_record *record = &records->items[i];
    const char *path = records_path(records, i);
    struct stat st;

    return record->ctime_sec != 0 &&
           fstatat(root_fd, *path ? path : ".", &st, AT_SYMLINK_NOFOLLOW) == 0 &&
           record_is_current(record, &st);
}

static void *verify_half(void *argument)
{
    struct half *half = argument;

    half->is_good = true;
    for (size_t i = half->from; i < half->to; i++) {
        half->verified[i] = is_as_it_was(half->root_fd, half->records, i);
        half->is_good &= half->verified[i];
    }
    return NULL;
}

/* No signal of the caller's may be delivered to a thread that it does not know. */
static int start(pthread_t *thread, struct half *half)
{
    sigset_t all;
    sigset_t old;

    (void)sigfillset(&all);
    if (pthread_sigmask(SIG_SETMASK, &all, &old) != 0)
        return -EAGAIN;
    int r = pthread_create(thread, NULL, verify_half, half);
    (void)pthread_sigmask(SIG_SETMASK, &old, NULL);
    return -r;
}

bool records_verify(int root_fd, const struct scan_records *records, bool *out_verified)
{
    size_t middle = records->n < WORTH_A_THREAD ? records->n : records->n / 2;
    struct half first = { root_fd, records, 0, middle, out_verified, true };
    struct half second = { root_fd, records, middle, records->n, out_verified, true };
    pthread_t thread;
    bool has_thread = middle < records->n && start(&thread, &second) == 0;

    (void)verify_half(&first);
    if (has_thread)
        (void)pthread_join(thread, NULL);
    else
        (void)verify_half(&second);
    return first.is_good && second.is_good;
}
