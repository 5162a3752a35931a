/*
 * edit_file.c - exact text for other text
 *
 * The edits are made in memory, one after the other, and the file is written once, when all of them
 * fit. Lines of the file may end with a carriage return and those of the model hardly ever do: then
 * the text is meant as the file would have written it.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/diff.h"
#include "base/error.h"
#include "base/json/write.h"
#include "base/media.h"
#include "base/utf8.h"
#include "tools/file/near_match.h"
#include "tools/file/replace.h"
#include "tools/path/place.h"
#include "tools/tool.h"

#define SIZE_MOST ((size_t)32 << 20)
#define TEXT_MOST 50000 /* of the difference, as it is shown */
#define TOLD      10    /* places of a text that is there too often */
#define CONTEXT   3

struct edit {
    size_t number; /* from 1 */
    const char *old_text, *new_text;
    bool replaces_all;
};

/* ---- the file */

static int read_all(const struct place *place, struct buffer *out, coop_error **err)
{
    struct stat st;
    auto_close int fd = place_open(place, O_RDONLY, 0, err);

    if (fd < 0)
        return fd;
    if (fstat(fd, &st) < 0)
        return place_fail(err, errno, place->path, "cannot be read: %s", strerror(errno));
    if ((uint64_t)st.st_size > SIZE_MOST)
        return place_fail(err, EFBIG, place->path,
                          "is larger than 32 MiB: use bash to change it, with 'sed' for example");
    if (!buffer_reserve(out, (size_t)st.st_size + 1))
        return fail_no_memory(err);
    while (out->length < out->capacity - 1) {
        ssize_t n = read(fd, out->data + out->length, out->capacity - 1 - out->length);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return place_fail(err, errno, place->path, "cannot be read: %s", strerror(errno));
        if (n == 0)
            break;
        out->length += (size_t)n;
    }
    out->data[out->length] = '\0';
    if (media_is_binary(out->data, out->length < MEDIA_SAMPLE ? out->length : MEDIA_SAMPLE))
        return place_fail(err, EINVAL, place->path, "is not text: edit_file only changes text");
    return 0;
}

/* ---- line ends */

/* Whether every line of the text ends with a carriage return. */
static bool has_only_crlf(const char *text, size_t n)
{
    const char *end = text + n;
    bool has_any = false;

    for (const char *p = text; (p = memchr(p, '\n', (size_t)(end - p))); p++) {
        if (p == text || p[-1] != '\r')
            return false;
        has_any = true;
    }
    return has_any;
}

static char *with_crlf(const char *text)
{
    auto_buffer struct buffer out = { 0 };

    for (const char *p = text; *p; p++) {
        if (*p == '\n' && (p == text || p[-1] != '\r'))
            buffer_append_char(&out, '\r');
        buffer_append_char(&out, *p);
    }
    return out.length > 0 ? buffer_take_string(&out) : strdup("");
}

/* ---- one edit */

static size_t line_of(const char *text, const char *at)
{
    size_t line = 1;

    for (const char *p = text; (p = memchr(p, '\n', (size_t)(at - p))); p++)
        line++;
    return line;
}

static const char *find(const char *from, const char *end, const char *wanted, size_t n)
{
    return from <= end ? memmem(from, (size_t)(end - from), wanted, n) : NULL;
}

static int fail_absent(const struct place *place, const struct edit *edit,
                       const struct buffer *text, coop_error **err)
{
    auto_buffer struct buffer near = { 0 };

    near_match_append(&near, text->data, text->length, edit->old_text, strlen(edit->old_text));
    if (near.failed)
        return fail_no_memory(err);
    return place_fail(
        err, ENOENT, place->path,
        "does not contain the old_text of edit %zu; nothing was changed%s", edit->number,
        near.length > 0 ? near.data
                        : "; read the file and copy the text exactly, including white space");
}

/* Places are counted as often as the text begins somewhere: one that overlaps itself is unclear too. */
static int fail_often(const struct place *place, const struct edit *edit, const struct buffer *text,
                      const char *wanted, size_t n, coop_error **err)
{
    auto_buffer struct buffer lines = { 0 };
    const char *end = text->data + text->length;
    size_t n_found = 0;

    for (const char *p = text->data; n_found <= TOLD && (p = find(p, end, wanted, n)); p++)
        if (n_found++ < TOLD)
            buffer_printf(&lines, "%s%zu", n_found > 1 ? ", " : "", line_of(text->data, p));
    if (lines.failed)
        return fail_no_memory(err);
    return place_fail(err, EEXIST, place->path,
                      "contains the old_text of edit %zu %s, in lines %s%s; include more of the "
                      "surrounding text to make it unique, or set replace_all. Nothing was changed",
                      edit->number, n_found > TOLD ? "many times" : "more than once", lines.data,
                      n_found > TOLD ? " and others" : "");
}

/* Puts `new_text` for each `wanted`, of which there is one at least. */
static int replace(struct buffer *text, const char *wanted, size_t n, const char *new_text,
                   size_t *n_replaced, coop_error **err)
{
    struct buffer out = { 0 };
    const char *end = text->data + text->length;
    const char *from = text->data;
    size_t n_new = strlen(new_text);

    for (const char *p; (p = find(from, end, wanted, n)); from = p + n) {
        buffer_append(&out, from, (size_t)(p - from));
        buffer_append(&out, new_text, n_new);
        (*n_replaced)++;
        if (out.length > 2 * SIZE_MOST) {
            buffer_done(&out);
            return fail_kind(err, COOP_ERROR_SYSTEM, EFBIG, "the file would become too large");
        }
    }
    buffer_append(&out, from, (size_t)(end - from));
    if (out.failed || !buffer_reserve(&out, 1)) {
        buffer_done(&out);
        return fail_no_memory(err);
    }
    out.data[out.length] = '\0';
    buffer_done(text);
    *text = out;
    return 0;
}

static int apply(const struct place *place, const struct edit *edit, struct buffer *text,
                 size_t *n_replaced, coop_error **err)
{
    bool is_crlf = has_only_crlf(text->data, text->length);
    auto_free char *old_crlf = with_crlf(edit->old_text);
    auto_free char *new_crlf = with_crlf(edit->new_text);
    const char *end = text->data + text->length;
    const char *wanted = edit->old_text;
    const char *new_text = is_crlf ? new_crlf : edit->new_text;

    if (!old_crlf || !new_crlf)
        return fail_no_memory(err);
    if (strcmp(edit->old_text, edit->new_text) == 0)
        return place_fail(err, EINVAL, place->path,
                          "would not change: old_text and new_text of edit %zu are the same",
                          edit->number);
    const char *at = find(text->data, end, wanted, strlen(wanted));
    if (!at) {
        wanted = old_crlf;
        new_text = new_crlf;
        at = find(text->data, end, wanted, strlen(wanted));
    }
    if (!at)
        return fail_absent(place, edit, text, err);
    size_t n = strlen(wanted);
    if (!edit->replaces_all && find(at + 1, end, wanted, n))
        return fail_often(place, edit, text, wanted, n, err);
    return replace(text, wanted, n, new_text, n_replaced, err);
}

/* One edit by itself, as old_string and new_string. */
static int apply_single(struct tool_call *call, const struct place *place, struct buffer *text,
                        size_t *n_replaced, coop_error **err)
{
    const struct edit edit = { .number = 1,
                               .old_text = tool_text(call, "old_string"),
                               .new_text = tool_text(call, "new_string"),
                               .replaces_all = tool_flag(call, "replace_all", false) };

    if (!edit.old_text || !edit.new_text)
        return fail_kind(err, COOP_ERROR_BAD_POLICY, EINVAL,
                         "edit_file: give old_string and new_string, or edits");
    return apply(place, &edit, text, n_replaced, err);
}

static int apply_all(struct tool_call *call, const struct place *place, struct buffer *text,
                     size_t *n_replaced, coop_error **err)
{
    const struct json_value *edits = tool_argument(call, "edits");
    size_t number = 0;
    int r = 0;

    if (!edits)
        return apply_single(call, place, text, n_replaced, err);
    if (tool_argument(call, "old_string") || tool_argument(call, "new_string"))
        return fail_kind(err, COOP_ERROR_BAD_POLICY, EINVAL,
                         "edit_file: give either edits, or old_string and new_string");
    for (const struct json_value *one = edits->first; one && r == 0; one = one->next) {
        const struct json_value *all = json_get(one, "replace_all");
        const struct edit edit = { .number = ++number,
                                   .old_text = json_get(one, "old_text")->text,
                                   .new_text = json_get(one, "new_text")->text,
                                   .replaces_all = all && all->truth };

        if (tool_is_cancelled(call))
            return fail_kind(err, COOP_ERROR_CANCELLED, ECANCELED, "the call was cancelled");
        r = apply(place, &edit, text, n_replaced, err);
    }
    return r;
}

/* ---- the answer */

static int write_diff(const struct place *place, const struct buffer *old, const struct buffer *new,
                      struct buffer *out, coop_error **err)
{
    auto_buffer struct buffer from = { 0 };
    auto_buffer struct buffer to = { 0 };

    buffer_printf(&from, "a%s", place->path);
    buffer_printf(&to, "b%s", place->path);
    if (from.failed || to.failed ||
        !diff_unified(out, from.data, to.data, &(struct diff_text){ old->data, old->length },
                      &(struct diff_text){ new->data, new->length }, CONTEXT))
        return fail_no_memory(err);
    return 0;
}

static void write_reply(struct tool_call *call, const struct place *place, size_t n_replaced,
                        bool is_dry, const struct buffer *difference)
{
    struct buffer *text = &call->reply->text;
    struct json_writer json;
    size_t n = difference->length;

    if (n > TEXT_MOST)
        n = utf8_valid_prefix(difference->data, TEXT_MOST) > TEXT_MOST - 4
                ? utf8_valid_prefix(difference->data, TEXT_MOST)
                : TEXT_MOST;
    if (is_dry)
        buffer_append_string(text, "[dry run: nothing was written]\n");
    if (n > 0)
        buffer_append(text, difference->data, n);
    if (n < difference->length)
        buffer_printf(text, "\n[%zu of %zu bytes of the diff are shown]\n", n, difference->length);
    if (n == 0)
        buffer_append_string(text, "[no differences]\n");
    json_write_init(&json, &call->reply->structured, false);
    json_write_object_begin(&json);
    json_write_key(&json, "path");
    json_write_text(&json, place->path);
    json_write_key(&json, "replacements");
    json_write_uint(&json, n_replaced);
    json_write_key(&json, "changed");
    json_write_bool(&json, !is_dry && difference->length > 0);
    json_write_key(&json, "diff");
    json_write_string(&json, n > 0 ? difference->data : "", n);
    json_write_object_end(&json);
    json_write_finish(&json);
}

int tool_edit_file(struct tool_call *call, coop_error **err)
{
    bool is_dry = tool_flag(call, "dry_run", false);
    auto_place struct place place;
    auto_buffer struct buffer old = { 0 };
    auto_buffer struct buffer new = { 0 };
    auto_buffer struct buffer difference = { 0 };
    size_t n_replaced = 0;
    int r = place_find(call->places, tool_text(call, "path"), PLACE_CHANGE, &place, err);

    if (r == 0 && !place.exists)
        r = place_fail(err, ENOENT, place.path, "does not exist: use write_file to create it");
    if (r == 0)
        r = read_all(&place, &old, err);
    if (r < 0)
        return r;
    buffer_append(&new, old.data, old.length);
    if (new.failed || !buffer_reserve(&new, 1))
        return fail_no_memory(err);
    new.data[new.length] = '\0';
    r = apply_all(call, &place, &new, &n_replaced, err);
    if (r == 0)
        r = write_diff(&place, &old, &new, &difference, err);
    if (r == 0 && !is_dry && difference.length > 0)
        r = file_replace(&place, new.data, new.length, err);
    if (r == 0)
        write_reply(call, &place, n_replaced, is_dry, &difference);
    return r;
}
