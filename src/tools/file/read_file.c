/*
 * read_file.c - a file, as much of it as a model can take in
 *
 * Text from a line on, until enough lines or bytes are shown: no more of the file is read than that
 * takes. Lines before the first are counted, not kept, and holes are passed over. Pictures and sounds
 * are handed over whole, anything else that is not text is described.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/base64.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "base/json/write.h"
#include "base/media.h"
#include "base/utf8.h"
#include "tools/path/place.h"
#include "tools/tool.h"

#define LINES_MAX 2000
#define BYTES_MAX 50000
#define MEDIA_MAX ((off_t)5 << 20)
#define CHUNK     ((size_t)256 << 10)

struct reading {
    struct tool_call *call;
    const struct place *place;
    int fd;
    off_t size;
    char *chunk; /* CHUNK bytes */
    off_t at;    /* where in the file the next chunk begins */
    int64_t first_line, n_wanted;
    int64_t line;       /* that is read now, from 1 */
    int64_t n_shown;    /* lines that were begun */
    bool is_whole_line; /* the last one shown ends with a newline, or the file does */
    bool is_line_cut;
    bool is_at_end;
    bool has_numbers; /* before each line */
};

static ssize_t read_at(const struct reading *reading, off_t at, char *to, size_t n)
{
    ssize_t got;

    do
        got = pread(reading->fd, to, n, at);
    while (got < 0 && errno == EINTR);
    return got;
}

static int fail_read(const struct place *place, int errnum, coop_error **err)
{
    return place_fail(err, errnum, place->path, "cannot be read: %s", strerror(errnum));
}

/* ---- for programs */

static void write_facts(const struct reading *reading, const char *kind, const char *mime_type)
{
    struct json_writer json;
    bool is_text = strcmp(kind, "text") == 0;

    json_write_init(&json, &reading->call->reply->structured, false);
    json_write_object_begin(&json);
    json_write_key(&json, "path");
    json_write_text(&json, reading->place->path);
    json_write_key(&json, "kind");
    json_write_text(&json, kind);
    json_write_key(&json, "size");
    json_write_int(&json, reading->size);
    if (is_text) {
        json_write_key(&json, "shown_from");
        json_write_int(&json, reading->n_shown > 0 ? reading->first_line : 0);
        json_write_key(&json, "shown_to");
        json_write_int(&json,
                       reading->n_shown > 0 ? reading->first_line + reading->n_shown - 1 : 0);
        json_write_key(&json, "truncated");
        json_write_bool(&json, !reading->is_at_end);
    }
    if (is_text && reading->is_at_end) {
        json_write_key(&json, "total_lines");
        json_write_int(&json, reading->line - 1);
    }
    if (mime_type) {
        json_write_key(&json, "mime_type");
        json_write_text(&json, mime_type);
    }
    json_write_object_end(&json);
    json_write_finish(&json);
}

/* ---- what is not text */

static int show_media(struct reading *reading, const char *mime_type, coop_error **err)
{
    struct tool_reply *reply = reading->call->reply;
    size_t n = (size_t)reading->size;
    size_t done = 0;
    auto_free char *bytes = malloc(n + 1);

    if (!bytes)
        return fail_no_memory(err);
    while (done < n) {
        ssize_t got = read_at(reading, (off_t)done, bytes + done, n - done);

        if (got < 0)
            return fail_read(reading->place, errno, err);
        if (got == 0)
            break;
        done += (size_t)got;
    }
    base64_append(&reply->data, bytes, done);
    reply->mime_type = mime_type;
    buffer_printf(&reply->text, "%s: %s, %zu bytes.", reading->place->path, mime_type, done);
    return reply->data.failed ? fail_no_memory(err) : 0;
}

static int describe(struct reading *reading, const char *sample, size_t n, coop_error **err)
{
    struct buffer *text = &reading->call->reply->text;
    const char *mime_type = media_type(sample, n);
    const char *name = media_name(sample, n);

    if (mime_type && reading->size <= MEDIA_MAX) {
        write_facts(reading, strncmp(mime_type, "image/", 6) == 0 ? "image" : "audio", mime_type);
        return show_media(reading, mime_type, err);
    }
    write_facts(reading, "binary", mime_type);
    buffer_printf(text, "%s is not text: %s, %lld bytes.", reading->place->path,
                  name ? name : "binary data", (long long)reading->size);
    buffer_append_string(text, mime_type ? " It is too large to be shown (more than 5 MiB)."
                                         : " Use bash to look inside, with 'xxd' or 'strings' for "
                                           "example.");
    return 0;
}

/* ---- text */

/* Behind a chunk of zeros there may be a hole: no line ends in it. */
static void pass_hole(struct reading *reading)
{
    off_t data = lseek(reading->fd, reading->at, SEEK_DATA);

    if (data < 0 && errno == ENXIO)
        reading->at = reading->size;
    else if (data > reading->at)
        reading->at = data;
}

static bool is_zero(const char *bytes, size_t n)
{
    return n > 0 && bytes[0] == '\0' && memcmp(bytes, bytes + 1, n - 1) == 0;
}

/* Counts lines until the first that is wanted. */
static int skip_lines(struct reading *reading, coop_error **err)
{
    while (reading->line < reading->first_line) {
        ssize_t n = read_at(reading, reading->at, reading->chunk, CHUNK);

        if (n < 0)
            return fail_read(reading->place, errno, err);
        if (n == 0)
            return 0;
        if (tool_is_cancelled(reading->call))
            return fail_kind(err, COOP_ERROR_CANCELLED, ECANCELED, "the call was cancelled");
        const char *end = reading->chunk + n;
        const char *p = reading->chunk;
        while (reading->line < reading->first_line && (p = memchr(p, '\n', (size_t)(end - p)))) {
            p++;
            reading->line++;
        }
        reading->is_whole_line = p != NULL || reading->chunk[n - 1] == '\n';
        reading->at += p ? p - reading->chunk : n;
        if (!p && is_zero(reading->chunk, (size_t)n))
            pass_hole(reading);
    }
    return 0;
}

/* What stands before the line that begins now. */
static size_t line_number(const struct reading *reading, char out[32])
{
    if (!reading->has_numbers || !reading->is_whole_line)
        return 0;
    return (size_t)snprintf(out, 32, "%6lld\t", (long long)reading->line);
}

/* As much of the chunk as still may be shown. False: that was all that may. */
static bool show(struct reading *reading, const char *bytes, size_t n)
{
    struct buffer *text = &reading->call->reply->text;
    const char *end = bytes + n;

    for (const char *p = bytes; p < end;) {
        const char *newline = memchr(p, '\n', (size_t)(end - p));
        size_t length = (size_t)((newline ? newline + 1 : end) - p);
        char number[32];

        if (reading->is_whole_line && reading->n_shown == reading->n_wanted)
            return false;
        size_t n_number = line_number(reading, number);
        if (text->length + n_number + length <= BYTES_MAX || reading->n_shown == 0)
            buffer_append(text, number, n_number);
        if (text->length + length > BYTES_MAX) {
            size_t room = BYTES_MAX - text->length;

            /* A line that does not fit is left for the next time, unless it is the only one. */
            if (reading->is_whole_line && reading->n_shown > 0)
                return false;
            if (reading->n_shown <= 1) {
                reading->n_shown = 1;
                buffer_append(text, p,
                              utf8_valid_prefix(p, room) > room - 4 ? utf8_valid_prefix(p, room)
                                                                    : room);
            }
            reading->is_line_cut = true;
            return false;
        }
        reading->n_shown += reading->is_whole_line;
        buffer_append(text, p, length);
        reading->is_whole_line = newline != NULL;
        reading->line += newline != NULL;
        p += length;
    }
    return true;
}

/* A line that was begun in one chunk and does not fit with the next is taken back. */
static void drop_begun_line(struct reading *reading)
{
    struct buffer *text = &reading->call->reply->text;
    const char *newline = text->length > 0 ? memrchr(text->data, '\n', text->length) : NULL;

    if (!newline || reading->n_shown <= 1)
        return;
    text->length = (size_t)(newline + 1 - text->data);
    text->data[text->length] = '\0';
    reading->n_shown--;
    reading->is_line_cut = false;
}

static int show_lines(struct reading *reading, coop_error **err)
{
    bool may_more = true;

    while (may_more) {
        ssize_t n = read_at(reading, reading->at, reading->chunk, BYTES_MAX + 1);

        if (n < 0)
            return fail_read(reading->place, errno, err);
        if (n == 0) {
            reading->is_at_end = true;
            reading->line += !reading->is_whole_line;
            return 0;
        }
        may_more = show(reading, reading->chunk, (size_t)n);
        reading->at += n;
    }
    if (reading->is_line_cut)
        drop_begun_line(reading);
    return 0;
}

static void add_note(struct reading *reading)
{
    struct buffer *text = &reading->call->reply->text;
    int64_t last = reading->first_line + reading->n_shown - 1;

    if (reading->is_at_end && reading->n_shown > 0)
        return;
    if (reading->is_at_end) {
        buffer_append_string(text, "[the file is empty]");
        return;
    }
    if (text->length > 0 && text->data[text->length - 1] != '\n')
        buffer_append_char(text, '\n');
    if (reading->is_line_cut)
        buffer_printf(text,
                      "[only the beginning of line %lld is shown: it is longer than %d bytes; use "
                      "bash or grep for the rest of it, or continue with offset %lld]",
                      (long long)last, BYTES_MAX, (long long)last + 1);
    else
        buffer_printf(text,
                      "[lines %lld to %lld of a file of %lld bytes; continue with offset %lld]",
                      (long long)reading->first_line, (long long)last, (long long)reading->size,
                      (long long)last + 1);
}

static int show_text(struct reading *reading, coop_error **err)
{
    int r = skip_lines(reading, err);

    if (r == 0)
        r = show_lines(reading, err);
    if (r < 0)
        return r;
    if (reading->is_at_end && reading->n_shown == 0 && reading->first_line > 1)
        return place_fail(err, EINVAL, reading->place->path,
                          "has only %lld lines: offset %lld is past its end",
                          (long long)reading->line - 1, (long long)reading->first_line);
    write_facts(reading, "text", NULL);
    add_note(reading);
    return 0;
}

int tool_read_file(struct tool_call *call, coop_error **err)
{
    auto_place struct place place;
    struct stat st;
    int64_t limit = tool_number(call, "limit", LINES_MAX);
    int r = place_find(call->places, tool_text(call, "path"), PLACE_READ, &place, err);

    if (r < 0)
        return r;
    auto_close int fd = place_open(&place, O_RDONLY, 0, err);
    if (fd < 0)
        return fd;
    if (fstat(fd, &st) < 0)
        return fail_read(&place, errno, err);
    auto_free char *chunk = malloc(CHUNK);
    if (!chunk)
        return fail_no_memory(err);
    struct reading reading = { .call = call,
                               .place = &place,
                               .fd = fd,
                               .size = st.st_size,
                               .chunk = chunk,
                               .first_line = tool_number(call, "offset", 1),
                               .n_wanted = limit < LINES_MAX ? limit : LINES_MAX,
                               .line = 1,
                               .has_numbers = tool_flag(call, "line_numbers", false),
                               .is_whole_line = true };
    ssize_t n = read_at(&reading, 0, chunk, MEDIA_SAMPLE);
    if (n < 0)
        return fail_read(&place, errno, err);
    if (media_type(chunk, (size_t)n) || media_is_binary(chunk, (size_t)n))
        return describe(&reading, chunk, (size_t)n, err);
    return show_text(&reading, err);
}
