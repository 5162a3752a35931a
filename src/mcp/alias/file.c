/*
 * file.c - aliases that read files
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/base64.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "mcp/alias/private.h"
#include "mcp/file_uri.h"
#include "tools/path/place.h"

const char *alias_text(const struct alias_call *call, const char *name)
{
    const struct json_value *value = json_get(call->arguments, name);

    return value && value->kind == JSON_TEXT ? value->text : "";
}

char *alias_path(const char *path)
{
    const char *home = getenv("HOME");
    struct buffer out = { 0 };

    if (path[0] == '~' && (path[1] == '/' || path[1] == '\0') && home && home[0] == '/') {
        buffer_append_string(&out, home);
        path++;
    }
    buffer_append_string(&out, path);
    return buffer_take_string(&out);
}

static int open_file(const struct alias_call *call, const char *path, struct place *place,
                     coop_error **err)
{
    auto_free char *expanded = alias_path(path);

    if (!expanded)
        return fail_no_memory(err);
    int r = place_find(call->toolset->places, expanded, PLACE_READ, place, err);
    if (r < 0)
        return r;
    if (S_ISDIR(place->st.st_mode))
        return place_fail(err, EISDIR, place->path, "is a directory");
    return place_open(place, O_RDONLY, 0, err);
}

static int read_all(int fd, const struct place *place, struct buffer *out, coop_error **err)
{
    size_t begin = out->length;
    ssize_t n;

    do {
        size_t room = 64 * 1024;

        if (out->length == begin && place->st.st_size > 0 && place->st.st_size < ALIAS_FILE_MAX)
            room = (size_t)place->st.st_size + 1;
        if (!buffer_reserve(out, room))
            return fail_no_memory(err);
        n = read(fd, out->data + out->length, room);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return fail(err, errno, "read '%s'", place->path);
        out->length += (size_t)n;
        if (out->length - begin > ALIAS_FILE_MAX)
            return place_fail(err, EFBIG, place->path,
                              "is larger than %u MiB: read a part with 'head' or 'tail'",
                              ALIAS_FILE_MAX / (1024 * 1024));
    } while (n != 0);
    return 0;
}

int alias_read(const struct alias_call *call, const char *path, struct buffer *out,
               coop_error **err)
{
    auto_place struct place place = { .fd = -1 };
    auto_close int fd = open_file(call, path, &place, err);

    return fd < 0 ? fd : read_all(fd, &place, out, err);
}

/* ---- parts of a file, by lines */

/* As many lines from the beginning; the last one's newline is not part of it. */
static int read_first(int fd, const struct place *place, double n_lines, struct buffer *out,
                      coop_error **err)
{
    double found = 0;

    for (;;) {
        if (!buffer_reserve(out, 16384))
            return fail_no_memory(err);
        ssize_t n = read(fd, out->data + out->length, 16384);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return fail(err, errno, "read '%s'", place->path);
        if (n == 0) {
            if (out->length > 0 && out->data[out->length - 1] == '\n')
                out->length--;
            return 0;
        }
        for (ssize_t i = 0; i < n; i++)
            if (out->data[out->length + (size_t)i] == '\n' && ++found >= n_lines) {
                out->length += (size_t)i;
                return 0;
            }
        out->length += (size_t)n;
        if (out->length > ALIAS_FILE_MAX)
            return place_fail(err, EFBIG, place->path, "has lines that are too long");
    }
}

/* CR LF becomes LF, as that server does it here. */
static void drop_carriage_returns(struct buffer *text)
{
    size_t to = 0;

    for (size_t i = 0; i < text->length; i++)
        if (text->data[i] != '\r' || i + 1 == text->length || text->data[i + 1] != '\n')
            text->data[to++] = text->data[i];
    text->length = to;
}

/* As many from the end. What stands behind the last newline is a line, though it be empty. */
static int read_last(int fd, const struct place *place, double n_lines, struct buffer *out,
                     coop_error **err)
{
    off_t at = place->st.st_size;
    double found = 0;
    auto_free char *piece = malloc(65536);

    if (!piece)
        return fail_no_memory(err);
    while (at > 0 && found < n_lines) { /* find where they begin */
        size_t room = at < 65536 ? (size_t)at : 65536;
        ssize_t n = pread(fd, piece, room, at - (off_t)room);

        if (n != (ssize_t)room)
            return n < 0 ? fail(err, errno, "read '%s'", place->path)
                         : place_fail(err, EAGAIN, place->path, "was truncated while it was read");
        at -= (off_t)room;
        for (size_t i = room; i > 0 && found < n_lines; i--)
            if (piece[i - 1] == '\n' && ++found >= n_lines)
                at += (off_t)i;
        if (place->st.st_size - at > ALIAS_FILE_MAX)
            return place_fail(err, EFBIG, place->path, "has lines that are too long");
    }
    if (lseek(fd, at, SEEK_SET) < 0)
        return fail(err, errno, "read '%s'", place->path);
    int r = read_all(fd, place, out, err);
    drop_carriage_returns(out);
    return r;
}

/* 0: not given, as that server sees it. */
static double line_count(const struct alias_call *call, const char *name)
{
    const struct json_value *value = json_get(call->arguments, name);

    return value && value->kind == JSON_NUMBER ? strtod(value->text, NULL) : 0;
}

int alias_read_text(struct alias_call *call, coop_error **err)
{
    double head = line_count(call, "head");
    double tail = line_count(call, "tail");
    auto_place struct place place = { .fd = -1 };

    if (head != 0 && tail != 0)
        return fail_kind(err, COOP_ERROR_BAD_POLICY, EINVAL,
                         "Cannot specify both head and tail parameters simultaneously");
    if (head < 0 || tail < 0)
        return fail_kind(err, COOP_ERROR_BAD_POLICY, EINVAL, "head and tail must not be negative");
    auto_close int fd = open_file(call, alias_text(call, "path"), &place, err);
    if (fd < 0)
        return fd;
    if (tail > 0)
        return read_last(fd, &place, tail, &call->text, err);
    return head > 0 ? read_first(fd, &place, head, &call->text, err)
                    : read_all(fd, &place, &call->text, err);
}

int alias_read_several(struct alias_call *call, coop_error **err)
{
    const struct json_value *paths = json_get(call->arguments, "paths");

    for (const struct json_value *path = paths ? paths->first : NULL; path; path = path->next) {
        auto_error coop_error *why = NULL;
        auto_buffer struct buffer content = { 0 };

        if (path != paths->first)
            buffer_append_string(&call->text, "\n---\n");
        int r = alias_read(call, path->text, &content, &why);
        if (r == -ENOMEM || call->text.length + content.length > ALIAS_FILE_MAX)
            return r == -ENOMEM
                       ? fail_no_memory(err)
                       : fail_kind(err, COOP_ERROR_BAD_POLICY, EFBIG,
                                   "the files together are too large: read fewer at a time");
        buffer_append_string(&call->text, path->text);
        if (r < 0) {
            buffer_printf(&call->text, ": Error - %s", coop_error_message(why));
        } else {
            buffer_append_string(&call->text, ":\n");
            buffer_append(&call->text, content.data, content.length);
            buffer_append_char(&call->text, '\n');
        }
    }
    return 0;
}

/* By the name, as that server tells it. */
static const char *type_of(const char *path)
{
    static const struct {
        const char *end, *type;
    } types[] = {
        { ".png", "image/png" },     { ".jpg", "image/jpeg" },  { ".jpeg", "image/jpeg" },
        { ".gif", "image/gif" },     { ".webp", "image/webp" }, { ".bmp", "image/bmp" },
        { ".svg", "image/svg+xml" }, { ".mp3", "audio/mpeg" },  { ".wav", "audio/wav" },
        { ".ogg", "audio/ogg" },     { ".flac", "audio/flac" },
    };
    const char *dot = strrchr(path, '.');

    for (size_t i = 0; dot && i < COUNT(types); i++)
        if (strcasecmp(dot, types[i].end) == 0)
            return types[i].type;
    return "application/octet-stream";
}

int alias_read_media(struct alias_call *call, coop_error **err)
{
    auto_place struct place place = { .fd = -1 };
    auto_buffer struct buffer bytes = { 0 };
    auto_close int fd = open_file(call, alias_text(call, "path"), &place, err);
    int r = fd < 0 ? fd : read_all(fd, &place, &bytes, err);

    if (r < 0)
        return r;
    base64_append(&call->data, bytes.data, bytes.length);
    call->mime_type = type_of(place.path);
    file_uri_append(&call->uri, place.path);
    return 0;
}
