#include "scan.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "audit/chain.h"
#include "audit/files.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "base/printable.h"

#define BLOCK ((size_t)256 * 1024)
#define LINE_MAX_BYTES \
    ((size_t)4 << 20) /* what is longer is no record, and is handed on in pieces */

/* ---- one line */

struct cursor {
    const char *at, *end;
};

/* At a quote: to what follows the closing one. */
static bool take_text(struct cursor *cursor, struct scan_piece *out)
{
    const char *begin = ++cursor->at;

    for (; cursor->at < cursor->end; cursor->at++) {
        if (*cursor->at == '"') {
            *out = (struct scan_piece){ begin, (size_t)(cursor->at++ - begin) };
            return true;
        }
        if (*cursor->at == '\\')
            cursor->at++;
    }
    return false;
}

/* An object or an array: to what follows its end. */
static bool take_nested(struct cursor *cursor, struct scan_piece *out)
{
    const char *begin = cursor->at;
    size_t depth = 0;

    while (cursor->at < cursor->end) {
        struct scan_piece ignored;

        if (*cursor->at == '"') {
            if (!take_text(cursor, &ignored))
                return false;
            continue;
        }
        char c = *cursor->at++;
        depth += c == '{' || c == '[';
        if ((c == '}' || c == ']') && --depth == 0) {
            *out = (struct scan_piece){ begin, (size_t)(cursor->at - begin) };
            return true;
        }
    }
    return false;
}

static bool take_value(struct cursor *cursor, struct scan_piece *out)
{
    if (cursor->at >= cursor->end)
        return false;
    if (*cursor->at == '"')
        return take_text(cursor, out);
    if (*cursor->at == '{' || *cursor->at == '[')
        return take_nested(cursor, out);
    const char *begin = cursor->at;
    while (cursor->at < cursor->end && *cursor->at != ',' && *cursor->at != '}' &&
           *cursor->at != ']')
        cursor->at++;
    *out = (struct scan_piece){ begin, (size_t)(cursor->at - begin) };
    if (out->n == 4 && memcmp(out->bytes, "null", 4) == 0)
        *out = (struct scan_piece){ 0 };
    return cursor->at > begin;
}

/* Behind the '{' or the last value: the next member; false at the end, or where it is none of ours. */
static bool take_member(struct cursor *cursor, struct scan_piece *name, struct scan_piece *value)
{
    if (cursor->at < cursor->end && *cursor->at == ',')
        cursor->at++;
    if (cursor->at >= cursor->end || *cursor->at != '"' || !take_text(cursor, name) ||
        cursor->at >= cursor->end || *cursor->at++ != ':')
        return false;
    return take_value(cursor, value);
}

uint64_t scan_number(struct scan_piece piece)
{
    uint64_t number = 0;

    for (size_t i = 0; i < piece.n && piece.bytes[i] >= '0' && piece.bytes[i] <= '9' && i < 19; i++)
        number = number * 10 + (uint64_t)(piece.bytes[i] - '0');
    return number;
}

bool scan_equals(struct scan_piece piece, const char *text)
{
    return piece.bytes && strlen(text) == piece.n && memcmp(piece.bytes, text, piece.n) == 0;
}

#define PIECE(member)                                                     \
    {                                                                     \
#member, sizeof #member - 1, offsetof(struct scan_record, member) \
    }

struct known {
    const char *name;
    size_t n, at;
};

static void keep(struct scan_record *out, const struct known *known, size_t n_known,
                 struct scan_piece name, struct scan_piece value)
{
    for (size_t i = 0; i < n_known; i++)
        if (known[i].n == name.n && memcmp(known[i].name, name.bytes, name.n) == 0) {
            *(struct scan_piece *)((char *)out + known[i].at) = value;
            return;
        }
}

bool scan_record(const char *line, size_t n, struct scan_record *out)
{
    static const struct known known[] = { PIECE(time),     PIECE(event), PIECE(user),
                                          PIECE(identity), PIECE(trust), PIECE(uid),
                                          PIECE(session) };
    struct cursor cursor = { line + 1, line + n };
    struct scan_piece name;
    struct scan_piece value;

    *out = (struct scan_record){ 0 };
    if (n < 2 || *line != '{' || !take_member(&cursor, &name, &value) || !scan_equals(name, "seq"))
        return false;
    out->seq = scan_number(value);
    while (take_member(&cursor, &name, &value)) {
        if (scan_equals(name, "denied")) {
            out->denied = scan_number(value);
            return out->seq > 0 && out->time.n == CHAIN_TIME_SIZE - 1 && out->event.bytes;
        }
        keep(out, known, COUNT(known), name, value);
    }
    return false;
}

bool scan_rest(const char *line, size_t n, struct scan_record *out)
{
    static const struct known known[] = {
        PIECE(of),    PIECE(tool),      PIECE(command), PIECE(end),  PIECE(status),
        PIECE(error), PIECE(file),      PIECE(policy),  PIECE(torn), PIECE(duration_us),
        PIECE(tier),  PIECE(workspace), PIECE(denials), PIECE(prev), PIECE(pruned),
    };
    struct cursor cursor = { line + 1, line + n };
    struct scan_piece name;
    struct scan_piece value;

    while (take_member(&cursor, &name, &value))
        keep(out, known, COUNT(known), name, value);
    return cursor.at + 1 == cursor.end && *cursor.at == '}';
}

void scan_members(struct scan_piece object, scan_member_fn *take, void *context)
{
    struct cursor cursor = { object.bytes + 1, object.bytes + object.n };
    struct scan_piece name;
    struct scan_piece value;

    while (object.n > 1 && take_member(&cursor, &name, &value))
        take(context, name, value);
}

bool scan_next(struct scan_piece *array, struct scan_piece *object)
{
    struct cursor cursor = { array->bytes, array->bytes + array->n };

    while (cursor.at < cursor.end && *cursor.at != '{')
        cursor.at++;
    if (cursor.at >= cursor.end || !take_nested(&cursor, object))
        return false;
    *array = (struct scan_piece){ cursor.at, (size_t)(cursor.end - cursor.at) };
    return true;
}

void scan_append(struct buffer *out, struct scan_piece piece)
{
    auto_buffer struct buffer plain = { 0 };

    for (size_t i = 0; i < piece.n; i++) {
        char c = piece.bytes[i];

        if (c == '\\' && i + 1 < piece.n && strchr("\"\\/", piece.bytes[i + 1]))
            c = piece.bytes[++i];
        buffer_append_char(&plain, c);
    }
    printable_append(out, plain.data ? plain.data : "", plain.length);
}

/* ---- a file */

void scan_file_done(struct scan_file *file)
{
    close_fd(&file->fd);
    free(file->block);
    file->block = NULL;
    file->size = file->n = 0;
}

/* Hands out the whole lines of the block and keeps what is behind them. */
static bool hand_out(struct scan_file *file, scan_line_fn *take, void *context)
{
    const char *line = file->block;
    const char *end = file->block + file->n;
    bool goes_on = true;

    for (const char *newline; goes_on && (newline = memchr(line, '\n', (size_t)(end - line)));) {
        goes_on = take(context, line, (size_t)(newline - line));
        file->at += newline + 1 - line;
        line = newline + 1;
    }
    file->n = (size_t)(end - line);
    memmove(file->block, line, file->n);
    return goes_on;
}

/* Room for a line that is longer than the block. */
static bool grow(struct scan_file *file)
{
    size_t size = file->size ? 4 * file->size : BLOCK;
    char *block = size <= LINE_MAX_BYTES ? realloc(file->block, size) : NULL;

    if (!block)
        return false;
    file->block = block;
    file->size = size;
    return true;
}

int scan_lines(struct scan_file *file, off_t limit, scan_line_fn *take, void *context,
               coop_error **err)
{
    file->n = 0;
    for (;;) {
        if (file->n == file->size && !grow(file)) {
            if (!take(context, file->block, file->n)) /* no line of ours is so long */
                return 1;
            file->at += (off_t)file->n;
            file->n = 0;
        }
        off_t from = file->at + (off_t)file->n;
        size_t room = file->size - file->n;
        if (limit >= 0 && (off_t)room > limit - from)
            room = limit > from ? (size_t)(limit - from) : 0;
        ssize_t n = pread(file->fd, file->block + file->n, room, from);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return fail(err, errno, "read the audit log");
        if (n == 0)
            return 0;
        file->n += (size_t)n;
        if (!hand_out(file, take, context))
            return 1;
    }
}

/* ---- all of them */

static int open_file(int dir_fd, const char *name)
{
    return openat(dir_fd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
}

/* Whether a file's first record is older than `since`. */
static bool begins_before(int dir_fd, const char *name, const char *since)
{
    char text[256];
    struct scan_record record;
    auto_close int fd = open_file(dir_fd, name);
    ssize_t n = fd < 0 ? -1 : pread(fd, text, sizeof text, 0);

    if (n <= 0)
        return false;
    (void)scan_record(text, (size_t)n, &record); /* it is cut off; the time is there all the same */
    return record.time.n == CHAIN_TIME_SIZE - 1 &&
           memcmp(record.time.bytes, since, CHAIN_TIME_SIZE - 1) < 0;
}

static void name_of(const struct audit_files *files, size_t i, char out[CHAIN_NAME_SIZE])
{
    if (i < files->n)
        chain_file_name(files->first[i], out);
    else
        memcpy(out, CHAIN_FILE, sizeof CHAIN_FILE);
}

/* A file can be left out if the next one begins before what is wanted. */
static size_t first_wanted(const struct scan_log *log, const struct audit_files *files)
{
    char name[CHAIN_NAME_SIZE];
    size_t first = 0;

    while (first < files->n && files->first[first] <= log->after)
        first++;
    for (size_t i = files->n; log->since && i > first; i--) {
        name_of(files, i, name);
        if (begins_before(log->dir_fd, name, log->since))
            return i;
    }
    return first;
}

int scan_log(const struct scan_log *log, struct scan_file *current, coop_error **err)
{
    auto_audit_files struct audit_files files = { 0 };
    int r = audit_files_list(log->dir_fd, &files, err);

    for (size_t i = r < 0 ? 0 : first_wanted(log, &files); r == 0 && i <= files.n; i++) {
        char name[CHAIN_NAME_SIZE];

        name_of(&files, i, name);
        scan_file_done(current);
        *current = (struct scan_file){ .fd = open_file(log->dir_fd, name) };
        if (current->fd < 0 && errno == ENOENT)
            continue; /* it was moved or removed just now */
        if (current->fd < 0)
            return fail(err, errno, "open '%s'", name);
        if (!log->begin || log->begin(log->context, name))
            r = scan_lines(current, -1, log->take, log->context, err);
    }
    return r;
}
