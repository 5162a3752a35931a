/*
 * git_config.c - the reader
 *
 * Follows git's own (config.c: git_parse_source and below) function by function, because what counts
 * is not what a file ought to mean but what git makes of it. Where versions of git differ (white
 * space inside an unquoted value: 2.45 keeps it, older ones make it spaces) the newer one is
 * followed.
 */
#include "git_config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/error.h"

struct reader {
    const char *text;
    size_t size;
    size_t at;    /* the next character */
    size_t start; /* the character that next() gave */
    unsigned line;
    bool is_at_end; /* next() has answered with the newline that ends every file */
    struct git_config *out;
    size_t capacity; /* of out->items */
    size_t length;   /* of out->text */
    const char *section;
    coop_error **err;
};

static int bad(struct reader *reader, unsigned line, const char *why)
{
    return fail_kind(reader->err, COOP_ERROR_BAD_POLICY, EINVAL, "line %u: %s", line, why);
}

/* "\r\n" is one newline, and so is the end. The line is that of the character *behind*. */
static int next(struct reader *reader)
{
    reader->start = reader->at;
    if (reader->at == reader->size) {
        reader->is_at_end = true;
        return '\n';
    }
    unsigned char c = (unsigned char)reader->text[reader->at++];
    if (c == '\r' && reader->at < reader->size && reader->text[reader->at] == '\n') {
        reader->at++;
        c = '\n';
    }
    reader->line += c == '\n';
    return c;
}

static bool is_space(int c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

static bool is_letter(int c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_key_character(int c)
{
    return is_letter(c) || (c >= '0' && c <= '9') || c == '-';
}

static int lower(int c)
{
    return c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c;
}

/* ---- what is read so far */

/* There is room: each character put has one or more of the file, each NUL a bracket, a quote, a
 * comment sign, a '=' or the end of a line. */
static void put(struct reader *reader, int c)
{
    reader->out->text[reader->length] = (char)c;
    reader->out->offsets[reader->length++] = (uint32_t)reader->start;
}

static char *here(const struct reader *reader)
{
    return reader->out->text + reader->length;
}

static int add(struct reader *reader, struct git_config_item item)
{
    struct git_config *out = reader->out;

    if (out->n == GIT_CONFIG_ITEMS_MAX)
        return bad(reader, item.line, "the file has more entries than coop reads");
    if (out->n == reader->capacity) {
        size_t capacity = reader->capacity ? reader->capacity * 2 : 32;
        struct git_config_item *items = reallocarray(out->items, capacity, sizeof *items);

        if (!items)
            return fail_no_memory(reader->err);
        out->items = items;
        reader->capacity = capacity;
    }
    item.section = reader->section;
    if (!item.name)
        item.name = "";
    out->items[out->n++] = item;
    return 0;
}

/* ---- values */

/* The character that an escape stands for; 0: none, the line goes on; -1: there is no such escape. */
static int unescape(int c)
{
    switch (c) {
    case '\n':
        return 0;
    case 't':
        return '\t';
    case 'b':
        return '\b';
    case 'n':
        return '\n';
    case '\\':
    case '"':
        return c;
    default:
        return -1;
    }
}

/* From the comment sign to the end of the line. */
static int read_comment(struct reader *reader, unsigned line)
{
    struct git_config_item item = {
        .kind = GIT_CONFIG_COMMENT, .line = line, .value = here(reader), .begin = reader->at
    };
    int c;

    while ((c = next(reader)) != '\n')
        put(reader, c);
    item.end = reader->start;
    put(reader, '\0');
    return add(reader, item);
}

struct value {
    size_t first; /* of its text in out->text */
    size_t trim;  /* length without the white space at its end; 0: nothing to trim */
    size_t begin; /* raw */
    size_t end;
    bool has_begun;
    bool is_quoted;
};

static int read_escape(struct reader *reader)
{
    unsigned line = reader->line;
    size_t start = reader->start;
    int c = unescape(next(reader));

    if (c < 0)
        return bad(reader, line, "there is no such escape: \\\\, \\\", \\n, \\t and \\b are all");
    reader->start = start; /* where the escape begins */
    if (c > 0)
        put(reader, c);
    return 0;
}

static int read_value_character(struct reader *reader, struct value *value, int c)
{
    size_t length = reader->length - value->first;

    if (is_space(c) && !value->is_quoted) {
        if (!value->trim)
            value->trim = length;
        if (length > 0)
            put(reader, c);
        return 0;
    }
    value->trim = 0;
    if (!value->has_begun)
        value->begin = reader->start;
    value->has_begun = true;
    int r = 0;
    if (c == '\\')
        r = read_escape(reader);
    else if (c == '"')
        value->is_quoted = !value->is_quoted;
    else
        put(reader, c);
    value->end = reader->at;
    return r;
}

/* Behind the '='. A comment at the end of the line becomes an item of its own, after the entry. */
static int read_value(struct reader *reader, struct git_config_item *item, bool *out_comment)
{
    struct value value = { .first = reader->length, .begin = reader->at, .end = reader->at };
    unsigned line = reader->line;
    int c;

    while ((c = next(reader)) != '\n') {
        if (!value.is_quoted && (c == '#' || c == ';')) {
            *out_comment = true;
            break;
        }
        line = reader->line;
        int r = read_value_character(reader, &value, c);
        if (r < 0)
            return r;
    }
    if (value.is_quoted)
        return bad(reader, line, "the quotes are not closed at the end of the line");
    if (value.trim)
        reader->length = value.first + value.trim;
    put(reader, '\0');
    item->value = reader->out->text + value.first;
    item->begin = value.begin;
    item->end = value.end;
    return 0;
}

static int read_entry(struct reader *reader, int c)
{
    unsigned line = reader->line;
    struct git_config_item item = { .kind = GIT_CONFIG_ENTRY, .line = line, .name = here(reader) };
    bool has_comment = false;

    for (; is_key_character(c); c = next(reader))
        put(reader, lower(c));
    while (c == ' ' || c == '\t')
        c = next(reader);
    item.begin = item.end = reader->start;
    if (c != '\n' && c != '=')
        return bad(reader, line, "a name is followed by neither '=' nor the end of the line");
    put(reader, '\0');
    if (c == '=') {
        int r = read_value(reader, &item, &has_comment);

        if (r < 0)
            return r;
    }
    int r = add(reader, item);
    if (r == 0 && has_comment)
        r = read_comment(reader, reader->line);
    return r;
}

/* ---- headers */

/* From the white space behind the section's name: white space and a name in quotes. */
static int read_subsection(struct reader *reader, unsigned line, struct git_config_item *item)
{
    int c;

    do
        c = next(reader);
    while (is_space(c) && c != '\n');
    if (c != '"')
        return bad(reader, line, "a sub-section is not in quotes");
    put(reader, '.');
    item->value = here(reader);
    item->begin = reader->at;
    while ((c = next(reader)) != '"') {
        size_t start = reader->start;

        if (c == '\\') {
            c = next(reader);
            reader->start = start;
        }
        if (c == '\n')
            return bad(reader, line, "the section's header ends with its line");
        put(reader, c);
    }
    item->end = reader->start;
    if (next(reader) != ']')
        return bad(reader, line, "the quotes of a sub-section are not followed by ']'");
    return 0;
}

static int read_header(struct reader *reader)
{
    unsigned line = reader->line;
    struct git_config_item item = { .kind = GIT_CONFIG_HEADER, .line = line };
    const char *section = here(reader);
    int c;

    item.begin = item.end = reader->at;
    while (is_key_character(c = next(reader)) || c == '.')
        put(reader, lower(c));
    if (reader->is_at_end || (c != ']' && !is_space(c)) || c == '\n' ||
        (c == ']' && here(reader) == section))
        return bad(reader, line,
                   "a section's name has something else than letters, digits, '-' "
                   "and '.' in it, or no ']' behind it");
    if (c != ']') {
        int r = read_subsection(reader, line, &item);

        if (r < 0)
            return r;
    }
    put(reader, '\0');
    if (here(reader) - section > GIT_CONFIG_SECTION_MAX)
        return bad(reader, line, "the section's name is longer than coop reads");
    reader->section = section;
    return add(reader, item);
}

/* ---- the file */

static int read_file(struct reader *reader)
{
    static const char mark[] = "\xEF\xBB\xBF"; /* of UTF-8 at the beginning of a file */

    if (reader->size > 0 && reader->text[0] == mark[0]) {
        if (reader->size < 3 || memcmp(reader->text, mark, 3) != 0)
            return bad(reader, 1, "there is half a byte order mark at the beginning");
        reader->at = 3;
    }
    for (;;) {
        unsigned line = reader->line;
        int c = next(reader);
        int r = 0;

        if (reader->is_at_end)
            return 0;
        if (is_space(c))
            continue;
        if (c == '#' || c == ';')
            r = read_comment(reader, line);
        else if (c == '[')
            r = read_header(reader);
        else if (is_letter(c))
            r = read_entry(reader, c);
        else
            return bad(reader, line, "a line begins with neither a letter, '[' nor '#'");
        if (r < 0)
            return r;
    }
}

int git_config_parse(const char *text, size_t size, struct git_config *out, coop_error **err)
{
    auto_git_config struct git_config config = { 0 };
    struct reader reader = {
        .text = text, .size = size, .line = 1, .out = &config, .section = "", .err = err
    };

    if (size > GIT_CONFIG_SIZE_MAX)
        return fail_kind(err, COOP_ERROR_BAD_POLICY, EFBIG, "the file is larger than 1 MiB");
    if (size > 0 && memchr(text, '\0', size))
        return fail_kind(err, COOP_ERROR_BAD_POLICY, EINVAL, "the file has a NUL byte in it");
    config.text = malloc(size + 2);
    config.offsets = calloc(size + 2, sizeof *config.offsets);
    if (!config.text || !config.offsets)
        return fail_no_memory(err);
    int r = read_file(&reader);
    if (r < 0)
        return r;
    *out = config;
    config = (struct git_config){ 0 };
    return 0;
}

void git_config_done(struct git_config *config)
{
    free(config->items);
    free(config->text);
    free(config->offsets);
    *config = (struct git_config){ 0 };
}

size_t git_config_base_length(const char *section)
{
    return strcspn(section, ".");
}

const char *git_config_subsection(const char *section)
{
    const char *dot = strchr(section, '.');

    return dot ? dot + 1 : "";
}
