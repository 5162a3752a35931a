#include "name_filter.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "base/find_bytes.h"
#include "glob/glob.h"

#define BRACES_MAX 64

struct name_filter {
    struct glob *globs[NAME_FILTER_MAX];
    bool takes_directories[NAME_FILTER_MAX];
    size_t n;
};

/* ---- braces */

/* The end of what begins at `at`: an escape, a class, or one character. */
static const char *skip(const char *at)
{
    if (*at == '\\' && at[1])
        return at + 2;
    if (*at != '[')
        return at + 1;
    const char *end = at + 1;
    end += *end == '!' || *end == '^';
    end += *end == ']';
    while (*end && *end != ']' && *end != '/')
        end += *end == '\\' && end[1] ? 2 : 1;
    return *end == ']' ? end + 1 : at + 1;
}

/* The '}' that belongs to the '{', if there is a ',' between them; NULL: they are characters. */
static const char *brace_end(const char *open)
{
    unsigned depth = 0;
    bool has_comma = false;

    for (const char *at = open; *at; at = skip(at)) {
        if (*at == '{')
            depth++;
        else if (*at == ',' && depth == 1)
            has_comma = true;
        else if (*at == '}' && --depth == 0)
            return has_comma ? at : NULL;
    }
    return NULL;
}

struct expansion {
    char *texts[NAME_FILTER_MAX];
    size_t n;
};

static void expansion_done(struct expansion *expansion)
{
    while (expansion->n > 0)
        free(expansion->texts[--expansion->n]);
}
#define auto_expansion __attribute__((cleanup(expansion_done)))

/* Adds prefix, one alternative, and what is behind the braces. */
static int add_alternative(struct expansion *expansion, const char *text, const char *open,
                           const char *from, const char *to, const char *close, coop_error **err)
{
    struct buffer one = { 0 };

    if (expansion->n == NAME_FILTER_MAX)
        return fail_kind(err, COOP_ERROR_BAD_POLICY, EINVAL,
                         "the braces expand to more than %d patterns: use fewer alternatives",
                         NAME_FILTER_MAX);
    buffer_append(&one, text, (size_t)(open - text));
    buffer_append(&one, from, (size_t)(to - from));
    buffer_append_string(&one, close + 1);
    char *made = buffer_take_string(&one);
    if (!made)
        return fail_no_memory(err);
    expansion->texts[expansion->n++] = made;
    return 0;
}

/* Replaces text number i by what its first braces make of it; 0: it has none, 1: done. */
static int expand_one(struct expansion *expansion, size_t i, coop_error **err)
{
    const char *close = NULL;
    const char *open = expansion->texts[i];

    for (; *open && !close; open = close ? open : skip(open))
        close = *open == '{' ? brace_end(open) : NULL;
    if (!close)
        return 0;
    auto_free char *text = expansion->texts[i];
    expansion->texts[i] = expansion->texts[--expansion->n];
    unsigned depth = 0;
    const char *from = open + 1;
    for (const char *at = from; at <= close; at = at == close ? at + 1 : skip(at)) {
        if ((*at == ',' && depth == 0) || at == close) {
            int r = add_alternative(expansion, text, open, from, at, close, err);
            if (r < 0)
                return r;
            from = at + 1;
        }
        depth += *at == '{';
        depth -= *at == '}' && at < close;
    }
    return 1;
}

static int expand(struct expansion *expansion, coop_error **err)
{
    for (size_t i = 0; i < expansion->n;) {
        int r = expand_one(expansion, i, err);

        if (r < 0)
            return r;
        i += r == 0;
    }
    return 0;
}

/* ---- patterns */

static bool ends_in_plain_name(const char *pattern)
{
    const char *slash = strrchr(pattern, '/');
    const char *last = slash ? slash + 1 : pattern;

    return *last == '\0' || strpbrk(last, "*?[") == NULL;
}

static int add_pattern(struct name_filter *filter, const char *text, coop_error **err)
{
    auto_findings struct findings findings = { 0 };
    auto_buffer struct buffer pattern = { 0 };
    size_t n = strlen(text);

    const char *slash = memchr(text, '/', n);
    bool is_name = !slash || slash == text + n - 1;

    while (strncmp(text, "./", 2) == 0) {
        text += 2;
        n -= 2;
    }
    buffer_append_string(&pattern, is_name ? "**/" : "");
    buffer_append(&pattern, text, n);
    if (pattern.failed)
        return fail_no_memory(err);
    struct glob *glob =
        glob_new(pattern.data, pattern.length, false, (struct origin){ 0 }, &findings);
    if (!glob && findings.n > 0)
        return fail_kind(err, COOP_ERROR_BAD_POLICY, EINVAL, "%s%s%s", findings.items[0].message,
                         findings.items[0].fix ? ": " : "",
                         findings.items[0].fix ? findings.items[0].fix : "");
    if (!glob)
        return fail_no_memory(err);
    filter->takes_directories[filter->n] = ends_in_plain_name(text);
    filter->globs[filter->n++] = glob;
    return 0;
}

int name_filter_new(const char *pattern, struct name_filter **out, coop_error **err)
{
    auto_expansion struct expansion expansion = { 0 };
    struct name_filter *filter = calloc(1, sizeof *filter);
    int r = 0;

    if (!filter)
        return fail_no_memory(err);
    if (count_bytes(pattern, strlen(pattern), '{') > BRACES_MAX)
        r = fail_kind(err, COOP_ERROR_BAD_POLICY, EINVAL,
                      "the pattern has more than %d '{': use fewer alternatives", BRACES_MAX);
    if (r == 0) {
        expansion.texts[0] = strdup(pattern);
        expansion.n = expansion.texts[0] != NULL;
        if (expansion.n == 0)
            r = fail_no_memory(err);
    }
    if (r == 0)
        r = expand(&expansion, err);
    for (size_t i = 0; i < expansion.n && r == 0; i++)
        r = add_pattern(filter, expansion.texts[i], err);
    if (r < 0) {
        name_filter_free(filter);
        return r;
    }
    *out = filter;
    return 0;
}

void name_filter_free(struct name_filter *filter)
{
    if (!filter)
        return;
    for (size_t i = 0; i < filter->n; i++)
        glob_free(filter->globs[i]);
    free(filter);
}

bool name_filter_takes(const struct name_filter *filter, const char *path, enum walk_kind kind)
{
    for (size_t i = 0; i < filter->n; i++) {
        if ((kind != WALK_DIRECTORY || filter->takes_directories[i]) &&
            glob_match(filter->globs[i], path, kind == WALK_DIRECTORY))
            return true;
    }
    return false;
}

bool name_filter_may_take_below(const struct name_filter *filter, const char *directory)
{
    for (size_t i = 0; i < filter->n; i++) {
        if (glob_may_match_below(filter->globs[i], directory))
            return true;
    }
    return false;
}
