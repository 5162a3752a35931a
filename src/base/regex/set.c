/*
 * set.c - sets of characters
 */
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/regex/private.h"

#define LAST_CHARACTER 0x10FFFFu

void regex_set_done(struct regex_set *set)
{
    free(set->items);
    *set = (struct regex_set){ 0 };
}

void regex_set_add(struct regex_set *set, uint32_t from, uint32_t to)
{
    if (set->n == set->capacity) {
        size_t wanted = set->capacity ? 2 * set->capacity : 16;
        void *more = reallocarray(set->items, wanted, sizeof *set->items);

        if (!more) {
            set->failed = true;
            return;
        }
        set->items = more;
        set->capacity = wanted;
    }
    set->items[set->n++] = (struct regex_range){ from, to };
}

/* ---- case */

/*
 * Capitals and their small letters, as Unicode's simple folding has them: either so far apart, or
 * (0) in turns, capital and small, from the first one on.
 */
static const struct {
    uint32_t from, to; /* capitals; pairs, if in turns */
    int32_t distance;
} cases[] = {
    { 'A', 'Z', 32 },       { 0xC0, 0xD6, 32 },       { 0xD8, 0xDE, 32 },
    { 0x100, 0x12F, 0 },    { 0x132, 0x137, 0 },      { 0x139, 0x148, 0 },
    { 0x14A, 0x177, 0 },    { 0x178, 0x178, -121 },   { 0x179, 0x17E, 0 },
    { 0x1CD, 0x1DC, 0 },    { 0x1DE, 0x1EF, 0 },      { 0x1F8, 0x21F, 0 },
    { 0x222, 0x233, 0 },    { 0x386, 0x386, 38 },     { 0x388, 0x38A, 37 },
    { 0x38C, 0x38C, 64 },   { 0x38E, 0x38F, 63 },     { 0x391, 0x3A1, 32 },
    { 0x3A3, 0x3AB, 32 },   { 0x400, 0x40F, 80 },     { 0x410, 0x42F, 32 },
    { 0x460, 0x481, 0 },    { 0x48A, 0x4BF, 0 },      { 0x4C1, 0x4CE, 0 },
    { 0x4D0, 0x52F, 0 },    { 0x531, 0x556, 48 },     { 0x1E00, 0x1E95, 0 },
    { 0x1EA0, 0x1EFF, 0 },  { 0x2160, 0x216F, 16 },   { 0x24B6, 0x24CF, 26 },
    { 0xFF21, 0xFF3A, 32 }, { 0x10400, 0x10427, 40 },
};

uint32_t regex_other_case(uint32_t c)
{
    for (size_t i = 0; i < COUNT(cases); i++) {
        uint32_t distance = (uint32_t)cases[i].distance;

        if (c >= cases[i].from && c <= cases[i].to)
            return distance ? c + distance : ((c - cases[i].from) ^ 1) + cases[i].from;
        if (distance && c - distance >= cases[i].from && c - distance <= cases[i].to)
            return c - distance;
    }
    return c;
}

/* What of [from, to] lies in [low, high], moved by a distance. */
static void add_moved(struct regex_set *set, struct regex_range range, uint32_t low, uint32_t high,
                      uint32_t distance)
{
    uint32_t from = range.from > low ? range.from : low;
    uint32_t to = range.to < high ? range.to : high;

    if (from <= to)
        regex_set_add(set, from + distance, to + distance);
}

void regex_set_fold(struct regex_set *set)
{
    size_t n = set->n;

    for (size_t i = 0; i < n; i++) {
        struct regex_range range = set->items[i];

        for (size_t k = 0; k < COUNT(cases); k++) {
            uint32_t from = cases[k].from;
            uint32_t to = cases[k].to;
            uint32_t distance = (uint32_t)cases[k].distance;

            if (distance) {
                add_moved(set, range, from, to, distance);
                add_moved(set, range, from + distance, to + distance, 0 - distance);
            } else if (range.from <= to && range.to >= from) {
                uint32_t first = range.from > from ? range.from - from : 0;
                uint32_t last = (range.to < to ? range.to : to) - from;
                regex_set_add(set, from + (first & ~1u), from + (last | 1u));
            }
        }
    }
}

/* ---- order */

static int compare(const void *a, const void *b)
{
    const struct regex_range *x = a;
    const struct regex_range *y = b;

    return x->from < y->from ? -1 : x->from > y->from;
}

static void merge(struct regex_set *set)
{
    size_t n = 0;

    if (set->n == 0)
        return;
    qsort(set->items, set->n, sizeof *set->items, compare);
    for (size_t i = 1; i < set->n; i++) {
        struct regex_range *last = &set->items[n];

        if (set->items[i].from > last->to + 1)
            set->items[++n] = set->items[i];
        else if (set->items[i].to > last->to)
            last->to = set->items[i].to;
    }
    set->n = n + 1;
}

void regex_set_tidy(struct regex_set *set, bool is_negated)
{
    if (!is_negated) {
        /* all but the '\n' */
        struct regex_set others = { 0 };

        merge(set);
        for (size_t i = 0; i < set->n; i++) {
            add_moved(&others, set->items[i], 0, '\n' - 1, 0);
            add_moved(&others, set->items[i], '\n' + 1, LAST_CHARACTER, 0);
        }
        others.failed |= set->failed;
        regex_set_done(set);
        *set = others;
        return;
    }
    struct regex_set others = { 0 };
    uint32_t from = 0;
    regex_set_add(set, '\n', '\n');
    merge(set);
    for (size_t i = 0; i < set->n; i++) {
        if (set->items[i].from > from)
            regex_set_add(&others, from, set->items[i].from - 1);
        from = set->items[i].to + 1;
    }
    if (from <= LAST_CHARACTER)
        regex_set_add(&others, from, LAST_CHARACTER);
    others.failed |= set->failed;
    regex_set_done(set);
    *set = others;
}

/* ---- classes with names */

/* Pairs of characters, from and to. */
static const struct {
    char letter; /* of an escape; 0: none */
    const char *name;
    const char *pairs;
} classes[] = {
    { 'd', "digit", "09" },
    { 'w', "word", "09AZ__az" },
    { 's', "space", "\t\r  " },
    { 'h', "blank", "\t\t  " },
    { 0, "alpha", "AZaz" },
    { 0, "alnum", "09AZaz" },
    { 0, "upper", "AZ" },
    { 0, "lower", "az" },
    { 0, "xdigit", "09AFaf" },
    { 0, "punct", "!/:@[`{~" },
    { 0, "print", " ~" },
    { 0, "graph", "!~" },
    { 0, "cntrl", "\x01\x1F\x7F\x7F" },
};

static void add_pairs(struct regex_set *set, const char *pairs)
{
    for (; *pairs; pairs += 2)
        regex_set_add(set, (unsigned char)pairs[0], (unsigned char)pairs[1]);
}

bool regex_set_add_escape(struct regex_set *set, char letter)
{
    for (size_t i = 0; i < COUNT(classes); i++) {
        if (classes[i].letter == 0 || classes[i].letter != (letter | 0x20))
            continue;
        if (letter == classes[i].letter) {
            add_pairs(set, classes[i].pairs);
            return true;
        }
        struct regex_set others = { 0 };
        add_pairs(&others, classes[i].pairs);
        regex_set_tidy(&others, true);
        for (size_t k = 0; k < others.n; k++)
            regex_set_add(set, others.items[k].from, others.items[k].to);
        set->failed |= others.failed;
        regex_set_done(&others);
        return true;
    }
    return false;
}

bool regex_set_add_posix(struct regex_set *set, const char *name, size_t n)
{
    for (size_t i = 0; i < COUNT(classes); i++) {
        if (strlen(classes[i].name) == n && memcmp(classes[i].name, name, n) == 0) {
            add_pairs(set, classes[i].pairs);
            return true;
        }
    }
    return false;
}
