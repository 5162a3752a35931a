/*
 * diff.c - lines become numbers, numbers are compared, what differs is printed
 *
 * Between two texts without their common beginning and end, Myers' algorithm finds the middle of a
 * shortest difference from both ends at once, in linear space, and each half is treated likewise. It
 * gives up when a difference is too long, or all steps are used up. Then lines that each text has
 * exactly once, in the longest order that both have, cut the texts into pieces; what is left without
 * such a line is taken out and put in as a whole.
 */
#include "diff.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"

#define MAX_COST   1024     /* lines taken out or put in, in one piece that is looked through */
#define MAX_STEPS  20000000 /* in all */
#define MAX_CHAIN  64       /* lines with one hash: more are taken for different ones */
#define MAX_PIECES 64       /* how deep pieces are cut into pieces by single lines */

struct side {
    const char **starts; /* of the lines; one more for the end */
    uint32_t *ids;       /* equal lines, equal numbers */
    bool *is_changed;
    size_t n;
};

struct diff {
    struct side old, new;
    uint32_t n_ids;
    int64_t steps_left;
    int64_t forward[2 * MAX_COST + 3], backward[2 * MAX_COST + 3];
    uint32_t *count; /* by id: for those that look for single lines */
    size_t *where;
    bool failed;
};

/* ---- lines */

static bool split(struct side *side, const struct diff_text *text)
{
    const char *end = text->bytes + text->n;
    size_t n = 0;

    for (const char *p = text->bytes; p < end; n++) {
        const char *newline = memchr(p, '\n', (size_t)(end - p));

        p = newline ? newline + 1 : end;
    }
    side->n = n;
    side->starts = calloc(n + 1, sizeof *side->starts);
    side->ids = calloc(n + 1, sizeof *side->ids);
    side->is_changed = calloc(n + 1, sizeof *side->is_changed);
    if (!side->starts || !side->ids || !side->is_changed)
        return false;
    const char *p = text->bytes;
    for (size_t i = 0; i < n; i++) {
        const char *newline = memchr(p, '\n', (size_t)(end - p));

        side->starts[i] = p;
        p = newline ? newline + 1 : end;
    }
    side->starts[n] = end;
    return true;
}

static void side_done(struct side *side)
{
    free(side->starts);
    free(side->ids);
    free(side->is_changed);
}

static size_t length_of(const struct side *side, size_t i)
{
    return (size_t)(side->starts[i + 1] - side->starts[i]);
}

static uint64_t hash_of(const char *bytes, size_t n)
{
    uint64_t hash = 0xcbf29ce484222325u;

    for (size_t i = 0; i < n; i++)
        hash = (hash ^ (unsigned char)bytes[i]) * 0x100000001b3u;
    return hash ^ hash >> 29;
}

struct slot {
    const char *text; /* NULL: free */
    size_t length;
    uint32_t id;
};

static void number(struct diff *diff, struct side *side, struct slot *slots, size_t mask)
{
    for (size_t i = 0; i < side->n; i++) {
        size_t n = length_of(side, i);
        size_t at = hash_of(side->starts[i], n) & mask;
        unsigned tries = 0;

        while (slots[at].text && tries < MAX_CHAIN &&
               (slots[at].length != n || memcmp(slots[at].text, side->starts[i], n) != 0)) {
            at = (at + 1) & mask;
            tries++;
        }
        if (tries == MAX_CHAIN) { /* somebody made them so: different from all others, to be safe */
            side->ids[i] = diff->n_ids++;
            continue;
        }
        if (!slots[at].text)
            slots[at] = (struct slot){ side->starts[i], n, diff->n_ids++ };
        side->ids[i] = slots[at].id;
    }
}

static bool number_lines(struct diff *diff)
{
    size_t n_slots = 16;

    while (n_slots < 2 * (diff->old.n + diff->new.n))
        n_slots *= 2;
    auto_free struct slot *slots = calloc(n_slots, sizeof *slots);
    if (!slots)
        return false;
    number(diff, &diff->old, slots, n_slots - 1);
    number(diff, &diff->new, slots, n_slots - 1);
    return true;
}

/* ---- comparing */

/* A piece of both texts; ends are not in it. */
struct piece {
    size_t from, to;         /* of the old lines */
    size_t new_from, new_to; /* of the new ones */
};

static void mark_all(struct diff *diff, const struct piece *piece)
{
    memset(diff->old.is_changed + piece->from, true, piece->to - piece->from);
    memset(diff->new.is_changed + piece->new_from, true, piece->new_to - piece->new_from);
}

static void trim(const struct diff *diff, struct piece *piece)
{
    const uint32_t *a = diff->old.ids;
    const uint32_t *b = diff->new.ids;

    while (piece->from < piece->to && piece->new_from < piece->new_to &&
           a[piece->from] == b[piece->new_from]) {
        piece->from++;
        piece->new_from++;
    }
    while (piece->from < piece->to && piece->new_from < piece->new_to &&
           a[piece->to - 1] == b[piece->new_to - 1]) {
        piece->to--;
        piece->new_to--;
    }
}

/* One end of the search: how far each diagonal has got, and the way it goes. */
struct front {
    const uint32_t *a, *b;
    int64_t n, m;
    int64_t *reach; /* by diagonal, from -MAX_COST - 1 on */
};

/* The next line of diagonal `k` that differs; `is_back`: from the end. */
static int64_t slide(struct diff *diff, const struct front *front, int64_t x, int64_t k,
                     bool is_back)
{
    int64_t y = x - k;
    int64_t start = x;

    while (x < front->n && y < front->m &&
           (is_back ? front->a[front->n - 1 - x] == front->b[front->m - 1 - y]
                    : front->a[x] == front->b[y])) {
        x++;
        y++;
    }
    diff->steps_left -= x - start + 1;
    return x;
}

#define NOWHERE (INT64_MIN / 4) /* no way leads onto this diagonal within the piece */

static int64_t advance(struct diff *diff, const struct front *front, int64_t cost, int64_t k,
                       bool is_back)
{
    int64_t *reach = front->reach + MAX_COST + 1;
    int64_t down = k < cost || cost == 0 ? reach[k + 1] : NOWHERE;
    int64_t right = k > -cost ? reach[k - 1] + 1 : NOWHERE;

    if (down - k > front->m)
        down = NOWHERE;
    if (right > front->n)
        right = NOWHERE;
    int64_t x = down > right ? down : right;
    if (x < 0)
        x = NOWHERE;
    else
        x = slide(diff, front, x, k, is_back);
    reach[k] = x;
    return x;
}

/* A point (x, y) of the piece that a shortest difference goes through; false: it is too long. */
static bool middle(struct diff *diff, const struct piece *piece, int64_t *out_x, int64_t *out_y)
{
    struct front fore = { diff->old.ids + piece->from, diff->new.ids + piece->new_from,
                          (int64_t)(piece->to - piece->from),
                          (int64_t)(piece->new_to - piece->new_from), diff->forward };
    struct front back = fore;
    int64_t delta = fore.n - fore.m;
    const int64_t *ahead = diff->forward + MAX_COST + 1;
    const int64_t *behind = diff->backward + MAX_COST + 1;

    back.reach = diff->backward;
    diff->forward[MAX_COST + 2] = diff->backward[MAX_COST + 2] = 0;
    for (int64_t cost = 0; cost <= MAX_COST / 2 && diff->steps_left > 0; cost++) {
        for (int64_t k = -cost; k <= cost; k += 2) {
            int64_t x = advance(diff, &fore, cost, k, false);
            int64_t other = delta - k;

            if (delta % 2 != 0 && other >= -(cost - 1) && other <= cost - 1 &&
                x + behind[other] >= fore.n) {
                *out_x = x;
                *out_y = x - k;
                return true;
            }
        }
        for (int64_t k = -cost; k <= cost; k += 2) {
            int64_t x = advance(diff, &back, cost, k, true);
            int64_t other = delta - k;

            if (delta % 2 == 0 && other >= -cost && other <= cost && x + ahead[other] >= fore.n) {
                *out_x = fore.n - x;
                *out_y = fore.m - (x - k);
                return true;
            }
        }
    }
    return false;
}

static void compare(struct diff *diff, struct piece piece, unsigned depth);

/* ---- pieces between single lines */

struct pair {
    size_t a, b;
    size_t before; /* the pair in front of it in the longest order, or SIZE_MAX */
};

/* Lines that each side has once, in the order of the old text. */
static size_t single_lines(struct diff *diff, const struct piece *piece, struct pair *pairs)
{
    const uint32_t *a = diff->old.ids;
    const uint32_t *b = diff->new.ids;
    size_t n = 0;

    for (size_t i = piece->from; i < piece->to; i++)
        diff->count[a[i]] = 0;
    for (size_t i = piece->new_from; i < piece->new_to; i++)
        diff->count[b[i]] = 0;
    for (size_t i = piece->from; i < piece->to; i++)
        diff->count[a[i]] += diff->count[a[i]] < 4 ? 1 : 0;
    for (size_t i = piece->new_from; i < piece->new_to; i++) {
        diff->count[b[i]] += 4;
        diff->where[b[i]] = i;
        if (diff->count[b[i]] > 8)
            diff->count[b[i]] = 8;
    }
    for (size_t i = piece->from; i < piece->to; i++)
        if (diff->count[a[i]] == 5)
            pairs[n++] = (struct pair){ i, diff->where[a[i]], SIZE_MAX };
    return n;
}

/* Patience: the longest run of pairs that goes up on both sides; the index of its last pair. */
static size_t longest_order(struct pair *pairs, size_t n, size_t *tops)
{
    size_t n_tops = 0;

    for (size_t i = 0; i < n; i++) {
        size_t low = 0;
        size_t high = n_tops;

        while (low < high) {
            size_t half = low + (high - low) / 2;

            if (pairs[tops[half]].b < pairs[i].b)
                low = half + 1;
            else
                high = half;
        }
        pairs[i].before = low > 0 ? tops[low - 1] : SIZE_MAX;
        tops[low] = i;
        n_tops += low == n_tops;
    }
    return n_tops > 0 ? tops[n_tops - 1] : SIZE_MAX;
}

/* False: there is no such line. */
static bool cut_at_single_lines(struct diff *diff, const struct piece *piece, unsigned depth)
{
    size_t n_lines = piece->to - piece->from;
    auto_free struct pair *pairs = calloc(n_lines + 1, sizeof *pairs);
    auto_free size_t *tops = calloc(n_lines + 1, sizeof *tops);
    struct piece rest = *piece;

    if (!pairs || !tops) {
        diff->failed = true;
        return false;
    }
    size_t n = single_lines(diff, piece, pairs);
    size_t last = longest_order(pairs, n, tops);
    if (last == SIZE_MAX)
        return false;
    for (size_t i = last; i != SIZE_MAX; i = pairs[i].before) { /* from the end */
        compare(diff, (struct piece){ pairs[i].a + 1, rest.to, pairs[i].b + 1, rest.new_to },
                depth + 1);
        rest.to = pairs[i].a;
        rest.new_to = pairs[i].b;
    }
    compare(diff, rest, depth + 1);
    return true;
}

static void compare(struct diff *diff, struct piece piece, unsigned depth)
{
    int64_t x = 0;
    int64_t y = 0;

    trim(diff, &piece);
    if (piece.from == piece.to || piece.new_from == piece.new_to) {
        mark_all(diff, &piece);
    } else if (middle(diff, &piece, &x, &y)) {
        struct piece first = { piece.from, piece.from + (size_t)x, piece.new_from,
                               piece.new_from + (size_t)y };

        if ((first.to == piece.to && first.new_to == piece.new_to) || (x == 0 && y == 0)) {
            mark_all(diff, &piece); /* a piece of one line each */
            return;
        }
        compare(diff, first, depth);
        compare(diff, (struct piece){ first.to, piece.to, first.new_to, piece.new_to }, depth);
    } else if (depth >= MAX_PIECES || !cut_at_single_lines(diff, &piece, depth)) {
        mark_all(diff, &piece);
    }
}

/* ---- printing */

static void print_lines(struct buffer *out, char mark, const struct side *side, size_t from,
                        size_t to)
{
    for (size_t i = from; i < to; i++) {
        size_t n = length_of(side, i);

        buffer_append_char(out, mark);
        buffer_append(out, side->starts[i], n);
        if (side->starts[i][n - 1] != '\n')
            buffer_append_string(out, "\n\\ No newline at end of file\n");
    }
}

/* One hunk: old lines from..to, new lines from new_from on; some are changed. */
struct hunk {
    size_t from, to, new_from, new_to;
};

static void print_range(struct buffer *out, char mark, size_t from, size_t to)
{
    size_t n = to - from;

    if (n == 1)
        buffer_printf(out, " %c%zu", mark, from + 1);
    else
        buffer_printf(out, " %c%zu,%zu", mark, n > 0 ? from + 1 : from, n);
}

static void print_hunk(struct buffer *out, const struct diff *diff, const struct hunk *hunk)
{
    size_t i = hunk->from;
    size_t j = hunk->new_from;

    buffer_append_string(out, "@@");
    print_range(out, '-', hunk->from, hunk->to);
    print_range(out, '+', hunk->new_from, hunk->new_to);
    buffer_append_string(out, " @@\n");
    while (i < hunk->to || j < hunk->new_to) {
        size_t start = i;
        size_t new_start = j;

        while (i < hunk->to && diff->old.is_changed[i])
            i++;
        while (j < hunk->new_to && diff->new.is_changed[j])
            j++;
        print_lines(out, '-', &diff->old, start, i);
        print_lines(out, '+', &diff->new, new_start, j);
        start = i;
        while (i < hunk->to && j < hunk->new_to && !diff->old.is_changed[i] &&
               !diff->new.is_changed[j]) {
            i++;
            j++;
        }
        print_lines(out, ' ', &diff->old, start, i);
    }
}

/* The next place where something is changed, at or behind (*i, *j), which go together; false: none. */
static bool next_change(const struct diff *diff, size_t *i, size_t *j)
{
    while (*i < diff->old.n && *j < diff->new.n && !diff->old.is_changed[*i] &&
           !diff->new.is_changed[*j]) {
        (*i)++;
        (*j)++;
    }
    return *i < diff->old.n || *j < diff->new.n;
}

static void skip_change(const struct diff *diff, size_t *i, size_t *j)
{
    while (*i < diff->old.n && diff->old.is_changed[*i])
        (*i)++;
    while (*j < diff->new.n && diff->new.is_changed[*j])
        (*j)++;
}

static void print_hunks(struct buffer *out, const struct diff *diff, unsigned context)
{
    size_t i = 0;
    size_t j = 0;
    bool has_more = next_change(diff, &i, &j);

    while (has_more) {
        size_t before = i < context ? i : context;
        struct hunk hunk = { i - before, i, j - before, j };

        while (has_more && i - hunk.to <= 2 * (size_t)context) {
            skip_change(diff, &i, &j);
            hunk.to = i;
            hunk.new_to = j;
            has_more = next_change(diff, &i, &j);
        }
        size_t left = diff->old.n - hunk.to;
        size_t after = left < context ? left : context;
        hunk.to += after;
        hunk.new_to += after;
        print_hunk(out, diff, &hunk);
    }
}

static bool has_changes(const struct diff *diff)
{
    return memchr(diff->old.is_changed, true, diff->old.n) ||
           memchr(diff->new.is_changed, true, diff->new.n);
}

static bool run(struct diff *diff, const struct diff_text *old, const struct diff_text *new)
{
    if (!split(&diff->old, old) || !split(&diff->new, new) || !number_lines(diff))
        return false;
    diff->count = calloc((size_t)diff->n_ids + 1, sizeof *diff->count);
    diff->where = calloc((size_t)diff->n_ids + 1, sizeof *diff->where);
    if (!diff->count || !diff->where)
        return false;
    diff->steps_left = MAX_STEPS;
    compare(diff, (struct piece){ 0, diff->old.n, 0, diff->new.n }, 0);
    return !diff->failed;
}

bool diff_unified(struct buffer *out, const char *old_name, const char *new_name,
                  const struct diff_text *old, const struct diff_text *new, unsigned context)
{
    auto_free struct diff *diff = calloc(1, sizeof *diff);
    bool is_done = diff && run(diff, old, new);

    if (is_done && has_changes(diff)) {
        buffer_printf(out, "--- %s\n+++ %s\n", old_name, new_name);
        print_hunks(out, diff, context);
    }
    if (diff) {
        side_done(&diff->old);
        side_done(&diff->new);
        free(diff->count);
        free(diff->where);
    }
    if (!is_done)
        out->failed = true;
    return !out->failed;
}
