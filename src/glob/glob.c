#include "glob.h"

#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "glob/name_fold.h"
#include "glob/private.h"

/* One pattern being read. None of the arrays of a glob ever needs more room than the text has bytes. */
struct reader {
    struct glob *glob;
    const char *at;  /* within the component */
    const char *end; /* of the component */
    size_t n_tokens;
    size_t n_ranges;
    size_t n_text;
    const char *problem; /* what is wrong, the rest of a sentence about the pattern */
    const char *fix;
};

static bool complain(struct reader *reader, const char *problem, const char *fix)
{
    reader->problem = problem;
    reader->fix = fix;
    return false;
}

static void add_token(struct reader *reader, enum glob_token_kind kind, uint32_t value)
{
    reader->glob->tokens[reader->n_tokens++] =
        (struct glob_token){ .kind = (uint8_t)kind, .value = value };
}

static uint32_t next_character(struct reader *reader)
{
    uint32_t c;

    reader->at += glob_character(reader->at, (size_t)(reader->end - reader->at), &c);
    return c;
}

/* One character, n bytes long, that stands for itself. */
static void add_literal(struct reader *reader, const char *character, size_t n)
{
    char *text = reader->glob->text + reader->n_text;
    uint32_t c;

    if (reader->glob->ignore_case)
        n = name_fold(character, n, text);
    else
        memcpy(text, character, n);
    for (size_t at = 0; at < n;) {
        at += glob_character(text + at, n - at, &c);
        add_token(reader, GLOB_TOKEN_CHARACTER, c);
    }
    reader->n_text += n;
    reader->glob->n_literal_characters++;
}

/* One character of a class, an escaped one too. */
static bool read_member(struct reader *reader, uint32_t *out)
{
    if (*reader->at == '\\')
        reader->at++;
    if (reader->at == reader->end)
        return false;
    *out = next_character(reader);
    return true;
}

static bool is_posix_class(const struct reader *reader)
{
    size_t n = (size_t)(reader->end - reader->at);

    return n > 2 && reader->at[0] == '[' && reader->at[1] == ':' &&
           memmem(reader->at + 2, n - 2, ":]", 2) != NULL;
}

static bool read_range(struct reader *reader)
{
    struct glob_range *range = &reader->glob->ranges[reader->n_ranges];

    if (is_posix_class(reader))
        return complain(reader, "has a named class such as '[:alpha:]', which coop does not know",
                        "write the characters, as in '[a-zA-Z]'");
    if (!read_member(reader, &range->from))
        return true; /* at the end, which the caller sees */
    range->to = range->from;
    if (reader->end - reader->at >= 2 && reader->at[0] == '-' && reader->at[1] != ']') {
        reader->at++;
        if (!read_member(reader, &range->to))
            return true;
    }
    if (range->to < range->from)
        return complain(reader, "has a range in '[...]' that runs backwards",
                        "write the smaller character first, as in '[a-z]'");
    reader->n_ranges++;
    return true;
}

/* A class of one character is that character: "[.]env" is as good as ".env". */
static bool is_single(const char *member, size_t n)
{
    uint32_t c;

    return n > 0 && glob_character(member, n, &c) == n;
}

/* After the '['. */
static bool read_class(struct reader *reader)
{
    struct glob_token token = { .kind = GLOB_TOKEN_CLASS, .value = (uint32_t)reader->n_ranges };

    if (reader->at < reader->end && (*reader->at == '!' || *reader->at == '^')) {
        token.is_negated = true;
        reader->at++;
    }
    const char *first = reader->at;
    while (reader->at < reader->end && (*reader->at != ']' || reader->at == first)) {
        if (!read_range(reader))
            return false;
    }
    if (reader->at == reader->end)
        return complain(reader, "has a '[' without its ']' in the same component",
                        "close it, or write '\\[' for the character itself");
    reader->at++;
    token.n_ranges = (uint16_t)(reader->n_ranges - token.value);
    const char *member = first + (*first == '\\');
    size_t n = (size_t)(reader->at - 1 - member);
    if (!token.is_negated && is_single(member, n)) {
        add_literal(reader, member, n);
        return true;
    }
    reader->glob->tokens[reader->n_tokens++] = token;
    reader->glob->n_classes++;
    return true;
}

static bool read_token(struct reader *reader)
{
    char c = *reader->at;

    if (c == '*' && reader->end - reader->at > 1 && reader->at[1] == '*')
        return complain(reader, "has '**' together with other characters between two slashes",
                        NULL); /* what to write instead depends on it: report() */
    if (c == '*' || c == '?') {
        reader->at++;
        add_token(reader, c == '*' ? GLOB_TOKEN_STAR : GLOB_TOKEN_ONE, 0);
        *(c == '*' ? &reader->glob->n_stars : &reader->glob->n_ones) += 1;
        return true;
    }
    if (c == '[') {
        reader->at++;
        return read_class(reader);
    }
    if (c == '\\' && ++reader->at == reader->end)
        return complain(reader, "has a backslash with nothing behind it",
                        "write '\\\\' for the character itself");
    const char *start = reader->at;
    (void)next_character(reader);
    add_literal(reader, start, (size_t)(reader->at - start));
    return true;
}

/*
 * Text can be compared as bytes if it is UTF-8, because then it begins and ends where characters do.
 * With a stray byte in it, the characters are compared one by one.
 */
static enum glob_shape shape_of(const struct glob_token *tokens, size_t n)
{
    size_t n_literal = 0;
    bool has_stray = false;

    for (size_t i = 0; i < n; i++) {
        n_literal += tokens[i].kind == GLOB_TOKEN_CHARACTER;
        has_stray |= tokens[i].kind == GLOB_TOKEN_CHARACTER && tokens[i].value >= GLOB_STRAY;
    }
    if (has_stray)
        return GLOB_GENERAL;
    if (n_literal == n)
        return GLOB_LITERAL;
    bool has_star_first = tokens[0].kind == GLOB_TOKEN_STAR;
    bool has_star_last = tokens[n - 1].kind == GLOB_TOKEN_STAR;
    if (n == 1 && has_star_first)
        return GLOB_ANY;
    if (n_literal == 0 || n_literal + has_star_first + has_star_last != n)
        return GLOB_GENERAL;
    if (has_star_first && has_star_last)
        return GLOB_CONTAINS;
    return has_star_first ? GLOB_SUFFIX : GLOB_PREFIX;
}

static bool is_dots(const struct glob_component *component)
{
    return component->shape == GLOB_LITERAL &&
           ((component->length == 1 && component->text[0] == '.') ||
            (component->length == 2 && memcmp(component->text, "..", 2) == 0));
}

static void end_component(struct reader *reader, struct glob_component *component)
{
    struct glob *glob = reader->glob;
    struct glob_name name;
    bool is_literal = true;

    component->n_tokens = (size_t)(glob->tokens + reader->n_tokens - component->tokens);
    component->length = (size_t)(glob->text + reader->n_text - component->text);
    component->shape = shape_of(component->tokens, component->n_tokens);
    glob_name_init(&name, component->text, component->length, false, NULL);
    component->hash = name.hash;
    component->letters = name.letters;
    for (size_t i = 0; i < component->n_tokens; i++)
        is_literal &= component->tokens[i].kind == GLOB_TOKEN_CHARACTER;
    glob->n_literal_components += is_literal;
    glob->n_components++;
}

static bool read_component(struct reader *reader)
{
    struct glob *glob = reader->glob;
    struct glob_component *component = &glob->components[glob->n_components];

    if (reader->end - reader->at == 2 && memcmp(reader->at, "**", 2) == 0) {
        if (glob->n_components > 0 && component[-1].shape == GLOB_DEEP)
            return true; /* one says as much as two */
        component->shape = GLOB_DEEP;
        glob->n_components++;
        glob->n_deep++;
        return true;
    }
    component->tokens = glob->tokens + reader->n_tokens;
    component->text = glob->text + reader->n_text;
    while (reader->at < reader->end) {
        if (!read_token(reader))
            return false;
    }
    end_component(reader, component);
    if (is_dots(component))
        return complain(reader, "has '.' or '..' between its slashes",
                        "write the path as seen from the workspace, without it");
    return true;
}

static bool check_text(struct reader *reader, const char *text, size_t length)
{
    if (length == 0)
        return complain(reader, "is empty", "write a path, or '**' for everything");
    if (length > GLOB_PATTERN_MAX)
        return complain(reader, "is longer than 4096 bytes", "shorten it");
    if (memchr(text, '\0', length) || memchr(text, '\n', length))
        return complain(reader, "has a NUL or a newline in it, which coop refuses in paths",
                        "write '?' in its place");
    return true;
}

/* `text` ends with a NUL and has none else. */
static bool read_pattern(struct reader *reader, const char *text)
{
    const char *end = text + strlen(text);

    for (const char *at = text; at < end; at = reader->end) {
        at += strspn(at, "/");
        reader->at = at;
        reader->end = at + strcspn(at, "/");
        if (reader->end > at && !read_component(reader))
            return false;
    }
    if (reader->glob->n_components == 0)
        return complain(reader, "is the workspace itself", "write '**' for everything in it");
    reader->glob->only_directories = end[-1] == '/';
    return true;
}

/* The pattern as it must be written: 'src/' '**.pem' becomes 'src/' '**' '/' '*.pem'. */
static void append_repaired(struct buffer *out, const char *text)
{
    bool is_start = true;

    while (*text) {
        size_t n = strspn(text, "*");
        bool is_end = text[n] == '\0' || text[n] == '/';

        if (n >= 2) {
            buffer_append_string(out, is_start ? "" : "*/");
            buffer_append_string(out, "**");
            buffer_append_string(out, is_end ? "" : "/*");
            text += n;
            is_start = false;
            continue;
        }
        if (*text == '\\' && text[1])
            buffer_append_char(out, *text++);
        is_start = *text == '/';
        buffer_append_char(out, *text++);
    }
}

static void report(const struct reader *reader, const char *text, size_t length,
                   struct origin origin, struct findings *findings)
{
    auto_buffer struct buffer fix = { 0 };
    int n = length > 200 ? 200 : (int)length;

    if (reader->fix) {
        buffer_append_string(&fix, reader->fix);
    } else {
        buffer_append_string(&fix, "write '");
        append_repaired(&fix, reader->glob->written);
        buffer_append_string(&fix, "', or a single '*'");
    }
    if (fix.failed)
        findings->failed = true;
    findings_add(findings, SEVERITY_ERROR, origin, fix.data, "the pattern '%.*s'%s %s", n, text,
                 length > 200 ? "..." : "", reader->problem);
}

static size_t count(const char *text, size_t length, char c)
{
    size_t n = 0;

    for (size_t i = 0; i < length; i++)
        n += text[i] == c;
    return n;
}

static void *take(char **at, size_t size)
{
    void *taken = *at;

    *at += (size + 7) & ~(size_t)7;
    return taken;
}

/* One block for all of it: every start of coop compiles dozens. */
static struct glob *allocate(const char *text, size_t length)
{
    size_t n_components = count(text, length, '/') + 1;
    size_t n_ranges = count(text, length, '[') > 0 ? length : 0;
    char *at = calloc(1, sizeof(struct glob) + n_components * sizeof(struct glob_component) +
                             n_ranges * sizeof(struct glob_range) +
                             (length + 1) * sizeof(struct glob_token) + 2 * (length + 1) + 6 * 8);

    if (!at)
        return NULL;
    struct glob *glob = take(&at, sizeof *glob);
    glob->components = take(&at, n_components * sizeof *glob->components);
    glob->ranges = take(&at, n_ranges * sizeof *glob->ranges);
    glob->tokens = take(&at, (length + 1) * sizeof *glob->tokens);
    glob->text = take(&at, length + 1);
    glob->written = take(&at, length + 1);
    memcpy(glob->written, text, length);
    return glob;
}

struct glob *glob_new(const char *text, size_t length, bool ignore_case, struct origin origin,
                      struct findings *findings)
{
    struct glob *glob = allocate(text, length > GLOB_PATTERN_MAX ? 0 : length);
    struct reader reader = { .glob = glob };

    if (!glob) {
        findings->failed = true;
        return NULL;
    }
    glob->ignore_case = ignore_case;
    if (!check_text(&reader, text, length) || !read_pattern(&reader, glob->written)) {
        report(&reader, text, length, origin, findings);
        glob_free(glob);
        return NULL;
    }
    return glob;
}

void glob_free(struct glob *glob)
{
    free(glob);
}

const char *glob_text(const struct glob *glob)
{
    return glob->written;
}

static int compare(size_t a, size_t b)
{
    return (a > b) - (a < b);
}

static bool is_exact(const struct glob *glob)
{
    return glob->n_literal_components == glob->n_components;
}

int glob_compare(const struct glob *a, const struct glob *b)
{
    const int by[] = {
        compare(is_exact(a), is_exact(b)),
        compare(a->n_literal_components, b->n_literal_components),
        compare(a->n_literal_characters, b->n_literal_characters),
        compare(a->n_components - a->n_deep, b->n_components - b->n_deep),
        compare(b->n_deep, a->n_deep),
        compare(b->n_stars, a->n_stars),
        compare(a->n_ones + a->n_classes, b->n_ones + b->n_classes),
        compare(a->n_classes, b->n_classes),
        compare(a->only_directories, b->only_directories),
    };

    for (size_t i = 0; i < sizeof by / sizeof *by; i++) {
        if (by[i] != 0)
            return by[i];
    }
    return 0;
}
