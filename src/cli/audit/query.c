/*
 * query.c - the records that are wanted, and those that are still to come
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "base/json/write.h"
#include "base/quantity.h"
#include "cli/audit/audit.h"

#define OUT_MAX ((size_t)128 * 1024) /* is written when there is so much */

/* ---- which */

/* A text as it stands in a line, between its quotes. */
static void as_written(struct buffer *out, const char *text)
{
    struct json_writer json;
    struct buffer quoted = { 0 };

    json_write_init(&json, &quoted, false);
    json_write_text(&json, text);
    json_write_finish(&json);
    if (quoted.failed)
        out->failed = true;
    else
        buffer_append(out, quoted.data + 1, quoted.length - 2);
    buffer_done(&quoted);
}

int audit_filter_init(struct audit_filter *filter, const struct audit_arguments *arguments,
                      coop_error **err)
{
    const struct passwd *passwd = arguments->user ? getpwnam(arguments->user) : NULL;

    *filter = (struct audit_filter){ .arguments = arguments, .has_uid = passwd != NULL };
    if (passwd)
        (void)snprintf(filter->uid, sizeof filter->uid, "%u", (unsigned)passwd->pw_uid);
    if (arguments->user)
        as_written(&filter->user, arguments->user);
    if (arguments->session)
        as_written(&filter->session, arguments->session);
    return filter->user.failed || filter->session.failed ? fail_no_memory(err) : 0;
}

void audit_filter_done(struct audit_filter *filter)
{
    buffer_done(&filter->user);
    buffer_done(&filter->session);
}

static bool is_same(struct scan_piece piece, const struct buffer *text)
{
    return piece.bytes && piece.n == text->length && memcmp(piece.bytes, text->data, piece.n) == 0;
}

/* A user of the system counts where nobody else was named. */
static bool is_of(const struct audit_filter *filter, const struct scan_record *record)
{
    if (is_same(record->user, &filter->user) || is_same(record->identity, &filter->user))
        return true;
    return filter->has_uid && !record->user.bytes && !record->identity.bytes &&
           scan_equals(record->uid, filter->uid);
}

bool audit_filter_wants(const struct audit_filter *filter, const char *line, size_t n,
                        struct scan_record *out)
{
    const struct audit_arguments *arguments = filter->arguments;

    if (!scan_record(line, n, out))
        return false;
    if (arguments->denied && out->denied == 0)
        return false;
    if (arguments->has_since && memcmp(out->time.bytes, arguments->since, CHAIN_TIME_SIZE - 1) < 0)
        return false;
    if (arguments->user && !is_of(filter, out))
        return false;
    return !arguments->session || is_same(out->session, &filter->session);
}

/* ---- how they look */

/* The one who was asked for last is remembered: it is nearly always the same. */
static void append_uid(struct buffer *out, struct scan_piece piece)
{
    static uint64_t last = UINT64_MAX;
    static char name[64];
    uint64_t uid = scan_number(piece);

    if (uid != last) {
        const struct passwd *passwd = getpwuid((uid_t)uid);

        (void)snprintf(name, sizeof name, "%s", passwd ? passwd->pw_name : "");
        last = uid;
    }
    if (*name)
        buffer_append_string(out, name);
    else
        buffer_printf(out, "uid %u", (unsigned)uid);
}

void audit_append_who(struct buffer *out, const struct scan_record *record)
{
    if (record->user.bytes)
        scan_append(out, record->user);
    else if (record->identity.bytes)
        scan_append(out, record->identity);
    else
        append_uid(out, record->uid);
}

static void append_padded(struct buffer *out, size_t begin, size_t width)
{
    while (!out->failed && out->length - begin < width)
        buffer_append_char(out, ' ');
    buffer_append_char(out, ' ');
}

/* Of here, to the second. */
static void append_time(struct buffer *out, struct scan_piece time)
{
    static char last[20], shown[32];
    struct tm utc = { 0 };
    struct tm local;
    char text[CHAIN_TIME_SIZE];

    if (memcmp(last, time.bytes, 19) != 0) {
        memcpy(text, time.bytes, CHAIN_TIME_SIZE - 1);
        text[CHAIN_TIME_SIZE - 1] = '\0';
        if (!strptime(text, "%Y-%m-%dT%H:%M:%S", &utc))
            return;
        time_t seconds = timegm(&utc);
        if (!localtime_r(&seconds, &local))
            return;
        (void)strftime(shown, sizeof shown, "%Y-%m-%d %H:%M:%S", &local);
        memcpy(last, time.bytes, 19);
    }
    buffer_append_string(out, shown);
}

static void append_end(struct buffer *out, const struct scan_record *record)
{
    if (scan_equals(record->end, "exited"))
        buffer_printf(out, "exit %u", (unsigned)scan_number(record->status));
    else if (scan_equals(record->end, "signal"))
        buffer_printf(out, "signal %u", (unsigned)scan_number(record->status) - 128u);
    else if (record->end.bytes)
        scan_append(out, record->end);
    else
        buffer_append_char(out, '-');
}

static void append_what(struct buffer *out, const struct scan_record *record)
{
    if (record->tool.bytes) {
        scan_append(out, record->tool);
        buffer_append_string(out, record->command.bytes ? ": " : "");
    }
    if (record->command.bytes)
        scan_append(out, record->command);
    if (record->file.bytes)
        scan_append(out, record->file);
    if (scan_equals(record->event, "policy") && record->policy.n > 12)
        buffer_printf(out, "%.12s", record->policy.bytes);
    if (record->error.bytes) {
        buffer_append_string(out, "  (");
        scan_append(out, record->error);
        buffer_append_char(out, ')');
    }
}

struct refusal {
    struct scan_piece operation, target, rule, origin, count;
};

static void take_refusal(void *context, struct scan_piece name, struct scan_piece value)
{
    static const char *const names[] = { "op", "target", "rule", "origin", "count" };
    struct scan_piece *members = context;

    for (size_t i = 0; i < COUNT(names); i++)
        if (scan_equals(name, names[i]))
            members[i] = value;
}

static void append_refusals(struct buffer *out, struct scan_piece denials)
{
    struct scan_piece object;

    while (denials.bytes && scan_next(&denials, &object)) {
        struct refusal refusal = { 0 };

        scan_members(object, take_refusal, &refusal);
        buffer_append_string(out, "                    refused: ");
        scan_append(out, refusal.operation);
        buffer_append_char(out, ' ');
        scan_append(out, refusal.target);
        buffer_append_string(out, " (");
        scan_append(out, refusal.rule);
        buffer_append_string(out, ", from ");
        scan_append(out, refusal.origin);
        buffer_append_string(out, ")\n");
    }
}

static void append_record(struct buffer *out, const char *line, size_t n,
                          struct scan_record *record)
{
    char duration[32];
    size_t begin;

    (void)scan_rest(line, n, record);
    append_time(out, record->time);
    buffer_append_char(out, ' ');
    begin = out->length;
    audit_append_who(out, record);
    append_padded(out, begin, 10);
    begin = out->length;
    scan_append(out, record->event);
    append_padded(out, begin, 8);
    begin = out->length;
    append_end(out, record);
    append_padded(out, begin, 9);
    quantity_format_duration_us(scan_number(record->duration_us), duration);
    buffer_printf(out, "%8s  ",
                  record->duration_us.bytes && *record->duration_us.bytes != '0' ? duration : "");
    append_what(out, record);
    buffer_append_char(out, '\n');
    append_refusals(out, record->denials);
}

/* ---- reading */

struct query {
    const struct audit_filter *filter;
    struct buffer out;
    int error; /* nobody reads what is printed, or the disk is full */
};

static bool put_out(struct query *query)
{
    size_t at = 0;

    while (at < query->out.length && !query->error) {
        ssize_t n = write(STDOUT_FILENO, query->out.data + at, query->out.length - at);

        if (n < 0 && errno != EINTR)
            query->error = errno;
        at += n > 0 ? (size_t)n : 0;
    }
    query->out.length = 0;
    return !query->error && !query->out.failed;
}

static bool take_line(void *context, const char *line, size_t n)
{
    struct query *query = context;
    struct scan_record record;

    if (!audit_filter_wants(query->filter, line, n, &record))
        return true;
    if (query->filter->arguments->json) {
        buffer_append(&query->out, line, n);
        buffer_append_char(&query->out, '\n');
    } else {
        append_record(&query->out, line, n, &record);
    }
    return query->out.length < OUT_MAX || put_out(query);
}

static uint64_t first_seq(int fd)
{
    char text[256];
    struct scan_record record;
    ssize_t n = pread(fd, text, sizeof text, 0);

    return n > 0 && (scan_record(text, (size_t)n, &record), record.seq) ? record.seq : 0;
}

/* What was the current file may have got another name, and further ones may have come. */
static int go_on(const struct scan_log *log, struct scan_file *current, coop_error **err)
{
    struct stat now = { 0 };
    struct stat named = { 0 };

    if (current->fd >= 0) {
        if (fstat(current->fd, &now) == 0 && now.st_size < current->at)
            current->at = now.st_size; /* a piece of a record was taken out */
        int r = scan_lines(current, -1, log->take, log->context, err);
        if (r != 0)
            return r;
    }
    if (fstatat(log->dir_fd, CHAIN_FILE, &named, AT_SYMLINK_NOFOLLOW) < 0 ||
        (current->fd >= 0 && named.st_ino == now.st_ino && named.st_dev == now.st_dev))
        return 0;
    struct scan_log rest = *log;
    rest.after = current->fd >= 0 ? first_seq(current->fd) : 0;
    rest.since = NULL;
    return scan_log(&rest, current, err);
}

static int follow(const struct scan_log *log, struct scan_file *current, struct query *query,
                  coop_error **err)
{
    char path[64];
    char events[4096];
    auto_close int fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
    int r = 0;

    (void)snprintf(path, sizeof path, "/proc/self/fd/%d", log->dir_fd);
    if (fd < 0 || inotify_add_watch(fd, path, IN_MODIFY | IN_CREATE | IN_MOVED_TO) < 0)
        return fail(err, errno, "watch the audit log");
    while (r == 0) {
        struct pollfd fds[] = { { .fd = fd, .events = POLLIN }, { .fd = STDOUT_FILENO } };

        r = go_on(log, current, err); /* also what came before the watch began */
        if (r != 0 || !put_out(query))
            break;
        if (poll(fds, COUNT(fds), -1) < 0 && errno != EINTR)
            return fail(err, errno, "watch the audit log");
        if (fds[1].revents & (POLLERR | POLLHUP))
            break; /* nobody reads any more */
        while (read(fd, events, sizeof events) > 0)
            ;
    }
    return r < 0 ? r : 0;
}

int audit_query(const struct audit_arguments *arguments, int dir_fd, coop_error **err)
{
    struct audit_filter filter;
    struct query query = { .filter = &filter };
    struct scan_file current = { .fd = -1 };
    const struct scan_log log = {
        .dir_fd = dir_fd,
        .since = arguments->has_since ? arguments->since : NULL,
        .take = take_line,
        .context = &query,
    };
    int r = audit_filter_init(&filter, arguments, err);

    (void)signal(SIGPIPE, SIG_IGN);
    if (r == 0)
        r = scan_log(&log, &current, err);
    if (r == 0 && put_out(&query) && arguments->follow)
        r = follow(&log, &current, &query, err);
    if (r >= 0)
        (void)put_out(&query);
    scan_file_done(&current);
    audit_filter_done(&filter);
    bool is_out_of_memory = query.out.failed;
    buffer_done(&query.out);
    if (r >= 0 && is_out_of_memory)
        return fail_no_memory(err);
    if (r >= 0 && query.error && query.error != EPIPE)
        return fail(err, query.error, "print the records");
    return r < 0 ? r : 0;
}
