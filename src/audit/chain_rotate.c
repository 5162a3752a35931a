/*
 * chain_rotate.c - from one file of the log to the next
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "audit/chain_private.h"
#include "audit/files.h"
#include "base/cleanup.h"
#include "base/error.h"

#define FIRST_BYTES 64 /* enough for number and time */

/* {"seq":N,"time":"T" */
static bool read_first(int fd, uint64_t *seq, char time[CHAIN_TIME_SIZE])
{
    char text[FIRST_BYTES + 1] = "";

    return pread(fd, text, FIRST_BYTES, 0) == FIRST_BYTES &&
           sscanf(text, "{\"seq\":%" SCNu64 ",\"time\":\"%24[0-9T:.Z-]", seq, time) == 2;
}

bool chain_is_old(const struct chain *chain)
{
    char first[CHAIN_TIME_SIZE];
    char oldest[CHAIN_TIME_SIZE];
    uint64_t seq = 0;
    uint64_t now = (uint64_t)chain_now_ms();

    if (chain->settings->max_age_ms >= now || !read_first(chain->log_fd, &seq, first))
        return false;
    chain_time((int64_t)(now - chain->settings->max_age_ms), oldest);
    return strcmp(first, oldest) < 0;
}

void chain_find_older(const struct chain *chain, struct chain_tail *out)
{
    auto_audit_files struct audit_files files = { 0 };
    struct chain_tail tail;

    if (audit_files_list(chain->dir_fd, &files, NULL) < 0)
        return;
    for (size_t i = files.n; i-- > 0;) {
        auto_close int fd = -1;
        char name[CHAIN_NAME_SIZE];

        chain_file_name(files.first[i], name);
        fd = openat(chain->dir_fd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
        if (fd < 0 || chain_read_tail(fd, &tail) < 0 || tail.seq == 0)
            continue;
        *out = tail;
        return;
    }
}

/* The oldest that are too many. The last record among them is told by the next one. */
static void prune(struct chain *chain)
{
    auto_audit_files struct audit_files files = { 0 };
    char name[CHAIN_NAME_SIZE];
    struct chain_tail tail = { 0 };

    if (chain->settings->keep == AUDIT_NONE || audit_files_list(chain->dir_fd, &files, NULL) < 0 ||
        files.n <= chain->settings->keep)
        return;
    size_t n = files.n - (size_t)chain->settings->keep;
    chain_file_name(files.first[n - 1], name);
    auto_close int fd = openat(chain->dir_fd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0 || chain_read_tail(fd, &tail) < 0 || tail.seq == 0)
        return; /* what cannot be told is not removed */
    chain->pruned_seq = tail.seq;
    memcpy(chain->pruned_hash, tail.hash, sizeof tail.hash);
    for (size_t i = 0; i < n; i++) {
        chain_file_name(files.first[i], name);
        (void)unlinkat(chain->dir_fd, name, 0);
    }
}

int chain_rotate(struct chain *chain, coop_error **err)
{
    char name[CHAIN_NAME_SIZE];
    char time[CHAIN_TIME_SIZE];
    uint64_t seq = 0;

    /* One that does not begin with a record of ours is put behind those that do. */
    if (!read_first(chain->log_fd, &seq, time))
        seq = chain->head.seq + 1;
    chain_file_name(seq, name);
    if (faccessat(chain->dir_fd, name, F_OK, AT_SYMLINK_NOFOLLOW) == 0)
        return fail(err, EEXIST, "begin a new file of the audit log: '%s'", name);
    if (renameat(chain->dir_fd, CHAIN_FILE, chain->dir_fd, name) < 0)
        return fail(err, errno, "begin a new file of the audit log");
    close_fd(&chain->log_fd);
    int fd = chain_open_file(chain, CHAIN_FILE, O_RDWR | O_APPEND, err);
    if (fd < 0)
        return fd;
    chain->log_fd = fd;
    chain->size = chain->end = 0;
    chain->must_rotate = false;
    prune(chain);
    return 0;
}
