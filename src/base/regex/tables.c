/*
 * tables.c - the deterministic machine, made as the text asks for it
 *
 * A row stands for a set of states and what stands before the place. It has an entry for each class of
 * bytes: the offset of the next row, or that there is a match, or that nobody has asked yet. When the
 * room is used up, all rows are dropped and made anew; when that happens after few bytes, the pattern
 * has more sets than rows are good for, and the states themselves are stepped through instead.
 */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/regex/private.h"

#define TABLE_MAX   (1u << 20) /* entries: 4 MiB, of which only what is used is ever touched */
#define POOL_MAX    (1u << 20) /* states in the sets of all rows */
#define ROWS_MAX    8192
#define BUCKETS     (2 * ROWS_MAX)
#define BYTES_A_ROW 10 /* a row that served for fewer was not worth it */

struct row {
    uint32_t list; /* in the pool */
    uint32_t n;
    uint32_t hash;
    uint8_t before; /* enum regex_before */
};

struct regex_tables {
    struct regex_stepper *stepper;
    const struct regex_program *program;
    size_t stride;
    size_t rows_max, n_rows;
    uint32_t *table; /* the first row is never used: its offset would be REGEX_ROW_UNKNOWN */
    struct row *rows;
    uint32_t *pool;
    size_t n_pool;
    uint16_t *buckets; /* row + 1 */
    uint32_t line_row; /* where every line begins */
    size_t n_bytes;    /* since the rows were last dropped, but for the call under way */
    struct regex_list a, b;
};

static uint32_t hash_list(const struct regex_list *list, enum regex_before before)
{
    uint32_t hash = 2166136261u ^ (uint32_t)before;

    for (size_t i = 0; i < list->n; i++)
        hash = (hash ^ list->items[i]) * 16777619u;
    return hash ^ hash >> 15;
}

static int compare(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a;
    uint32_t y = *(const uint32_t *)b;

    return x < y ? -1 : x > y;
}

/* Equal sets are to be equal lists. */
static void sort(struct regex_list *list)
{
    if (list->n > 32) {
        qsort(list->items, list->n, sizeof *list->items, compare);
        return;
    }
    for (size_t i = 1; i < list->n; i++) {
        uint32_t item = list->items[i];
        size_t at = i;

        for (; at > 0 && list->items[at - 1] > item; at--)
            list->items[at] = list->items[at - 1];
        list->items[at] = item;
    }
}

/* The offset of the row for a sorted list, made if need be; REGEX_ROW_UNKNOWN: no room. */
static uint32_t row_for(struct regex_tables *tables, const struct regex_list *list,
                        enum regex_before before)
{
    uint32_t hash = hash_list(list, before);
    size_t bucket = hash % BUCKETS;

    for (; tables->buckets[bucket]; bucket = (bucket + 1) % BUCKETS) {
        const struct row *row = &tables->rows[tables->buckets[bucket] - 1];

        if (row->hash == hash && row->n == list->n && row->before == before &&
            memcmp(tables->pool + row->list, list->items, list->n * sizeof *list->items) == 0)
            return (uint32_t)(tables->buckets[bucket] * tables->stride);
    }
    if (tables->n_rows == tables->rows_max || POOL_MAX - tables->n_pool < list->n)
        return REGEX_ROW_UNKNOWN;
    tables->rows[tables->n_rows] = (struct row){ .list = (uint32_t)tables->n_pool,
                                                 .n = (uint32_t)list->n,
                                                 .hash = hash,
                                                 .before = (uint8_t)before };
    memcpy(tables->pool + tables->n_pool, list->items, list->n * sizeof *list->items);
    tables->n_pool += list->n;
    tables->buckets[bucket] = (uint16_t)++tables->n_rows;
    uint32_t offset = (uint32_t)(tables->n_rows * tables->stride);
    memset(tables->table + offset, 0, tables->stride * sizeof *tables->table);
    return offset;
}

static enum regex_before before_line(const struct regex_program *program)
{
    return program->has_begin_checks ? REGEX_BEFORE_BEGIN : REGEX_BEFORE_OTHER;
}

static void drop_rows(struct regex_tables *tables)
{
    tables->n_rows = 0;
    tables->n_pool = 0;
    tables->n_bytes = 0;
    memset(tables->buckets, 0, BUCKETS * sizeof *tables->buckets);
    tables->line_row = row_for(tables, &tables->stepper->start, before_line(tables->program));
}

/* Fills in an entry. REGEX_ROW_UNKNOWN: there is no room for the row that it leads to, which is list
 * `a` now. */
static uint32_t fill_in(struct regex_tables *tables, uint32_t offset, unsigned char byte)
{
    const struct row *row = &tables->rows[offset / tables->stride - 1];
    const struct regex_list from = { tables->pool + row->list, row->n };
    uint32_t next;

    if (regex_step(tables->stepper, &from, (enum regex_before)row->before, byte, &tables->a)) {
        next = REGEX_ROW_MATCH;
    } else if (byte == '\n') {
        next = tables->line_row;
    } else {
        sort(&tables->a);
        next = row_for(tables, &tables->a, regex_before_of(tables->program, byte));
    }
    if (next != REGEX_ROW_UNKNOWN)
        tables->table[offset + tables->program->class_of[byte]] = next;
    return next;
}

static size_t line_begin(const char *text, size_t from, size_t at)
{
    const char *newline = memrchr(text + from, '\n', at - from);

    return newline ? (size_t)(newline - text) + 1 : from;
}

/* Whether the text ends within a line, and that line matches. */
static enum regex_verdict judge_end(struct regex_tables *tables, const char *text, size_t n,
                                    uint32_t offset)
{
    if (n == 0 || text[n - 1] == '\n')
        return REGEX_NO_LINE;
    uint32_t next = tables->table[offset + tables->program->class_of['\n']];
    if (next == REGEX_ROW_UNKNOWN)
        next = fill_in(tables, offset, '\n');
    return next == REGEX_ROW_MATCH ? REGEX_LINE : REGEX_NO_LINE;
}

enum regex_verdict regex_tables_run(struct regex_tables *tables, const char *text, size_t n,
                                    size_t *at)
{
    const unsigned char *bytes = (const unsigned char *)text;
    const uint8_t *class_of = tables->program->class_of;
    const uint32_t *table = tables->table;
    const size_t from = *at;
    size_t counted = from;
    uint32_t row = tables->line_row;
    size_t i = from;

    if (from >= n)
        return REGEX_NO_LINE;
    for (; i < n; i++) {
        uint32_t next = table[row + class_of[bytes[i]]];

        if (next == row) { /* as long as nothing changes, no look-up waits for the one before */
            while (i + 1 < n && table[row + class_of[bytes[i + 1]]] == row)
                i++;
            continue;
        }
        if (next <= REGEX_ROW_MATCH) {
            if (next == REGEX_ROW_UNKNOWN)
                next = fill_in(tables, row, bytes[i]);
            if (next == REGEX_ROW_MATCH)
                break;
            if (next == REGEX_ROW_UNKNOWN) {
                size_t n_bytes = tables->n_bytes + (i - counted);
                bool is_worth_it = n_bytes / BYTES_A_ROW >= tables->n_rows;

                drop_rows(tables);
                counted = i;
                if (!is_worth_it) {
                    *at = line_begin(text, from, i);
                    return REGEX_TOO_MANY_ROWS;
                }
                next = row_for(tables, &tables->a, regex_before_of(tables->program, bytes[i]));
            }
        }
        row = next;
    }
    tables->n_bytes += i - counted;
    *at = i;
    return i < n ? REGEX_LINE : judge_end(tables, text, n, row);
}

enum regex_verdict regex_states_run(struct regex_tables *tables, const char *text, size_t n,
                                    size_t *at)
{
    struct regex_stepper *stepper = tables->stepper;
    enum regex_before before = before_line(tables->program);
    struct regex_list *list = &tables->a;
    struct regex_list *next = &tables->b;

    memcpy(list->items, stepper->start.items, stepper->start.n * sizeof *list->items);
    list->n = stepper->start.n;
    for (size_t i = *at; i < n; i++) {
        unsigned char byte = (unsigned char)text[i];

        if (regex_step(stepper, list, before, byte, next)) {
            *at = i;
            return REGEX_LINE;
        }
        if (byte == '\n') {
            memcpy(list->items, stepper->start.items, stepper->start.n * sizeof *list->items);
            list->n = stepper->start.n;
            before = before_line(tables->program);
            continue;
        }
        struct regex_list *other = list;
        list = next;
        next = other;
        before = regex_before_of(tables->program, byte);
    }
    bool is_ended = *at >= n || text[n - 1] == '\n';
    *at = n;
    return !is_ended && regex_step(stepper, list, before, '\n', next) ? REGEX_LINE : REGEX_NO_LINE;
}

int regex_tables_new(struct regex_stepper *stepper, struct regex_tables **out, coop_error **err)
{
    const struct regex_program *program = stepper->program;
    struct regex_tables *tables = calloc(1, sizeof *tables);

    if (!tables)
        return fail_no_memory(err);
    tables->stepper = stepper;
    tables->program = program;
    tables->stride = program->n_classes;
    tables->rows_max = TABLE_MAX / tables->stride - 1;
    if (tables->rows_max > ROWS_MAX)
        tables->rows_max = ROWS_MAX;
    tables->table = malloc(TABLE_MAX * sizeof *tables->table);
    tables->rows = malloc(ROWS_MAX * sizeof *tables->rows);
    tables->pool = malloc(POOL_MAX * sizeof *tables->pool);
    tables->buckets = malloc(BUCKETS * sizeof *tables->buckets);
    tables->a.items = malloc(program->n_states * sizeof *tables->a.items);
    tables->b.items = malloc(program->n_states * sizeof *tables->b.items);
    if (!tables->table || !tables->rows || !tables->pool || !tables->buckets || !tables->a.items ||
        !tables->b.items) {
        regex_tables_free(tables);
        return fail_no_memory(err);
    }
    sort(&stepper->start);
    drop_rows(tables);
    *out = tables;
    return 0;
}

void regex_tables_free(struct regex_tables *tables)
{
    if (!tables)
        return;
    free(tables->table);
    free(tables->rows);
    free(tables->pool);
    free(tables->buckets);
    free(tables->a.items);
    free(tables->b.items);
    free(tables);
}
