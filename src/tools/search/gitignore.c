#include "gitignore.h"

#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/cleanup.h"
#include "glob/glob.h"

#define PATTERN_MAX 1024

/* Most rules are a name, or a name with a star at one end: these are compared at once. */
enum rule_shape { RULE_LITERAL, RULE_PREFIX, RULE_SUFFIX, RULE_GLOB };

struct rule {
    enum rule_shape shape;
    bool is_negated;
    bool only_directories;
    bool is_path; /* compared with the path below the file's directory, else with the name */
    char *text;   /* of the first three shapes */
    size_t length;
    struct glob *glob;
};

struct gitignore {
    const struct gitignore *outer;
    size_t directory_length;
    struct rule *rules;
    size_t n_rules, capacity;
    bool failed;
};

/* ---- reading */

/* One pattern, on its way into the syntax of glob.h. */
struct reader {
    const char *at, *end;
    bool is_path;
    struct buffer glob;
    struct buffer plain; /* what of it stands for itself */
    size_t n_stars;      /* those that stay within a name */
    bool has_star_first, has_star_last;
    bool is_general; /* has more than stars */
};

static const struct {
    const char *name;
    const char *members;
} classes[] = {
    { "alpha", "a-zA-Z" }, { "digit", "0-9" },        { "alnum", "a-zA-Z0-9" },
    { "upper", "A-Z" },    { "lower", "a-z" },        { "space", " \t\r\n\v\f" },
    { "blank", " \t" },    { "xdigit", "0-9a-fA-F" }, { "punct", "!-.:-@\\[-`{-~" },
    { "print", " -.0-~" }, { "graph", "!-.0-~" },     { "cntrl", "\x01-\x1F\x7F" },
};

/* "[:alpha:]" in a class, which glob.h does not have. */
static bool read_named_class(struct reader *reader)
{
    const char *name = reader->at + 2;
    const char *end = memmem(name, (size_t)(reader->end - name), ":]", 2);

    for (size_t i = 0; end && i < COUNT(classes); i++) {
        if (strlen(classes[i].name) != (size_t)(end - name) ||
            memcmp(classes[i].name, name, (size_t)(end - name)) != 0)
            continue;
        buffer_append_string(&reader->glob, classes[i].members);
        reader->at = end + 2;
        return true;
    }
    return false;
}

/* At a '['. False: it never matches. */
static bool read_class(struct reader *reader)
{
    buffer_append_char(&reader->glob, *reader->at++);
    if (reader->at < reader->end && (*reader->at == '!' || *reader->at == '^'))
        buffer_append_char(&reader->glob, *reader->at++);
    for (bool is_first = true; reader->at < reader->end; is_first = false) {
        char c = *reader->at;

        if (c == ']' && !is_first) {
            buffer_append_char(&reader->glob, c);
            reader->at++;
            reader->is_general = true;
            return true;
        }
        if (c == '/')
            return false;
        if (c == '[' && reader->end - reader->at > 1 && reader->at[1] == ':') {
            if (!read_named_class(reader))
                return false;
            continue;
        }
        if (c == '\\' && reader->end - reader->at > 1)
            buffer_append_char(&reader->glob, *reader->at++);
        buffer_append_char(&reader->glob, *reader->at++);
    }
    return false;
}

/* At a '*': two between slashes are any directories, elsewhere any number is one. */
static void read_stars(struct reader *reader, const char *begin)
{
    const char *from = reader->at;

    while (reader->at < reader->end && *reader->at == '*')
        reader->at++;
    bool is_whole =
        (from == begin || from[-1] == '/') && (reader->at == reader->end || *reader->at == '/');
    if (reader->is_path && is_whole && reader->at - from > 1) {
        /* at the end: what is below, not the directory itself */
        buffer_append_string(&reader->glob, reader->at == reader->end ? "**/*" : "**");
        reader->is_general = true;
        return;
    }
    buffer_append_char(&reader->glob, '*');
    reader->n_stars++;
    reader->has_star_first |= from == begin;
    reader->has_star_last |= reader->at == reader->end;
}

static bool read_pattern(struct reader *reader)
{
    const char *begin = reader->at;

    while (reader->at < reader->end) {
        char c = *reader->at;

        if (c == '*') {
            read_stars(reader, begin);
        } else if (c == '[') {
            if (!read_class(reader))
                return false;
        } else if (c == '?') {
            buffer_append_char(&reader->glob, c);
            reader->is_general = true;
            reader->at++;
        } else {
            if (c == '\\' && ++reader->at == reader->end)
                return false;
            if (c == '\\')
                buffer_append_char(&reader->glob, '\\');
            buffer_append_char(&reader->glob, *reader->at);
            buffer_append_char(&reader->plain, *reader->at);
            if (c == '/' && reader->at > begin && reader->at[-1] == '/')
                return false; /* no path has two in a row */
            reader->at++;
        }
    }
    return reader->glob.length > 0;
}

static enum rule_shape shape_of(const struct reader *reader)
{
    if (reader->is_general || reader->plain.length == 0)
        return RULE_GLOB;
    if (reader->n_stars == 0)
        return RULE_LITERAL;
    if (reader->is_path || reader->n_stars > 1)
        return RULE_GLOB; /* a star stays within a name */
    return reader->has_star_last ? RULE_PREFIX : reader->has_star_first ? RULE_SUFFIX : RULE_GLOB;
}

static bool add_rule(struct gitignore *rules, struct rule rule)
{
    if (rules->n_rules == rules->capacity) {
        size_t wanted = rules->capacity ? 2 * rules->capacity : 16;
        void *more = reallocarray(rules->rules, wanted, sizeof *rules->rules);

        if (!more)
            return false;
        rules->rules = more;
        rules->capacity = wanted;
    }
    rules->rules[rules->n_rules++] = rule;
    return true;
}

/* What was read becomes a rule; what glob.h does not take would not match anyway. */
static void finish_rule(struct gitignore *rules, struct reader *reader, struct rule rule)
{
    rule.is_path = reader->is_path;
    rule.shape = shape_of(reader);
    if (rule.shape == RULE_GLOB) {
        auto_findings struct findings findings = { 0 };

        rule.glob = glob_new(reader->glob.data, reader->glob.length, false, (struct origin){ 0 },
                             &findings);
        rules->failed |= findings.failed;
        if (!rule.glob)
            return;
    } else {
        rule.length = reader->plain.length;
        rule.text = buffer_take_string(&reader->plain);
    }
    if ((!rule.text && !rule.glob) || !add_rule(rules, rule)) {
        free(rule.text);
        glob_free(rule.glob);
        rules->failed = true;
    }
}

/* Spaces at the end do not count, unless the first of them is escaped. */
static size_t trim(const char *line, size_t n)
{
    size_t end = 0;

    for (size_t i = 0; i < n; i++) {
        if (line[i] == '\\' && i + 1 < n)
            end = ++i + 1;
        else if (line[i] != ' ')
            end = i + 1;
    }
    return end;
}

static void read_line(struct gitignore *rules, const char *line, size_t n)
{
    struct rule rule = { 0 };
    struct reader reader = { 0 };

    if (n > 0 && line[n - 1] == '\r')
        n--;
    if (n == 0 || n > PATTERN_MAX || line[0] == '#' || memchr(line, '\0', n))
        return;
    n = trim(line, n);
    reader.at = line;
    reader.end = line + n;
    rule.is_negated = n > 0 && line[0] == '!';
    reader.at += rule.is_negated;
    rule.only_directories = reader.end > reader.at && reader.end[-1] == '/';
    reader.end -= rule.only_directories;
    reader.is_path = memchr(reader.at, '/', (size_t)(reader.end - reader.at)) != NULL;
    reader.at += reader.at < reader.end && *reader.at == '/';
    if (reader.at < reader.end && read_pattern(&reader)) {
        if (reader.glob.failed || reader.plain.failed)
            rules->failed = true;
        else
            finish_rule(rules, &reader, rule);
    }
    buffer_done(&reader.glob);
    buffer_done(&reader.plain);
}

struct gitignore *gitignore_new(const char *text, size_t n, size_t directory_length,
                                const struct gitignore *outer)
{
    struct gitignore *rules = calloc(1, sizeof *rules);
    const char *end = text + n;

    if (!rules)
        return NULL;
    rules->outer = outer;
    rules->directory_length = directory_length;
    if (n >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0)
        text += 3;
    while (text < end) {
        const char *newline = memchr(text, '\n', (size_t)(end - text));
        const char *line_end = newline ? newline : end;

        read_line(rules, text, (size_t)(line_end - text));
        text = line_end + 1;
    }
    if (rules->failed) {
        gitignore_free(rules);
        return NULL;
    }
    return rules;
}

void gitignore_free(struct gitignore *rules)
{
    if (!rules)
        return;
    for (size_t i = 0; i < rules->n_rules; i++) {
        free(rules->rules[i].text);
        glob_free(rules->rules[i].glob);
    }
    free(rules->rules);
    free(rules);
}

/* ---- matching */

static bool rule_matches(const struct rule *rule, const char *path, size_t path_length,
                         const char *name, size_t name_length, bool is_directory)
{
    const char *text = rule->is_path ? path : name;
    size_t length = rule->is_path ? path_length : name_length;

    if (rule->only_directories && !is_directory)
        return false;
    switch (rule->shape) {
    case RULE_LITERAL:
        return length == rule->length && memcmp(text, rule->text, length) == 0;
    case RULE_PREFIX:
        return length >= rule->length && memcmp(text, rule->text, rule->length) == 0;
    case RULE_SUFFIX:
        return length >= rule->length &&
               memcmp(text + length - rule->length, rule->text, rule->length) == 0;
    case RULE_GLOB:
        return glob_match(rule->glob, text, is_directory);
    }
    return false;
}

bool gitignore_ignores(const struct gitignore *rules, const char *path, const char *name,
                       bool is_directory)
{
    size_t name_length = strlen(name);
    size_t length = (size_t)(name - path) + name_length;

    for (; rules; rules = rules->outer) {
        const char *below = path + rules->directory_length;
        size_t below_length = length - rules->directory_length;

        for (size_t i = rules->n_rules; i-- > 0;) {
            if (rule_matches(&rules->rules[i], below, below_length, name, name_length,
                             is_directory))
                return !rules->rules[i].is_negated;
        }
    }
    return false;
}
