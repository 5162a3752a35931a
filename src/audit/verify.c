#include "verify.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "audit/chain.h"
#include "audit/files.h"
#include "audit/scan.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/error.h"

#define LOCK_WAIT_MS 5000

struct verify {
    struct verify_report *report;
    const struct verify_anchor *anchor;
    const char *file;
    uint64_t line;
    char prev[SHA256_HEX_SIZE]; /* hash of the record before */
    uint64_t pruned_seq;        /* what a later record says was removed */
    char pruned_hash[SHA256_HEX_SIZE];
    char before_first[SHA256_HEX_SIZE]; /* the predecessor that the first record names */
    bool has_anchor;
};

/* The state of the log at one moment: writers wait for no more than this. */
struct moment {
    int dir_fd;
    struct audit_files files;
    struct scan_file current;
    off_t size;
    bool has_head;
    struct chain_head head;
};

__attribute__((format(printf, 2, 3))) static void problem(struct verify *verify, const char *format,
                                                          ...)
{
    struct verify_report *report = verify->report;
    va_list args;

    if (report->n_problems++ >= VERIFY_PROBLEMS_MAX)
        return;
    if (verify->file)
        buffer_printf(&report->problems, "%s:%" PRIu64 ": ", verify->file, verify->line);
    va_start(args, format);
    buffer_vprintf(&report->problems, format, args);
    va_end(args);
    buffer_append_char(&report->problems, '\n');
}

/* ---- one record */

static bool is_hash_right(const char *line, size_t n, const char *hash)
{
    unsigned char digest[SHA256_BYTES];
    char hex[SHA256_HEX_SIZE];
    struct sha256 state;

    sha256_init(&state);
    sha256_update(&state, line, n - CHAIN_TAIL_LENGTH);
    sha256_final(&state, digest);
    sha256_hex(digest, hex);
    return strcmp(hex, hash) == 0;
}

static void check_first(struct verify *verify, uint64_t seq, const struct scan_record *record)
{
    verify->report->first_seq = seq;
    (void)snprintf(verify->report->first_time, sizeof verify->report->first_time, "%.*s",
                   (int)record->time.n, record->time.bytes);
    if (record->prev.n == SHA256_HEX_SIZE - 1)
        memcpy(verify->before_first, record->prev.bytes, record->prev.n);
}

static void check_place(struct verify *verify, uint64_t seq, const struct scan_record *record)
{
    uint64_t last = verify->report->last_seq;

    if (!verify->report->first_seq) {
        check_first(verify, seq, record);
    } else if (seq <= last) {
        problem(verify, "record %" PRIu64 " stands behind record %" PRIu64, seq, last);
    } else if (seq == last + 2) {
        problem(verify, "record %" PRIu64 " is missing", last + 1);
    } else if (seq > last + 1) {
        problem(verify, "the records %" PRIu64 " to %" PRIu64 " are missing", last + 1, seq - 1);
    } else if (!scan_equals(record->prev, verify->prev)) {
        problem(verify,
                "record %" PRIu64 " does not follow the record before it: one of them was changed",
                seq);
    }
}

static void note_pruned(void *context, struct scan_piece name, struct scan_piece value)
{
    struct verify *verify = context;

    if (scan_equals(name, "seq"))
        verify->pruned_seq = scan_number(value);
    else if (scan_equals(name, "hash") && value.n == SHA256_HEX_SIZE - 1)
        memcpy(verify->pruned_hash, value.bytes, value.n);
}

static void check_anchor(struct verify *verify, uint64_t seq, const char *hash)
{
    if (!verify->anchor || seq != verify->anchor->seq)
        return;
    verify->has_anchor = true;
    if (strcmp(hash, verify->anchor->hash) != 0)
        problem(verify, "record %" PRIu64 " is not the one whose hash was given", seq);
}

static bool check_line(void *context, const char *line, size_t n)
{
    struct verify *verify = context;
    struct verify_report *report = verify->report;
    struct scan_record record;
    char hash[SHA256_HEX_SIZE];
    uint64_t seq = 0;

    verify->line++;
    report->n_records++;
    if (!chain_read_line(line, n, &seq, hash) || !scan_record(line, n, &record) ||
        !scan_rest(line, n, &record)) {
        problem(verify, "this is no record: it was changed, or something else was put here");
        return true;
    }
    if (!is_hash_right(line, n, hash))
        problem(verify, "record %" PRIu64 " was changed", seq);
    check_place(verify, seq, &record);
    check_anchor(verify, seq, hash);
    report->n_torn += record.torn.bytes != NULL;
    if (record.pruned.bytes)
        scan_members(record.pruned, note_pruned, verify);
    if (seq > report->last_seq) {
        report->last_seq = seq;
        memcpy(report->last_hash, hash, sizeof hash);
        (void)snprintf(report->last_time, sizeof report->last_time, "%.*s", (int)record.time.n,
                       record.time.bytes);
    }
    memcpy(verify->prev, hash, sizeof hash);
    return true;
}

/* ---- the whole */

/* Shared with others that look; writers wait. */
static int lock_head(int dir_fd)
{
    struct flock all = { .l_type = F_RDLCK, .l_whence = SEEK_SET };
    int64_t end_ms = clock_now_ms() + LOCK_WAIT_MS;
    auto_close int fd = openat(dir_fd, CHAIN_HEAD, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);

    if (fd < 0)
        return -errno;
    while (fcntl(fd, F_OFD_SETLK, &all) < 0) {
        struct timespec wait = { 0, 200000 };

        if ((errno != EAGAIN && errno != EACCES && errno != EINTR) || clock_now_ms() > end_ms)
            return -errno;
        (void)nanosleep(&wait, NULL);
    }
    return take_fd(&fd);
}

static int take_moment(struct moment *moment, coop_error **err)
{
    auto_close int lock_fd = lock_head(moment->dir_fd);
    struct stat stat_of;

    if (lock_fd < 0 && lock_fd != -ENOENT)
        return fail(err, -lock_fd, "lock the audit log");
    moment->has_head = chain_read_head(moment->dir_fd, &moment->head);
    int r = audit_files_list(moment->dir_fd, &moment->files, err);
    moment->current.fd =
        openat(moment->dir_fd, CHAIN_FILE, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (moment->current.fd >= 0 && fstat(moment->current.fd, &stat_of) == 0)
        moment->size = stat_of.st_size;
    return r;
}

static int check_file(struct verify *verify, int dir_fd, const char *name, coop_error **err)
{
    struct scan_file file = { .fd = openat(dir_fd, name,
                                           O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC) };
    struct stat stat_of;

    if (file.fd < 0 || fstat(file.fd, &stat_of) < 0) {
        int r = fail(err, errno, "open '%s'", name);

        scan_file_done(&file);
        return r;
    }
    verify->file = name;
    verify->line = 0;
    verify->report->n_files++;
    int r = scan_lines(&file, -1, check_line, verify, err);
    if (r == 0 && file.at < stat_of.st_size)
        problem(verify, "the last line has no end");
    verify->file = NULL;
    scan_file_done(&file);
    return r;
}

static int check_older(struct verify *verify, const struct moment *moment, coop_error **err)
{
    int r = 0;

    for (size_t i = 0; r == 0 && i < moment->files.n; i++) {
        char name[CHAIN_NAME_SIZE];

        chain_file_name(moment->files.first[i], name);
        r = check_file(verify, moment->dir_fd, name, err);
    }
    return r;
}

static int check_current(struct verify *verify, struct moment *moment, coop_error **err)
{
    if (moment->current.fd < 0)
        return 0;
    verify->file = CHAIN_FILE;
    verify->line = 0;
    verify->report->n_files++;
    int r = scan_lines(&moment->current, moment->size, check_line, verify, err);
    verify->report->torn_bytes = (uint64_t)(moment->size - moment->current.at);
    verify->file = NULL;
    return r;
}

/* Older files may be gone if a record says so. */
static void check_beginning(struct verify *verify)
{
    static const char none[] = "0000000000000000000000000000000000000000000000000000000000000000";
    struct verify_report *report = verify->report;

    if (report->first_seq == 0)
        return;
    if (report->first_seq == 1 ? strcmp(verify->before_first, none) == 0
                               : report->first_seq == verify->pruned_seq + 1 &&
                                     strcmp(verify->before_first, verify->pruned_hash) == 0) {
        report->pruned_seq = report->first_seq - 1;
        return;
    }
    if (report->first_seq == 1)
        problem(verify, "the first record names one before it");
    else
        problem(verify,
                "the records before %" PRIu64 " are missing, and no record says that coop removed "
                "them",
                report->first_seq);
}

static void check_end(struct verify *verify, const struct moment *moment)
{
    struct verify_report *report = verify->report;
    const struct chain_head *head = &moment->head;

    if (!moment->has_head) {
        if (report->last_seq > 1) /* the first writer may have been killed before it wrote one */
            problem(verify, "the head is missing or was changed: nothing says how many records "
                            "there should be");
    } else if (head->seq > report->last_seq) {
        problem(verify,
                "the last %" PRIu64 " records are missing: the head says there are %" PRIu64,
                head->seq - report->last_seq, head->seq);
    } else if (head->seq == report->last_seq) {
        if (report->last_seq && strcmp(head->hash, report->last_hash) != 0)
            problem(verify, "the last record is not the one that the head names");
    } else if (head->seq + 1 == report->last_seq) {
        report->is_head_behind = true;
    } else {
        problem(verify,
                "the head is older than the records: it says there are %" PRIu64 ", and there are "
                "%" PRIu64,
                head->seq, report->last_seq);
    }
    if (verify->anchor && verify->anchor->seq && !verify->has_anchor)
        problem(verify, "record %" PRIu64 ", whose hash was given, is not there",
                verify->anchor->seq);
}

int verify_log(const struct audit_settings *settings, const struct verify_anchor *anchor,
               struct verify_report *out, coop_error **err)
{
    struct verify verify = { .report = out, .anchor = anchor };
    struct moment moment = { .current.fd = -1 };

    *out = (struct verify_report){ 0 };
    moment.dir_fd = open(settings->directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (moment.dir_fd < 0)
        return fail(err, errno, "open '%s'", settings->directory);
    int r = take_moment(&moment, err);
    if (r == 0)
        r = check_older(&verify, &moment, err);
    if (r == 0)
        r = check_current(&verify, &moment, err);
    if (r == 0) {
        check_beginning(&verify);
        check_end(&verify, &moment);
    }
    scan_file_done(&moment.current);
    audit_files_done(&moment.files);
    (void)close(moment.dir_fd);
    return r;
}

void verify_report_done(struct verify_report *report)
{
    buffer_done(&report->problems);
}
