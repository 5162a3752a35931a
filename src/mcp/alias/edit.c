/*
 * edit.c - edit_file as the reference filesystem server does it
 *
 * Each edit replaces the first place where its old text stands; failing that, the first lines that are
 * the same but for white space at their ends, and then the new lines get the indentation that was
 * found. Unlike there, a file whose lines end with CR LF keeps them.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/diff.h"
#include "base/error.h"
#include "base/json/write.h"
#include "mcp/alias/private.h"

struct span {
    const char *text;
    size_t n;
};

static void append_span(struct buffer *out, struct span span)
{
    buffer_append(out, span.text, span.n);
}

static bool is_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static struct span trim_start(struct span span)
{
    while (span.n > 0 && is_space(*span.text)) {
        span.text++;
        span.n--;
    }
    return span;
}

static struct span trim(struct span span)
{
    span = trim_start(span);
    while (span.n > 0 && is_space(span.text[span.n - 1]))
        span.n--;
    return span;
}

static bool is_same(struct span a, struct span b)
{
    return a.n == b.n && (a.n == 0 || memcmp(a.text, b.text, a.n) == 0);
}

/* The line at the beginning, without its newline; *rest is what follows, text NULL behind the last. */
static struct span first_line(struct span text, struct span *rest)
{
    const char *newline = text.n > 0 ? memchr(text.text, '\n', text.n) : NULL;

    if (!newline) {
        *rest = (struct span){ NULL, 0 };
        return text;
    }
    size_t n = (size_t)(newline - text.text);
    *rest = (struct span){ newline + 1, text.n - n - 1 };
    return (struct span){ text.text, n };
}

/* Whether the text begins with these lines but for white space; *n is how many bytes they take. */
static bool begins_alike(struct span text, struct span lines, size_t *n)
{
    struct span at = text;

    while (lines.text) {
        if (!at.text)
            return false;
        struct span here = first_line(at, &at);
        struct span wanted = first_line(lines, &lines);

        if (!is_same(trim(here), trim(wanted)))
            return false;
        *n = (size_t)(here.text + here.n - text.text);
    }
    return true;
}

static struct span indentation(struct span line)
{
    return (struct span){ line.text, line.n - trim_start(line).n };
}

/* The new lines, indented as the old ones were found. */
static void append_indented(struct buffer *out, struct span indent, struct span old,
                            struct span new)
{
    for (bool is_first = true; new.text; is_first = false) {
        struct span line = first_line(new, &new);
        struct span before = old.text ? first_line(old, &old) : (struct span){ NULL, 0 };
        size_t old_indent = indentation(before).n;
        size_t new_indent = indentation(line).n;

        if (!is_first)
            buffer_append_char(out, '\n');
        if (is_first || (old_indent > 0 && new_indent > 0)) {
            append_span(out, indent);
            for (size_t i = old_indent; !is_first && i < new_indent; i++)
                buffer_append_char(out, ' ');
            append_span(out, trim_start(line));
        } else {
            append_span(out, line);
        }
    }
}

static bool replace_alike(struct buffer *text, struct span old, struct span new)
{
    struct span rest = { text->data, text->length };

    while (rest.text) {
        struct span at = rest;
        size_t n = 0;
        struct span line = first_line(rest, &rest);

        if (!begins_alike(at, old, &n))
            continue;
        struct buffer changed = { 0 };
        size_t begin = (size_t)(at.text - text->data);
        buffer_append(&changed, text->data, begin);
        append_indented(&changed, indentation(line), old, new);
        buffer_append(&changed, at.text + n, text->length - begin - n);
        buffer_done(text);
        *text = changed;
        return true;
    }
    return false;
}

static bool replace_exact(struct buffer *text, struct span old, struct span new)
{
    const char *at = old.n == 0 ? text->data : memmem(text->data, text->length, old.text, old.n);

    if (!at)
        return false;
    struct buffer changed = { 0 };
    size_t begin = (size_t)(at - text->data);
    buffer_append(&changed, text->data, begin);
    append_span(&changed, new);
    buffer_append(&changed, at + old.n, text->length - begin - old.n);
    buffer_done(text);
    *text = changed;
    return true;
}

/* CR LF becomes LF; true: every line had it. */
static bool normalize(struct buffer *text)
{
    size_t n_pairs = 0;
    size_t n_lines = 0;
    size_t to = 0;

    for (size_t i = 0; i < text->length; i++) {
        bool is_pair = text->data[i] == '\r' && i + 1 < text->length && text->data[i + 1] == '\n';

        n_pairs += is_pair;
        n_lines += text->data[i] == '\n';
        if (!is_pair)
            text->data[to++] = text->data[i];
    }
    text->length = to;
    return n_pairs > 0 && n_pairs == n_lines;
}

static int apply(struct buffer *text, const struct json_value *edits, coop_error **err)
{
    for (const struct json_value *edit = edits->first; edit; edit = edit->next) {
        auto_buffer struct buffer old = { 0 };
        auto_buffer struct buffer new = { 0 };

        buffer_append_string(&old, json_get(edit, "oldText")->text);
        buffer_append_string(&new, json_get(edit, "newText")->text);
        (void)normalize(&old);
        (void)normalize(&new);
        if (old.failed || new.failed)
            return fail_no_memory(err);
        struct span from = { old.data, old.length };
        struct span to = { new.data, new.length };
        if (!replace_exact(text, from, to) && !replace_alike(text, from, to))
            return fail_kind(err, COOP_ERROR_BAD_POLICY, ENOENT,
                             "Could not find exact match for edit:\n%s",
                             json_get(edit, "oldText")->text);
        if (text->failed)
            return fail_no_memory(err);
    }
    return 0;
}

/* As the npm package 'diff' prints it, in a fence that nothing in it closes. */
static void print_diff(struct buffer *out, const char *path, const struct buffer *old,
                       const struct buffer *new)
{
    auto_buffer struct buffer diff = { 0 };
    auto_buffer struct buffer before = { 0 };
    auto_buffer struct buffer after = { 0 };
    char fence[32] = "```";

    buffer_printf(&before, "%s\toriginal", path);
    buffer_printf(&after, "%s\tmodified", path);
    buffer_printf(&diff,
                  "Index: %s\n"
                  "===================================================================\n",
                  path);
    size_t n = diff.length;
    if (before.data && after.data)
        (void)diff_unified(&diff, before.data, after.data,
                           &(struct diff_text){ old->data, old->length },
                           &(struct diff_text){ new->data, new->length }, 4);
    if (diff.length == n)
        buffer_printf(&diff, "--- %s\n+++ %s\n", before.data, after.data);
    while (!diff.failed && strlen(fence) < sizeof fence - 1 && strstr(diff.data, fence))
        (void)strcat(fence, "`");
    buffer_printf(out, "%sdiff\n", fence);
    buffer_append(out, diff.data, diff.length);
    buffer_printf(out, "%s\n\n", fence);
}

static int write_back(const struct alias_call *call, const char *path, const struct buffer *text,
                      bool has_pairs, coop_error **err)
{
    auto_buffer struct buffer content = { 0 };
    auto_buffer struct buffer arguments = { 0 };
    struct json_writer json;

    for (size_t i = 0; i < text->length; i++) {
        if (has_pairs && text->data[i] == '\n')
            buffer_append_char(&content, '\r');
        buffer_append_char(&content, text->data[i]);
    }
    json_write_init(&json, &arguments, false);
    json_write_object_begin(&json);
    json_write_key(&json, "path");
    json_write_text(&json, path);
    json_write_key(&json, "content");
    json_write_string(&json, content.data, content.length);
    json_write_object_end(&json);
    json_write_finish(&json);
    return content.failed ? fail_no_memory(err)
                          : alias_execute(call, "write_file", &arguments, NULL, err);
}

int alias_edit(struct alias_call *call, coop_error **err)
{
    const struct json_value *dry = json_get(call->arguments, "dryRun");
    auto_free char *path = alias_path(alias_text(call, "path"));
    auto_buffer struct buffer old = { 0 };
    auto_buffer struct buffer new = { 0 };

    if (!path)
        return fail_no_memory(err);
    int r = alias_read(call, path, &old, err);
    if (r < 0)
        return r;
    bool has_pairs = normalize(&old);
    buffer_append(&new, old.data ? old.data : "", old.length);
    buffer_reserve(&new, 1);
    r = apply(&new, json_get(call->arguments, "edits"), err);
    if (r == 0 && !(dry && dry->truth))
        r = write_back(call, path, &new, has_pairs, err);
    if (r == 0)
        print_diff(&call->text, path, &old, &new);
    return r;
}
