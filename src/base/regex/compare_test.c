/*
 * The lines that match, as grep finds them: thousands of patterns, made at random but always the same
 * ones, over a text made likewise. What grep's two dialects mean by a pattern is not always what
 * regex.h means by it, so the patterns hold only what all agree on.
 *
 * worlds: user
 * builds: none
 * speed: slow
 */
#include "regex.h"

#include <stdarg.h>
#include <stdint.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/cleanup.h"
#include "test/check.h"

#define N_PATTERNS 750 /* of each kind; there are four */
#define DEPTH      3
#define N_LINES    300

static uint32_t seed;

static unsigned draw(unsigned n)
{
    seed = seed * 1664525 + 1013904223;
    return (seed >> 8) % n;
}

static const char *one_of(const char *const *texts)
{
    unsigned n = 0;

    while (texts[n])
        n++;
    return texts[draw(n)];
}

/* What grep and regex.h call a word differs beyond ASCII, so such letters are there in one half only,
 * and grep -P had bugs with \\W and the like. */
static bool has_words;
static bool has_only_ascii;

static const char *letter(void)
{
    static const char *const words[] = { "a", "b", "ab", "c", "_", "1", "B", " ", "-", "€", NULL };
    static const char *const ascii[] = { "a", "b", "ab", "c", "_", "1", "B", " ", "-", NULL };
    static const char *const letters[] = { "a", "b", "é", "É", "ж", "Ж", "x", " ", "€", NULL };

    return one_of(!has_words ? letters : has_only_ascii ? ascii : words);
}

static void make_text(struct buffer *out)
{
    for (unsigned line = 0; line < N_LINES; line++) {
        for (unsigned n = draw(14); n > 0; n--)
            buffer_append_string(out, letter());
        buffer_append_char(out, '\n');
    }
}

static void make_alternatives(struct buffer *out, bool is_perl, unsigned depth);

static void make_brackets(struct buffer *out)
{
    static const char *const classes[] = { "[:alpha:]", "[:digit:]", "[:space:]", NULL };
    static const char *const ranges[] = { "a-b", "b-z", "0-9", "A-Z", NULL };
    static const char *const others[] = { "a-b", "x-z", "а-я", "à-ü", NULL };

    buffer_append_string(out, draw(3) ? "[" : "[^");
    for (unsigned n = 1 + draw(3); n > 0; n--) {
        unsigned kind = draw(4);
        if (kind == 0)
            buffer_append_string(out, one_of(has_words ? ranges : others));
        else if (kind == 1 && has_words)
            buffer_append_string(out, one_of(classes));
        else
            buffer_append_string(out, one_of((const char *const[]){ "a", "b", "1", " ", NULL }));
    }
    buffer_append_char(out, ']');
}

static void make_atom(struct buffer *out, bool is_perl, unsigned depth)
{
    static const char *const both[] = { "\\w", "\\W", "\\s", "\\S", "\\.", "\\-", NULL };
    static const char *const perl[] = { "\\d", "\\D", "\\x41", "[\\w-]", "[^\\d\\s]", NULL };
    unsigned kind = draw(10);

    if (kind < 4 || (depth == 0 && kind > 6)) {
        buffer_append_string(out, letter());
    } else if (kind == 4) {
        buffer_append_char(out, '.');
    } else if (kind == 5) {
        make_brackets(out);
    } else if (kind == 6 && has_words) {
        buffer_append_string(out, one_of(is_perl && draw(2) ? perl : both));
    } else {
        buffer_append_string(out, is_perl && draw(2) ? "(?:" : "(");
        make_alternatives(out, is_perl, depth - (depth > 0));
        buffer_append_char(out, ')');
    }
}

static void make_quantifier(struct buffer *out, bool is_perl)
{
    static const char *const quantifiers[] = {
        "*", "+", "?", "{2}", "{1,3}", "{2,}", "{0,2}", NULL
    };

    buffer_append_string(out, one_of(quantifiers));
    if (is_perl && draw(4) == 0)
        buffer_append_char(out, '?');
}

static void make_sequence(struct buffer *out, bool is_perl, unsigned depth)
{
    static const char *const perl[] = { "\\b", "\\B", "^", "$", NULL };
    static const char *const extended[] = { "\\b", "\\B", "\\<", "\\>", "^", "$", NULL };
    /* grep -E is wrong about (^a){2,} */
    bool may_assert = is_perl || depth == DEPTH;

    for (unsigned n = 1 + draw(4); n > 0; n--) {
        if (has_words && may_assert && draw(8) == 0)
            buffer_append_string(out, one_of(is_perl ? perl : extended));
        make_atom(out, is_perl, depth);
        if (draw(3) == 0)
            make_quantifier(out, is_perl);
    }
    if (may_assert && draw(10) == 0)
        buffer_append_char(out, '$');
}

static void make_alternatives(struct buffer *out, bool is_perl, unsigned depth)
{
    if ((is_perl || depth == DEPTH) && draw(12) == 0)
        buffer_append_char(out, '^');
    make_sequence(out, is_perl, depth);
    while (draw(4) == 0) {
        buffer_append_char(out, '|');
        make_sequence(out, is_perl, depth);
    }
}

/* ---- grep */

static char directory[512];

static void put(const char *name, const char *bytes, size_t n)
{
    char path[1024];

    (void)snprintf(path, sizeof path, "%s/%s", directory, name);
    FILE *file = fopen(path, "wbe");
    if (!file || fwrite(bytes, 1, n, file) != n || fclose(file) != 0)
        abort();
}

/* Numbers of lines, -1 behind the last; false: grep refuses the pattern. */
static bool ask_grep(const char *pattern, const char *flags, int *out)
{
    char command[2048];
    char line[512];
    size_t n = 0;

    put("pattern", pattern, strlen(pattern));
    (void)snprintf(command, sizeof command,
                   "LC_ALL=C.UTF-8 exec grep -an %s -f %s/pattern %s/text 2>/dev/null", flags,
                   directory, directory);
    FILE *pipe = popen(command, "re");
    if (!pipe)
        abort();
    while (fgets(line, sizeof line, pipe))
        out[n++] = atoi(line);
    out[n] = -1;
    return pclose(pipe) <= 256; /* 0, or 1 in the status */
}

static void ask_regex(struct regex *regex, const struct buffer *text, int *out)
{
    struct regex_line line = { 0 };
    int number = 1;
    size_t counted = 0;
    size_t n = 0;

    while (regex_next(regex, text->data, text->length, line.next, &line)) {
        for (; counted < line.begin; counted++)
            number += text->data[counted] == '\n';
        out[n++] = number;
    }
    out[n] = -1;
}

/* The first difference between the lists, 0: none. */
static int difference(const int *a, const int *b)
{
    for (; *a >= 0 && *a == *b; a++)
        b++;
    if (*a == *b)
        return 0;
    return *a < 0 || (*b >= 0 && *b < *a) ? *b : *a;
}

static unsigned compare(bool is_perl, bool with_words, unsigned *n_lines)
{
    int expected[N_LINES + 1], found[N_LINES + 1];
    unsigned n_compared = 0;
    auto_buffer struct buffer text = { 0 };

    has_words = with_words;
    has_only_ascii = is_perl;
    make_text(&text);
    put("text", text.data, text.length);
    for (unsigned i = 0; i < N_PATTERNS; i++) {
        auto_buffer struct buffer pattern = { 0 };
        coop_error *err = NULL;
        struct regex *regex = NULL;
        bool ignores_case = draw(3) == 0;

        make_alternatives(&pattern, is_perl, DEPTH);
        bool is_taken = ask_grep(pattern.data,
                                 ignores_case ? is_perl ? "-iP" : "-iE"
                                 : is_perl    ? "-P"
                                              : "-E",
                                 expected);
        int r = regex_new(pattern.data, pattern.length, ignores_case ? REGEX_IGNORE_CASE : 0,
                          &regex, &err);
        if (r < 0 && is_taken)
            printf("# %s: %s\n", pattern.data, coop_error_message(err));
        coop_error_free(err);
        CHECK(r == 0 || !is_taken);
        if (!is_taken) {
            regex_free(regex);
            continue;
        }
        ask_regex(regex, &text, found);
        regex_free(regex);
        int line = difference(expected, found);
        if (line)
            printf("# '%s'%s differs in line %d\n", pattern.data, ignores_case ? " -i" : "", line);
        CHECK(line == 0);
        n_compared++;
        for (const int *at = expected; *at >= 0; at++)
            ++*n_lines;
    }
    return n_compared;
}

static void compare_both(bool is_perl, uint32_t with)
{
    unsigned n_lines = 0;

    seed = with;
    CHECK(mkdtemp(check_temporary(directory, sizeof directory, "regex")));
    unsigned n = compare(is_perl, true, &n_lines) + compare(is_perl, false, &n_lines);
    char command[1024];
    (void)snprintf(command, sizeof command, "rm -r %s", directory);
    CHECK(system(command) == 0);
    printf("# %u patterns, %u lines matched\n", n, n_lines);
    CHECK(n > N_PATTERNS && n_lines > 20 * N_PATTERNS);
}

TEST(agrees_with_grep_on_extended_patterns)
{
    compare_both(false, 1);
}

TEST(agrees_with_grep_on_perl_patterns)
{
    if (system("echo a | grep -qP a") != 0)
        SKIP("this grep has no -P");
    compare_both(true, 2);
}
