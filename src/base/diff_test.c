/* worlds: user */
#include "base/diff.h"

#include <stdint.h>
#include <sys/wait.h>
#include <unistd.h>

#include "test/check.h"

static const char *unified(const char *old, const char *new)
{
    static struct buffer out;

    buffer_done(&out);
    CHECK(diff_unified(&out, "a", "b", &(struct diff_text){ old, strlen(old) },
                       &(struct diff_text){ new, strlen(new) }, 3));
    return out.data ? out.data : "";
}

TEST(the_same_has_no_difference)
{
    CHECK_STR(unified("", ""), "");
    CHECK_STR(unified("a\nb\n", "a\nb\n"), "");
}

TEST(shows_a_changed_line_with_its_surroundings)
{
    CHECK_STR(unified("1\n2\n3\n4\n5\n6\n7\n8\n9\n", "1\n2\n3\n4\nfive\n6\n7\n8\n9\n"),
              "--- a\n+++ b\n@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n");
}

TEST(shows_files_that_begin_or_end)
{
    CHECK_STR(unified("", "x\n"), "--- a\n+++ b\n@@ -0,0 +1 @@\n+x\n");
    CHECK_STR(unified("x\n", ""), "--- a\n+++ b\n@@ -1 +0,0 @@\n-x\n");
}

TEST(tells_where_the_last_newline_is_missing)
{
    CHECK_STR(unified("x\n", "x"),
              "--- a\n+++ b\n@@ -1 +1 @@\n-x\n+x\n\\ No newline at end of file\n");
    CHECK_STR(unified("a\nx", "b\nx"),
              "--- a\n+++ b\n@@ -1,2 +1,2 @@\n-a\n+b\n x\n\\ No newline at end of file\n");
}

TEST(joins_hunks_that_lie_close)
{
    const char *text = unified("1\n2\n3\n4\n5\n6\n7\n8\n", "one\n2\n3\n4\n5\n6\n7\neight\n");
    const char *first = strstr(text, "@@ -");

    CHECK(first && !strstr(first + 4, "@@ -"));
    text = unified("1\n2\n3\n4\n5\n6\n7\n8\n9\n", "one\n2\n3\n4\n5\n6\n7\n8\nnine\n");
    first = strstr(text, "@@ -");
    CHECK(first && strstr(first + 4, "@@ -"));
}

/* ---- against patch(1): what the difference makes of the old text is the new one */

static uint64_t seed;

static unsigned pick(unsigned n)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(seed >> 33) % n;
}

/* Applies a difference; the result is in `out`. */
static void apply(const char *old, const char *difference, struct buffer *out)
{
    const char *from = old;
    const char *p = difference;
    size_t line = 0;

    for (int i = 0; i < 2 && *p; i++) /* the two lines with the names */
        p += strcspn(p, "\n") + 1;
    while (*p) {
        size_t n = strcspn(p, "\n") + 1;

        if (strncmp(p, "@@ -", 4) == 0) {
            size_t at = strtoul(p + 4, NULL, 10);
            const char *comma = strpbrk(p + 4, ", ");

            if (*comma == ',' && strtoul(comma + 1, NULL, 10) == 0)
                at++; /* nothing is taken out: behind that line */
            for (; line + 1 < at; line++) {
                size_t m = strcspn(from, "\n") + 1;

                buffer_append(out, from, m);
                from += m;
            }
        } else if (*p == ' ' || *p == '-') {
            size_t m = strcspn(from, "\n") + 1;

            CHECK(m == n - 1 && memcmp(from, p + 1, m) == 0);
            if (*p == ' ')
                buffer_append(out, from, m);
            from += m;
            line++;
        } else if (*p == '+') {
            buffer_append(out, p + 1, n - 1);
        }
        p += n;
    }
    buffer_append_string(out, from);
}

static void random_text(struct buffer *out, unsigned n_lines, unsigned n_words)
{
    for (unsigned i = 0; i < n_lines; i++)
        buffer_printf(out, "line %u\n", pick(n_words));
}

static const char *text(const struct buffer *buffer)
{
    return buffer->data ? buffer->data : "";
}

TEST(what_it_says_makes_the_new_text_of_the_old)
{
    for (seed = 1; seed < 400; seed++) {
        uint64_t start = seed;
        struct buffer old = { 0 };
        struct buffer new = { 0 };
        struct buffer made = { 0 };
        unsigned n_words = 1 + pick(30);

        random_text(&old, pick(60), n_words);
        random_text(&new, pick(60), n_words);
        apply(text(&old), unified(text(&old), text(&new)), &made);
        CHECK_STR(text(&made), text(&new));
        buffer_done(&old);
        buffer_done(&new);
        buffer_done(&made);
        seed = start;
    }
}

static size_t count_changed(const char *difference)
{
    size_t n = 0;

    for (const char *p = difference; *p; p += strcspn(p, "\n") + 1)
        n += (*p == '-' && strncmp(p, "---", 3) != 0) || (*p == '+' && strncmp(p, "+++", 3) != 0);
    return n;
}

TEST(many_scattered_changes_stay_small)
{
    struct buffer old = { 0 };
    struct buffer new = { 0 };
    struct buffer made = { 0 };

    for (unsigned i = 0; i < 50000; i++) {
        buffer_printf(&old, "line %u\n", i);
        if (i % 10 == 0)
            buffer_printf(&new, "changed %u\n", i);
        else
            buffer_printf(&new, "line %u\n", i);
    }
    CHECK(count_changed(unified(old.data, new.data)) == 10000);
    apply(old.data, unified(old.data, new.data), &made);
    CHECK_STR(made.data, new.data);
    buffer_done(&old);
    buffer_done(&new);
    buffer_done(&made);
}

/* The worst for Myers: long, and nothing in common but single letters. Bounded, so it ends. */
TEST(the_worst_input_ends)
{
    struct buffer old = { 0 };
    struct buffer new = { 0 };
    struct buffer made = { 0 };

    seed = 7;
    random_text(&old, 300000, 2);
    random_text(&new, 300000, 3);
    apply(old.data, unified(old.data, new.data), &made);
    CHECK(strcmp(made.data, new.data) == 0);
    buffer_done(&old);
    buffer_done(&new);
    buffer_done(&made);
}

TEST(finds_the_shortest_of_small_ones)
{
    CHECK(count_changed(unified("a\nb\nc\na\nb\nb\na\n", "c\nb\na\nb\na\nc\n")) == 5);
    CHECK(count_changed(unified("a\nb\nc\n", "a\nx\nb\nc\n")) == 1);
}
