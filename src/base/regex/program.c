/*
 * program.c - from the tree to states and edges over bytes
 *
 * Backwards: each part is compiled knowing the state where things go on behind it, and returns the
 * state where it begins. What makes the program grow is repetition; every part compiled counts, also
 * those that come to nothing, so that (((){1000}){1000}){1000} ends soon as well.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "base/regex/private.h"

#define STATES_MAX 10000
#define EDGES_MAX  100000
#define PARTS_MAX  100000

struct compiler {
    const struct regex_tree *tree;
    struct regex_program *program;
    size_t n_parts;
    coop_error **err;
};

static int64_t compile(struct compiler *compiler, uint32_t node, uint32_t next);

static int complain(struct compiler *compiler)
{
    return fail_kind(compiler->err, COOP_ERROR_BAD_POLICY, EINVAL,
                     "the pattern becomes too large: its repetitions {n,m} multiply; use smaller "
                     "numbers, or '*' and '+'");
}

static int64_t add_state(struct compiler *compiler, struct regex_state state)
{
    struct regex_program *program = compiler->program;

    if (program->n_states == STATES_MAX)
        return complain(compiler);
    if (program->n_states == program->states_capacity) {
        size_t wanted = program->states_capacity ? 2 * program->states_capacity : 64;
        void *more = reallocarray(program->states, wanted, sizeof *program->states);

        if (!more)
            return fail_no_memory(compiler->err);
        program->states = more;
        program->states_capacity = wanted;
    }
    program->states[program->n_states] = state;
    return (int64_t)program->n_states++;
}

/* Belongs to the state that is added next. */
static int add_edge(struct compiler *compiler, unsigned from, unsigned to, uint32_t target)
{
    struct regex_program *program = compiler->program;

    if (program->n_edges == EDGES_MAX)
        return complain(compiler);
    if (program->n_edges == program->edges_capacity) {
        size_t wanted = program->edges_capacity ? 2 * program->edges_capacity : 64;
        void *more = reallocarray(program->edges, wanted, sizeof *program->edges);

        if (!more)
            return fail_no_memory(compiler->err);
        program->edges = more;
        program->edges_capacity = wanted;
    }
    program->edges[program->n_edges++] = (struct regex_edge){ (uint8_t)from, (uint8_t)to, target };
    return 0;
}

static int64_t add_bytes_state(struct compiler *compiler, size_t first_edge)
{
    return add_state(
        compiler,
        (struct regex_state){ .kind = REGEX_STATE_BYTE,
                              .a = (uint32_t)first_edge,
                              .n_edges = (uint16_t)(compiler->program->n_edges - first_edge) });
}

static int64_t add_split(struct compiler *compiler, uint32_t a, uint32_t b)
{
    return add_state(compiler, (struct regex_state){ .kind = REGEX_STATE_SPLIT, .a = a, .b = b });
}

static int64_t add_byte(struct compiler *compiler, unsigned from, unsigned to, uint32_t target)
{
    size_t first = compiler->program->n_edges;
    int r = add_edge(compiler, from, to, target);

    return r < 0 ? r : add_bytes_state(compiler, first);
}

/* ---- characters */

size_t regex_encode(uint32_t c, unsigned char *out)
{
    if (c < 0x80) {
        out[0] = (unsigned char)c;
        return 1;
    }
    size_t n = c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    for (size_t i = n - 1; i > 0; i--, c >>= 6)
        out[i] = 0x80 | (c & 0x3F);
    out[0] = (unsigned char)((0xF0u << (4 - n)) | c);
    return n;
}

static int64_t compile_character(struct compiler *compiler, const struct regex_node *node,
                                 uint32_t next)
{
    unsigned char bytes[4];
    size_t n = regex_encode(node->character, bytes);
    int64_t state = next;

    if (node->folds) {
        size_t first = compiler->program->n_edges;
        unsigned capital = node->character & ~0x20u;
        int r = add_edge(compiler, capital, capital, next);
        if (r == 0)
            r = add_edge(compiler, node->character, node->character, next);
        return r < 0 ? r : add_bytes_state(compiler, first);
    }
    while (n-- > 0 && state >= 0)
        state = add_byte(compiler, bytes[n], bytes[n], (uint32_t)state);
    return state;
}

/*
 * Sets become trees over bytes. Behind a first byte stand up to three bytes of six bits each; where
 * all of their values belong to the set, one chain of "any such byte" serves every byte before it.
 */
static const struct length {
    uint32_t from, to; /* characters; surrogates are none */
    unsigned lead;     /* the first byte, for a character whose first bits are 0 */
    unsigned n_bytes;  /* that follow */
} lengths[] = {
    { 0, 0x7F, 0, 0 },           { 0x80, 0x7FF, 0xC0, 1 },       { 0x800, 0xD7FF, 0xE0, 2 },
    { 0xE000, 0xFFFF, 0xE0, 2 }, { 0x10000, 0x10FFFF, 0xF0, 3 },
};

struct set_compiler {
    struct compiler *compiler;
    const struct regex_range *ranges; /* sorted */
    size_t n_ranges;
    const struct length *length;
    uint32_t next;
    int64_t full[4]; /* by number of bytes: the state that takes any such bytes; -1: not made yet */
};

static int64_t full_state(struct set_compiler *set, unsigned n_bytes)
{
    int64_t state = set->next;

    for (unsigned n = 1; n <= n_bytes && state >= 0; n++) {
        if (set->full[n] < 0)
            set->full[n] = add_byte(set->compiler, 0x80, 0xBF, (uint32_t)state);
        state = set->full[n];
    }
    return state;
}

/* How much of [low, high] belongs to the set, of the characters with as many bytes. */
enum share { SHARE_NONE, SHARE_SOME, SHARE_ALL };

static enum share share_of(const struct set_compiler *set, uint32_t low, uint32_t high)
{
    uint32_t first = low > set->length->from ? low : set->length->from;
    uint32_t last = high < set->length->to ? high : set->length->to;
    size_t from = 0;
    size_t to = set->n_ranges;

    while (from < to) {
        size_t middle = from + (to - from) / 2;
        if (set->ranges[middle].to < first)
            from = middle + 1;
        else
            to = middle;
    }
    if (first > last || from == set->n_ranges || set->ranges[from].from > last)
        return SHARE_NONE;
    bool is_all = low == first && high == last && set->ranges[from].from <= low &&
                  set->ranges[from].to >= high;
    return is_all ? SHARE_ALL : SHARE_SOME;
}

struct run {
    unsigned from, to; /* bytes */
    uint32_t target;
};

static int64_t compile_level(struct set_compiler *set, uint32_t base, unsigned n_bytes);

/* Runs of bytes for the characters from `base` on, by their bits 6 * n_bytes and up. */
static int collect_runs(struct set_compiler *set, unsigned lead, uint32_t base, unsigned n_values,
                        unsigned n_bytes, struct run *runs, size_t *n_runs)
{
    for (unsigned value = 0; value < n_values; value++) {
        uint32_t low = base + (value << (6 * n_bytes));
        uint32_t high = low + (1u << (6 * n_bytes)) - 1;
        enum share share = share_of(set, low, high);

        if (share == SHARE_NONE)
            continue;
        int64_t target =
            share == SHARE_ALL ? full_state(set, n_bytes) : compile_level(set, low, n_bytes - 1);
        if (target < 0)
            return (int)target;
        struct run *last = *n_runs > 0 ? &runs[*n_runs - 1] : NULL;
        if (last && last->to + 1 == lead + value && last->target == (uint32_t)target)
            last->to++;
        else
            runs[(*n_runs)++] = (struct run){ lead + value, lead + value, (uint32_t)target };
    }
    return 0;
}

static int64_t add_runs(struct compiler *compiler, const struct run *runs, size_t n_runs)
{
    size_t first = compiler->program->n_edges;

    for (size_t i = 0; i < n_runs; i++) {
        int r = add_edge(compiler, runs[i].from, runs[i].to, runs[i].target);
        if (r < 0)
            return r;
    }
    return add_bytes_state(compiler, first);
}

/* The state that takes the bytes behind the first one: at most three of them, so deep this goes. */
static int64_t compile_level(struct set_compiler *set, uint32_t base, unsigned n_bytes)
{
    struct run runs[64];
    size_t n_runs = 0;
    int r = collect_runs(set, 0x80, base, 64, n_bytes, runs, &n_runs);

    return r < 0 ? r : add_runs(set->compiler, runs, n_runs);
}

static int64_t compile_set(struct compiler *compiler, const struct regex_node *node, uint32_t next)
{
    struct set_compiler set = { .compiler = compiler,
                                .ranges = compiler->tree->ranges.items + node->ranges,
                                .n_ranges = node->n_ranges,
                                .next = next,
                                .full = { -1, -1, -1, -1 } };
    struct run runs[256];
    size_t n_runs = 0;

    for (size_t i = 0; i < COUNT(lengths); i++) {
        set.length = &lengths[i];
        unsigned n_values = (lengths[i].to >> (6 * lengths[i].n_bytes)) + 1;
        int r = collect_runs(&set, lengths[i].lead, 0, n_values, lengths[i].n_bytes, runs, &n_runs);
        if (r < 0)
            return r;
    }
    return add_runs(compiler, runs, n_runs);
}

/* ---- the rest */

static int64_t compile_assertion(struct compiler *compiler, uint8_t assertion, uint32_t next)
{
    int64_t check = add_state(
        compiler,
        (struct regex_state){ .kind = REGEX_STATE_CHECK, .assertion = assertion, .a = next });

    if (check < 0 || assertion != REGEX_AT_END)
        return check;
    int64_t carriage_return = add_byte(compiler, '\r', '\r', (uint32_t)check);
    if (carriage_return < 0)
        return carriage_return;
    return add_split(compiler, (uint32_t)check, (uint32_t)carriage_return);
}

static int64_t compile_repeat(struct compiler *compiler, const struct regex_node *node,
                              uint32_t next)
{
    uint32_t n_needed = node->min;
    int64_t state = next;

    if (node->max == REGEX_NO_LAST) { /* a loop; the last part that is needed is in it */
        int64_t loop = add_split(compiler, next, next);
        int64_t body = loop < 0 ? loop : compile(compiler, node->first, (uint32_t)loop);
        if (body < 0)
            return body;
        compiler->program->states[loop].a = (uint32_t)body;
        state = n_needed > 0 ? body : loop;
        n_needed -= n_needed > 0;
    } else {
        for (uint32_t i = node->min; i < node->max && state >= 0; i++) {
            state = compile(compiler, node->first, (uint32_t)state);
            if (state >= 0)
                state = add_split(compiler, (uint32_t)state, next);
        }
    }
    for (; n_needed > 0 && state >= 0; n_needed--)
        state = compile(compiler, node->first, (uint32_t)state);
    return state;
}

static int64_t compile_alternative(struct compiler *compiler, const struct regex_node *node,
                                   uint32_t next)
{
    const struct regex_node *nodes = compiler->tree->nodes;
    int64_t state = compile(compiler, node->first, next);

    for (uint32_t child = nodes[node->first].next; child != REGEX_NONE && state >= 0;
         child = nodes[child].next) {
        int64_t other = compile(compiler, child, next);
        state = other < 0 ? other : add_split(compiler, (uint32_t)other, (uint32_t)state);
    }
    return state;
}

/* Recursion is as deep as groups are nested, which the parser limits. */
static int64_t compile(struct compiler *compiler, uint32_t at, uint32_t next)
{
    const struct regex_node *node = &compiler->tree->nodes[at];
    int64_t state = next;

    if (++compiler->n_parts > PARTS_MAX)
        return complain(compiler);
    switch ((enum regex_kind)node->kind) {
    case REGEX_EMPTY:
        return next;
    case REGEX_CHARACTER:
        return compile_character(compiler, node, next);
    case REGEX_SET:
        return compile_set(compiler, node, next);
    case REGEX_SEQUENCE:
        for (uint32_t child = node->first; child != REGEX_NONE && state >= 0;
             child = compiler->tree->nodes[child].next)
            state = compile(compiler, child, (uint32_t)state);
        return state;
    case REGEX_ALTERNATIVE:
        return compile_alternative(compiler, node, next);
    case REGEX_REPEAT:
        return compile_repeat(compiler, node, next);
    case REGEX_ASSERTION:
        return compile_assertion(compiler, node->assertion, next);
    }
    return next;
}

/* Bytes that no edge and no check tells apart are one class: rows become short. */
static void classify(struct regex_program *program)
{
    bool begins[257] = { [0] = true, ['\n'] = true, ['\n' + 1] = true };

    for (size_t i = 0; i < program->n_edges; i++) {
        begins[program->edges[i].from] = true;
        begins[program->edges[i].to + 1] = true;
    }
    for (unsigned c = 1; c < 256 && program->has_word_checks; c++)
        begins[c] |= regex_is_word(c) != regex_is_word(c - 1) || c == 0x80 || c == 0xC0;
    unsigned class = 0;
    for (unsigned c = 0; c < 256; c++) {
        if (c > 0 && begins[c])
            class ++;
        if (begins[c])
            program->byte_of[class] = (uint8_t)c;
        program->class_of[c] = (uint8_t) class;
    }
    program->n_classes = class + 1;
}

int regex_compile(const struct regex_tree *tree, struct regex_program *out, coop_error **err)
{
    struct regex_program program = { 0 };
    struct compiler compiler = { .tree = tree, .program = &program, .err = err };
    int64_t state = add_state(&compiler, (struct regex_state){ .kind = REGEX_STATE_MATCH });

    if (state >= 0)
        state = compile(&compiler, tree->root, (uint32_t)state);
    if (state < 0) {
        regex_program_done(&program);
        return (int)state;
    }
    program.start = (uint32_t)state;
    for (size_t i = 0; i < program.n_states; i++) {
        if (program.states[i].kind != REGEX_STATE_CHECK)
            continue;
        uint8_t assertion = program.states[i].assertion;
        program.has_checks = true;
        program.has_begin_checks |= assertion == REGEX_AT_BEGIN;
        program.has_word_checks |= assertion != REGEX_AT_BEGIN && assertion != REGEX_AT_END;
    }
    classify(&program);
    *out = program;
    return 0;
}

void regex_program_done(struct regex_program *program)
{
    free(program->states);
    free(program->edges);
    *program = (struct regex_program){ 0 };
}
