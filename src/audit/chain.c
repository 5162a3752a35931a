#include "chain.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "audit/chain_private.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/directories.h"
#include "base/error.h"

#define LOCK_WAIT_MS 5000 /* somebody who was stopped while writing must not stop everybody */
#define HEAD_FORMAT  "coop-audit 1 %020" PRIu64 " %-64s %-64s "
#define HEAD_BODY    (13 + 21 + 65 + 65)
#define HEAD_CHECK   16
#define HEAD_LENGTH  (HEAD_BODY + HEAD_CHECK + 1)
#define TAIL_STEP    ((size_t)4096)
#define TAIL_MAX     (2 * CHAIN_RECORD_MAX)

/* ---- the form of things */

void chain_time(int64_t unix_ms, char out[CHAIN_TIME_SIZE])
{
    time_t seconds = (time_t)(unix_ms / 1000);
    struct tm utc = { 0 };

    (void)gmtime_r(&seconds, &utc);
    size_t n = strftime(out, CHAIN_TIME_SIZE, "%Y-%m-%dT%H:%M:%S", &utc);
    (void)snprintf(out + n, CHAIN_TIME_SIZE - n, ".%03dZ", (int)(unix_ms % 1000));
}

int64_t chain_now_ms(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

void chain_file_name(uint64_t first_seq, char out[CHAIN_NAME_SIZE])
{
    (void)snprintf(out, CHAIN_NAME_SIZE, "audit-%012" PRIu64 ".jsonl", first_seq % 1000000000000u);
}

uint64_t chain_file_seq(const char *name)
{
    char again[CHAIN_NAME_SIZE];
    uint64_t seq = 0;

    if (strncmp(name, "audit-", 6) != 0)
        return 0;
    for (const char *p = name + 6; *p >= '0' && *p <= '9' && p < name + 18; p++)
        seq = seq * 10 + (uint64_t)(*p - '0');
    chain_file_name(seq, again);
    return strcmp(again, name) == 0 ? seq : 0;
}

static bool read_hash(const char *text, char out[SHA256_HEX_SIZE])
{
    for (size_t i = 0; i < SHA256_HEX_SIZE - 1; i++)
        if (!((text[i] >= '0' && text[i] <= '9') || (text[i] >= 'a' && text[i] <= 'f')))
            return false;
    memcpy(out, text, SHA256_HEX_SIZE - 1);
    out[SHA256_HEX_SIZE - 1] = '\0';
    return true;
}

bool chain_read_line(const char *line, size_t n, uint64_t *seq, char hash[SHA256_HEX_SIZE])
{
    static const char begin[] = "{\"seq\":";
    uint64_t number = 0;
    size_t at = sizeof begin - 1;

    if (n < at + CHAIN_TAIL_LENGTH || memcmp(line, begin, at) != 0)
        return false;
    const char *tail = line + n - CHAIN_TAIL_LENGTH;
    if (memcmp(tail, ",\"hash\":\"", 9) != 0 || memcmp(line + n - 2, "\"}", 2) != 0 ||
        !read_hash(tail + 9, hash))
        return false;
    for (; line[at] >= '0' && line[at] <= '9' && number < UINT64_MAX / 20; at++)
        number = number * 10 + (uint64_t)(line[at] - '0');
    *seq = number;
    return number > 0 && line[at] == ',';
}

/* ---- the head */

static void check_of(const char *body, char out[HEAD_CHECK + 1])
{
    unsigned char digest[SHA256_BYTES];
    char hex[SHA256_HEX_SIZE];
    struct sha256 hash;

    sha256_init(&hash);
    sha256_update(&hash, body, HEAD_BODY);
    sha256_final(&hash, digest);
    sha256_hex(digest, hex);
    memcpy(out, hex, HEAD_CHECK);
    out[HEAD_CHECK] = '\0';
}

static bool read_head_at(int fd, struct chain_head *out)
{
    char text[HEAD_LENGTH + 1] = "";
    char check[HEAD_CHECK + 1];
    struct chain_head head = { 0 };

    if (pread(fd, text, sizeof text, 0) != HEAD_LENGTH || text[HEAD_LENGTH - 1] != '\n' ||
        strncmp(text, "coop-audit 1 ", 13) != 0)
        return false;
    check_of(text, check);
    if (memcmp(check, text + HEAD_BODY, HEAD_CHECK) != 0)
        return false;
    head.seq = strtoull(text + 13, NULL, 10);
    if (!read_hash(text + 34, head.hash))
        return false;
    if (text[99] != ' ' && !read_hash(text + 99, head.policy))
        return false;
    *out = head;
    return true;
}

bool chain_read_head(int dir_fd, struct chain_head *out)
{
    auto_close int fd = openat(dir_fd, CHAIN_HEAD, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);

    return fd >= 0 && read_head_at(fd, out);
}

/* In place: what is smaller than a page is written whole or not at all, whoever is killed. */
static int write_head(const struct chain *chain, coop_error **err)
{
    char text[HEAD_LENGTH + 1];

    int n = snprintf(text, sizeof text, HEAD_FORMAT, chain->head.seq, chain->head.hash,
                     chain->head.policy);
    if (n != HEAD_BODY)
        return fail(err, EOVERFLOW, "write the head of the audit log");
    check_of(text, text + HEAD_BODY);
    text[HEAD_LENGTH - 1] = '\n';
    if (pwrite(chain->head_fd, text, HEAD_LENGTH, 0) != HEAD_LENGTH)
        return fail(err, errno ? errno : ENOSPC, "write '%s/" CHAIN_HEAD "'",
                    chain->settings->directory);
    return 0;
}

/* ---- the end of a file */

static const char *last_newline(const char *bytes, size_t n)
{
    return n ? memrchr(bytes, '\n', n) : NULL;
}

/* The last `n` bytes are in `bytes`. False: more are needed to tell. */
static bool find_last_line(const char *bytes, size_t n, struct chain_tail *out)
{
    bool is_all = (off_t)n == out->size;
    const char *end = last_newline(bytes, n);

    if (!end) {
        out->end = 0; /* all of it is a piece */
        return is_all;
    }
    const char *before = last_newline(bytes, (size_t)(end - bytes));
    if (!before && !is_all)
        return false;
    const char *line = before ? before + 1 : bytes;
    out->end = out->size - (off_t)n + (end + 1 - bytes);
    if (!chain_read_line(line, (size_t)(end - line), &out->seq, out->hash))
        out->seq = 0;
    return true;
}

int chain_read_tail(int fd, struct chain_tail *out)
{
    struct stat stat_of;
    char near[TAIL_STEP];
    auto_free char *far = NULL;

    *out = (struct chain_tail){ 0 };
    if (fstat(fd, &stat_of) < 0)
        return -errno;
    out->size = stat_of.st_size;
    size_t n = out->size < (off_t)sizeof near ? (size_t)out->size : sizeof near;
    if (pread(fd, near, n, out->size - (off_t)n) != (ssize_t)n)
        return -EIO;
    if (find_last_line(near, n, out))
        return 0;
    n = out->size < (off_t)TAIL_MAX ? (size_t)out->size : TAIL_MAX;
    far = malloc(n);
    if (!far)
        return -ENOMEM;
    if (pread(fd, far, n, out->size - (off_t)n) != (ssize_t)n)
        return -EIO;
    return find_last_line(far, n, out) ? 0 : -EINVAL;
}

/* ---- opening */

static int check_file(int fd, const char *name, bool is_directory, coop_error **err)
{
    struct stat stat_of;

    if (fstat(fd, &stat_of) < 0)
        return fail(err, errno, "look at '%s'", name);
    if (stat_of.st_uid != geteuid() ||
        (is_directory ? !S_ISDIR(stat_of.st_mode)
                      : !S_ISREG(stat_of.st_mode) || stat_of.st_nlink > 1))
        return fail_kind(err, COOP_ERROR_SYSTEM, EPERM,
                         "the audit log is not this user's own: '%s' %s", name,
                         stat_of.st_uid != geteuid() ? "belongs to somebody else"
                                                     : "is something else, or has another name");
    if (stat_of.st_mode & 077 && fchmod(fd, is_directory ? 0700 : 0600) < 0)
        return fail(err, errno, "take '%s' from others", name);
    return 0;
}

static int open_directory(struct chain *chain, coop_error **err)
{
    const char *path = chain->settings->directory;
    const int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;

    if (!path)
        return fail_kind(err, COOP_ERROR_BAD_POLICY, ENOENT,
                         "there is no place for the audit log: neither XDG_STATE_HOME nor HOME is "
                         "an absolute path");
    chain->dir_fd = open(path, flags);
    if (chain->dir_fd < 0 && errno == ENOENT) {
        int r = directories_make(path, err);

        if (r < 0)
            return r;
        chain->dir_fd = open(path, flags);
    }
    return chain->dir_fd < 0 ? fail(err, errno, "open '%s'", path)
                             : check_file(chain->dir_fd, path, true, err);
}

int chain_open_file(const struct chain *chain, const char *name, int flags, coop_error **err)
{
    auto_close int fd =
        openat(chain->dir_fd, name, flags | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600);

    if (fd < 0)
        return fail(err, errno, "open '%s/%s'", chain->settings->directory, name);
    int r = check_file(fd, name, false, err);
    return r < 0 ? r : take_fd(&fd);
}

/* Of an open file description: so threads of one process exclude each other too. */
static int lock(int fd, coop_error **err)
{
    struct flock all = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
    int64_t end_ms = 0;
    long wait_ns = 20000;

    while (fcntl(fd, F_OFD_SETLK, &all) < 0) {
        int64_t now = clock_now_ms();

        if (errno != EAGAIN && errno != EACCES && errno != EINTR)
            return fail(err, errno, "lock the audit log");
        if (!end_ms)
            end_ms = now + LOCK_WAIT_MS;
        if (now > end_ms)
            return fail_kind(err, COOP_ERROR_SYSTEM, EBUSY,
                             "the audit log is locked by somebody who does not go on");
        (void)nanosleep(&(struct timespec){ 0, wait_ns }, NULL);
        wait_ns = wait_ns < 1000000 ? wait_ns * 2 : wait_ns;
    }
    return 0;
}

/* Pieces of a record are kept for whoever wants to look, and the line ends where the last one did. */
static int take_out_torn(struct chain *chain, coop_error **err)
{
    size_t n = (size_t)(chain->size - chain->end);
    auto_free char *piece = malloc(n);
    auto_close int torn_fd = -1;

    if (!piece)
        return fail_no_memory(err);
    if (pread(chain->log_fd, piece, n, chain->end) != (ssize_t)n)
        return fail(err, EIO, "read '" CHAIN_FILE "'");
    torn_fd = chain_open_file(chain, CHAIN_TORN, O_WRONLY | O_APPEND, NULL);
    if (torn_fd >= 0) /* on a full disk it is gone: it never was a record */
        (void)!(write(torn_fd, piece, n) == (ssize_t)n && write(torn_fd, "\n", 1) == 1);
    if (ftruncate(chain->log_fd, chain->end) < 0)
        return fail(err, errno, "take a torn record out of '" CHAIN_FILE "'");
    chain->torn = n;
    chain->size = chain->end;
    return 0;
}

/* What the files say and what the head says: whichever is further. */
static int find_last(struct chain *chain, coop_error **err)
{
    struct chain_tail tail;
    int r = chain_read_tail(chain->log_fd, &tail);

    if (r < 0 && r != -EINVAL)
        return fail(err, -r, "read '" CHAIN_FILE "'");
    /* No record of ours: it stays as it is, and what comes next begins a file of its own. */
    if (r == -EINVAL || (tail.end > 0 && tail.seq == 0) ||
        tail.size - tail.end > (off_t)CHAIN_RECORD_MAX)
        chain->must_rotate = true;
    chain->size = tail.size;
    chain->end = tail.end;
    if (tail.size == 0 && chain->head.seq == 0)
        chain_find_older(chain, &tail);
    if (tail.seq > chain->head.seq) {
        chain->head.seq = tail.seq;
        memcpy(chain->head.hash, tail.hash, sizeof tail.hash);
    }
    if (chain->head.seq == 0)
        memset(chain->head.hash, '0', SHA256_HEX_SIZE - 1);
    return chain->size > chain->end && !chain->must_rotate ? take_out_torn(chain, err) : 0;
}

int chain_open(const struct audit_settings *settings, struct chain **out, coop_error **err)
{
    auto_chain struct chain *chain = calloc(1, sizeof *chain);

    if (!chain)
        return fail_no_memory(err);
    chain->settings = settings;
    chain->dir_fd = chain->head_fd = chain->log_fd = -1;
    int r = open_directory(chain, err);
    if (r == 0)
        r = chain->head_fd = chain_open_file(chain, CHAIN_HEAD, O_RDWR, err);
    if (r < 0)
        return r;
    /* What it says now counts for nothing; but what reads it is in memory then. */
    (void)read_head_at(chain->head_fd, &chain->head);
    *out = take_ptr(chain);
    return 0;
}

int chain_lock(struct chain *chain, coop_error **err)
{
    int r = lock(chain->head_fd, err);

    if (r >= 0)
        r = chain->log_fd = chain_open_file(chain, CHAIN_FILE, O_RDWR | O_APPEND, err);
    if (r < 0)
        return r;
    if (!read_head_at(chain->head_fd, &chain->head))
        chain->head = (struct chain_head){ 0 };
    return find_last(chain, err);
}

void chain_close(struct chain *chain)
{
    struct flock all = { .l_type = F_UNLCK, .l_whence = SEEK_SET };

    if (!chain)
        return;
    /* Outright, because a process that is just being made may hold a copy for a moment. */
    if (chain->head_fd >= 0)
        (void)fcntl(chain->head_fd, F_OFD_SETLK, &all);
    close_fd(&chain->log_fd);
    close_fd(&chain->head_fd);
    close_fd(&chain->dir_fd);
    buffer_done(&chain->line);
    free(chain);
}

void chain_close_at_exit(struct chain **chain)
{
    chain_close(*chain);
}

const char *chain_policy(const struct chain *chain)
{
    return chain->head.policy;
}

/* ---- adding */

static void make_line(struct chain *chain, const char *fields, size_t n, char hash[SHA256_HEX_SIZE])
{
    struct buffer *line = &chain->line;
    unsigned char digest[SHA256_BYTES];
    char time[CHAIN_TIME_SIZE];
    struct sha256 state;

    line->length = 0;
    chain_time(chain_now_ms(), time);
    buffer_printf(line, "{\"seq\":%" PRIu64 ",\"time\":\"%s\",", chain->head.seq + 1, time);
    buffer_append(line, fields, n);
    if (chain->torn)
        buffer_printf(line, ",\"torn\":%zu", chain->torn);
    if (chain->pruned_seq)
        buffer_printf(line, ",\"pruned\":{\"seq\":%" PRIu64 ",\"hash\":\"%s\"}", chain->pruned_seq,
                      chain->pruned_hash);
    buffer_printf(line, ",\"prev\":\"%s\"", chain->head.hash);
    if (line->failed)
        return;
    sha256_init(&state);
    sha256_update(&state, line->data, line->length);
    sha256_final(&state, digest);
    sha256_hex(digest, hash);
    buffer_printf(line, ",\"hash\":\"%s\"}\n", hash);
}

static int write_line(struct chain *chain, coop_error **err)
{
    ssize_t n = write(chain->log_fd, chain->line.data, chain->line.length);
    int errnum = n < 0 ? errno : ENOSPC;

    if (n == (ssize_t)chain->line.length)
        return 0;
    if (n > 0) /* it never was */
        (void)!ftruncate(chain->log_fd, chain->size);
    return fail(err, errnum, "write '%s/" CHAIN_FILE "'", chain->settings->directory);
}

int chain_append(struct chain *chain, const char *fields, size_t n, const char *policy,
                 coop_error **err)
{
    char hash[SHA256_HEX_SIZE];
    int r = 0;

    if (n > CHAIN_RECORD_MAX - 512)
        return fail(err, EMSGSIZE, "write the audit log");
    bool is_full = (uint64_t)chain->size + n + 512 > chain->settings->max_size;
    if (chain->must_rotate || (chain->size > 0 && (is_full || chain_is_old(chain))))
        r = chain_rotate(chain, err);
    if (r < 0)
        return r;
    make_line(chain, fields, n, hash);
    if (chain->line.failed)
        return fail_no_memory(err);
    r = write_line(chain, err);
    if (r == 0 && chain->settings->sync && fdatasync(chain->log_fd) < 0)
        r = fail(err, errno, "write '%s/" CHAIN_FILE "' to its disk", chain->settings->directory);
    if (r < 0)
        return r;
    chain->size += (off_t)chain->line.length;
    chain->torn = 0;
    chain->pruned_seq = 0;
    chain->head.seq++;
    memcpy(chain->head.hash, hash, sizeof hash);
    if (policy)
        (void)snprintf(chain->head.policy, sizeof chain->head.policy, "%s", policy);
    return write_head(chain, err);
}

int chain_reserve(struct chain *chain, coop_error **err)
{
    if (fallocate(chain->log_fd, FALLOC_FL_KEEP_SIZE, chain->size, CHAIN_RECORD_MAX) == 0 ||
        errno == EOPNOTSUPP || errno == ENOSYS)
        return 0;
    return fail(err, errno, "make room in '%s/" CHAIN_FILE "'", chain->settings->directory);
}
