#include "near_match.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/printable.h"

#define PLACES    3
#define SHOWN_MAX 400 /* bytes of a line that are compared, and shown */

struct line {
    const char *text;
    size_t n; /* without its end */
};

/* The line at `p`, and where the next one begins. */
static struct line take_line(const char *p, const char *end, const char **next)
{
    const char *newline = memchr(p, '\n', (size_t)(end - p));
    struct line line = { p, (size_t)((newline ? newline : end) - p) };

    if (line.n > 0 && line.text[line.n - 1] == '\r')
        line.n--;
    *next = newline ? newline + 1 : end;
    return line;
}

static struct line trimmed(struct line line)
{
    while (line.n > 0 && isspace((unsigned char)line.text[0])) {
        line.text++;
        line.n--;
    }
    while (line.n > 0 && isspace((unsigned char)line.text[line.n - 1]))
        line.n--;
    return line;
}

/* The same but for white space. */
static bool is_alike(struct line a, struct line b)
{
    size_t i = 0;
    size_t j = 0;

    for (;;) {
        while (i < a.n && isspace((unsigned char)a.text[i]))
            i++;
        while (j < b.n && isspace((unsigned char)b.text[j]))
            j++;
        if (i == a.n || j == b.n)
            return i == a.n && j == b.n;
        if (a.text[i++] != b.text[j++])
            return false;
    }
}

static void show(struct buffer *out, size_t number, struct line line)
{
    buffer_printf(out, "\n  line %zu: ", number);
    printable_append(out, line.text, line.n < SHOWN_MAX ? line.n : SHOWN_MAX);
    if (line.n > SHOWN_MAX)
        buffer_append_string(out, "...");
}

/* ---- all of it, but for white space */

static bool matches_at(const char *p, const char *end, const char *wanted, const char *wanted_end)
{
    while (wanted < wanted_end) {
        struct line line = take_line(wanted, wanted_end, &wanted);

        if (p >= end || !is_alike(take_line(p, end, &p), line))
            return false;
    }
    return true;
}

static size_t append_spaced(struct buffer *out, const char *text, size_t n, const char *wanted,
                            size_t n_wanted)
{
    const char *end = text + n;
    size_t number = 1;
    size_t n_found = 0;
    size_t budget = 16 * (n + n_wanted); /* a text of equal lines could be compared for ever */

    for (const char *p = text; p < end && n_found < PLACES && budget > n_wanted; number++) {
        const char *next = p;
        struct line line = take_line(p, end, &next);

        if (matches_at(p, end, wanted, wanted + n_wanted)) {
            if (n_found++ == 0)
                buffer_append_string(out, "; it differs only in white space:");
            show(out, number, line);
            budget -= n_wanted < budget ? n_wanted : budget;
        } else {
            const char *ignored = wanted;

            if (is_alike(line, take_line(wanted, wanted + n_wanted, &ignored)))
                budget -= n_wanted < budget ? n_wanted : budget;
        }
        p = next;
    }
    return n_found;
}

/* ---- lines like its first */

/* Pairs of letters that two lines share, as a share of all: 0 to 1000. */
#define BUCKETS 1024

struct letters {
    uint16_t count[BUCKETS];
    unsigned n;
};

static unsigned bucket_of(const char *p)
{
    return ((unsigned)(unsigned char)p[0] * 31 + (unsigned char)p[1]) % BUCKETS;
}

static void count_letters(struct letters *letters, struct line line)
{
    memset(letters, 0, sizeof *letters);
    for (size_t i = 0; i + 1 < line.n && i < SHOWN_MAX; i++, letters->n++)
        letters->count[bucket_of(line.text + i)]++;
}

static unsigned likeness(const struct letters *wanted, struct line line)
{
    struct letters rest = *wanted;
    unsigned n = 0;
    unsigned shared = 0;

    for (size_t i = 0; i + 1 < line.n && i < SHOWN_MAX; i++, n++) {
        uint16_t *count = &rest.count[bucket_of(line.text + i)];

        if (*count > 0) {
            (*count)--;
            shared++;
        }
    }
    return n + wanted->n > 0 ? 2000 * shared / (n + wanted->n) : 0;
}

struct candidate {
    unsigned score;
    size_t number;
    struct line line;
};

static void keep_best(struct candidate best[PLACES], struct candidate candidate)
{
    for (size_t i = 0; i < PLACES; i++) {
        if (candidate.score <= best[i].score)
            continue;
        memmove(best + i + 1, best + i, (PLACES - 1 - i) * sizeof *best);
        best[i] = candidate;
        return;
    }
}

static struct line first_line_with_text(const char *wanted, size_t n)
{
    const char *end = wanted + n;
    struct line line = { wanted, 0 };

    while (wanted < end && line.n == 0)
        line = trimmed(take_line(wanted, end, &wanted));
    return line;
}

static void append_like(struct buffer *out, const char *text, size_t n, struct line wanted)
{
    const char *end = text + n;
    struct candidate best[PLACES] = { { .score = 500 }, { .score = 500 }, { .score = 500 } };
    struct letters letters;
    size_t number = 1;

    count_letters(&letters, wanted);
    for (const char *p = text; p < end && letters.n > 0; number++) {
        struct line line = take_line(p, end, &p);
        struct line core = trimmed(line);

        /* Lines of quite another length cannot be like it. */
        if (core.n < 2 || core.n > 4 * wanted.n + 8 || wanted.n > 4 * core.n + 8)
            continue;
        keep_best(best, (struct candidate){ likeness(&letters, core), number, line });
    }
    for (size_t i = 0; i < PLACES && best[i].number > 0; i++) {
        if (i == 0)
            buffer_append_string(out, "; these lines resemble its first line:");
        show(out, best[i].number, best[i].line);
    }
}

void near_match_append(struct buffer *out, const char *text, size_t n, const char *wanted,
                       size_t n_wanted)
{
    struct line first = first_line_with_text(wanted, n_wanted);

    if (first.n > 0 && append_spaced(out, text, n, wanted, n_wanted) == 0)
        append_like(out, text, n, first);
}
