/*
 * verify.c - is every directory what it was?
 *
 * One stat each, and what that costs is the kernel's own misses of its caches. Two threads go from
 * the two ends towards each other: so each has what lies together, and neither waits for one that
 * was started late or shares its processor with others.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "protect/scan/entries.h"

#define WORTH_A_THREAD 512
#define PIECE          64 /* records that a thread takes at once */

struct work {
    const struct scan_entries *records;
    bool *verified;
    size_t n_pieces;
    atomic_size_t n_taken;
};

struct worker {
    struct work *work;
    int root_fd;
    bool is_backwards;
    bool is_good;
};

bool entry_is_current(const struct scan_entry *record, const struct stat *st)
{
    return record->ctime_sec != 0 && S_ISDIR(st->st_mode) && st->st_dev == record->dev &&
           st->st_ino == record->ino && st->st_ctim.tv_sec == record->ctime_sec &&
           st->st_ctim.tv_nsec == record->ctime_nsec;
}

static bool is_as_it_was(int root_fd, const struct scan_entries *records, size_t i)
{
    const struct scan_entry *record = &records->items[i];
    const char *path = entries_path(records, i);
    struct stat st;

    return record->ctime_sec != 0 &&
           fstatat(root_fd, *path ? path : ".", &st, AT_SYMLINK_NOFOLLOW) == 0 &&
           entry_is_current(record, &st);
}

/* As many pieces are taken as there are, so the two never take the same. */
static void *verify_pieces(void *argument)
{
    struct worker *worker = argument;
    struct work *work = worker->work;
    size_t n = work->records->n;

    for (size_t k = 0; atomic_fetch_add(&work->n_taken, 1) < work->n_pieces; k++) {
        size_t piece = worker->is_backwards ? work->n_pieces - 1 - k : k;
        size_t end = (piece + 1) * PIECE < n ? (piece + 1) * PIECE : n;

        for (size_t i = piece * PIECE; i < end; i++) {
            work->verified[i] = is_as_it_was(worker->root_fd, work->records, i);
            worker->is_good &= work->verified[i];
        }
    }
    return NULL;
}

/* No signal of the caller's may be delivered to a thread that it does not know. */
static int start(pthread_t *thread, struct worker *worker)
{
    sigset_t all;
    sigset_t old;

    (void)sigfillset(&all);
    if (pthread_sigmask(SIG_SETMASK, &all, &old) != 0)
        return -EAGAIN;
    int r = pthread_create(thread, NULL, verify_pieces, worker);
    (void)pthread_sigmask(SIG_SETMASK, &old, NULL);
    return -r;
}

bool entries_verify(int root_fd, const struct scan_entries *records, bool *out_verified)
{
    struct work work = { .records = records,
                         .verified = out_verified,
                         .n_pieces = (records->n + PIECE - 1) / PIECE };
    struct worker forwards = { &work, root_fd, false, true };
    struct worker backwards = { &work, -1, true, true };
    bool has_thread = false;
    pthread_t thread;

    /* Each an open file of its own: the kernel counts the users of one in one place, over which two
     * processors would quarrel. */
    if (records->n >= WORTH_A_THREAD)
        backwards.root_fd = openat(root_fd, ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (backwards.root_fd >= 0)
        has_thread = start(&thread, &backwards) == 0;
    (void)verify_pieces(&forwards);
    if (has_thread)
        (void)pthread_join(thread, NULL);
    close_fd(&backwards.root_fd);
    return forwards.is_good && backwards.is_good;
}
