/*
 * Patterns against the obvious: a matcher that tries everything, and random texts.
 *
 * worlds: user
 */
#include <stdint.h>

#include "test/globs.h"

static uint64_t random_state;

static unsigned random_below(unsigned n)
{
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(random_state >> 33) % n;
}

/* Characters of the random texts; all that is not in here has one byte. */
static size_t reference_length(const char *s)
{
    return strncmp(s, "é", 2) == 0 ? 2 : strncmp(s, "€", 3) == 0 ? 3 : 1;
}

/* A number for a character; stray bytes come after all others. */
static unsigned long reference_value(const char *s)
{
    switch (reference_length(s)) {
    case 2:
        return 0xE9;
    case 3:
        return 0x20AC;
    default:
        return (unsigned char)*s < 0x80 ? (unsigned char)*s : 0x200000ul + (unsigned char)*s;
    }
}

static unsigned long lower(unsigned long c)
{
    return c >= 'A' && c <= 'Z' ? c + 32 : c;
}

/* `p` is behind the '['; *end is set behind the ']'. */
static bool reference_class(const char *p, const char *s, bool ignore_case, const char **end)
{
    bool is_negated = *p == '!' || *p == '^';
    bool is_in = false;
    unsigned long c = reference_value(s);
    const char *first = p += is_negated;

    while (*p != ']' || p == first) {
        p += *p == '\\';
        unsigned long from = reference_value(p);
        unsigned long to = from;
        p += reference_length(p);
        if (p[0] == '-' && p[1] != ']') {
            p += p[1] == '\\' ? 2 : 1;
            to = reference_value(p);
            p += reference_length(p);
        }
        is_in |= c >= from && c <= to;
        for (unsigned long x = 'A'; ignore_case && x <= 'z'; x++)
            is_in |= x >= from && x <= to && lower(x) == lower(c);
    }
    *end = p + 1;
    return is_in != is_negated;
}

static bool reference_name(const char *p, const char *s, bool ignore_case)
{
    const char *rest;

    if (!*p)
        return !*s;
    if (*p == '*')
        return reference_name(p + 1, s, ignore_case) ||
               (*s && reference_name(p, s + reference_length(s), ignore_case));
    if (!*s)
        return false;
    if (*p == '?')
        return reference_name(p + 1, s + reference_length(s), ignore_case);
    if (*p == '[')
        return reference_class(p + 1, s, ignore_case, &rest) &&
               reference_name(rest, s + reference_length(s), ignore_case);
    p += *p == '\\';
    unsigned long a = reference_value(p);
    unsigned long b = reference_value(s);
    return (ignore_case ? lower(a) == lower(b) : a == b) &&
           reference_name(p + reference_length(p), s + reference_length(s), ignore_case);
}

struct parts {
    char text[64];
    char *part[64];
    size_t n;
    bool has_slash_last;
};

static void split(struct parts *parts, const char *text)
{
    *parts = (struct parts){ .has_slash_last = *text && text[strlen(text) - 1] == '/' };
    (void)strcpy(parts->text, text);
    for (char *at = strtok(parts->text, "/"); at; at = strtok(NULL, "/"))
        parts->part[parts->n++] = at;
}

static bool reference_parts(const struct parts *pattern, size_t i, const struct parts *path,
                            size_t j, bool ignore_case)
{
    if (i == pattern->n)
        return j == path->n;
    if (strcmp(pattern->part[i], "**") == 0)
        return reference_parts(pattern, i + 1, path, j, ignore_case) ||
               (j < path->n && reference_parts(pattern, i, path, j + 1, ignore_case));
    return j < path->n && reference_name(pattern->part[i], path->part[j], ignore_case) &&
           reference_parts(pattern, i + 1, path, j + 1, ignore_case);
}

static bool reference_match(const char *pattern, const char *path, bool is_directory,
                            bool ignore_case)
{
    struct parts pattern_parts;
    struct parts path_parts;

    split(&pattern_parts, pattern);
    split(&path_parts, path);
    return (is_directory || !pattern_parts.has_slash_last) &&
           reference_parts(&pattern_parts, 0, &path_parts, 0, ignore_case);
}

static void random_text(char *out, const char *const *pieces, size_t n_pieces, unsigned max)
{
    *out = '\0';
    for (unsigned n = random_below(max) + 1; n > 0; n--)
        (void)strcat(out, pieces[random_below((unsigned)n_pieces)]);
}

static const char *const pattern_pieces[] = {
    "a", "b", "A", "é",    "€",    "\xC3", "\xA9", "\\a",     "\\*",   "-",           ".a",
    "*", "*", "*", "?",    "?",    "[ab]", "[!a]", "[^é-€]",  "[a-",   "]",           "[]b]",
    "/", "/", "/", "/**/", "/**/", "**/",  "/**",  "[a\\-é]", "[A-Z]", "[\x80-\xFF]",
};
static const char *const path_pieces[] = {
    "a", "b", "a", "b", "A", "é", "€", "\xC3", "\xA9", "*", "-", "/", "/", "/", "]", ".a",
};

static void random_path(char *out)
{
    random_text(out, path_pieces, COUNT(path_pieces), 9);
}

/* A pattern that is good, by trying. */
static void random_pattern(char *out, bool ignore_case)
{
    for (;;) {
        auto_findings struct findings findings = { 0 };

        random_text(out, pattern_pieces, COUNT(pattern_pieces), 6);
        struct glob *glob =
            glob_new(out, strlen(out), ignore_case, (struct origin){ 0 }, &findings);
        if (glob) {
            glob_free(glob);
            return;
        }
    }
}

TEST(the_matcher_agrees_with_a_slow_one)
{
    size_t n_matches = 0;

    random_state = 1;
    for (unsigned i = 0; i < 20000; i++) {
        char pattern[64];
        bool ignore_case = i % 3 == 0;

        random_pattern(pattern, ignore_case);
        struct glob *glob = compile(pattern, ignore_case);
        for (unsigned j = 0; j < 10; j++) {
            bool is_directory = j % 2;
            char path[64];

            random_path(path);
            bool expected = reference_match(pattern, path, is_directory, ignore_case);
            n_matches += expected;
            if (glob_match(glob, path, is_directory) != expected) {
                printf("# '%s' and '%s' (%s, %s): not %d\n", pattern, path,
                       is_directory ? "directory" : "file", ignore_case ? "any case" : "case",
                       expected);
                CHECK(false);
            }
            /* Whoever matches lies below all its ancestors. */
            char *slash = strrchr(path, '/');
            if (expected && slash && slash[1]) {
                *slash = '\0';
                CHECK(glob_may_match_below(glob, path));
            }
        }
        glob_free(glob);
    }
    CHECK(n_matches > 5000);
}
