/*
 * Every component of every pattern is a position, numbered through; the one behind position i in the
 * same pattern is i + 1. A state is the set of positions whose component the names in a directory are
 * to be compared with. Where a ** is in it, so is what follows, because ** may stand for nothing.
 */
#include "glob_set.h"

#include <stdlib.h>
#include <string.h>

#include "policy/glob_private.h"

#define NONE UINT32_MAX

struct position {
    const struct glob_component *component;
    uint32_t rule;
    uint32_t next; /* in the list that it is found by */
    bool is_deep;
    bool is_last; /* there is no i + 1 */
    bool accepts; /* what matches here matches the pattern */
};

struct ranked_rule {
    struct glob_rule rule;
    struct glob *glob;
    size_t place; /* among those given */
};

struct glob_set {
    bool ignore_case;
    struct ranked_rule *rules; /* the most specific first */
    size_t n_rules;
    struct position *positions;
    size_t n_positions;
    size_t n_words;
    uint64_t *start;      /* bits of the state at the top */
    uint64_t *deep;       /* bits of all ** */
    uint64_t *deep_inner; /* of those with something behind them */

    /* Lists of positions, by what a name must have to match them. */
    uint32_t *literals; /* by hash */
    uint32_t literals_mask;
    uint32_t prefixes[256]; /* by the first byte */
    uint32_t suffixes[256]; /* by the last one */
    uint32_t others;
    uint32_t deep_last; /* ** at the end: no name is needed */
};

static bool has_bit(const uint64_t *bits, uint32_t i)
{
    return (bits[i / 64] >> (i % 64) & 1) != 0;
}

static void set_bit(uint64_t *bits, uint32_t i)
{
    bits[i / 64] |= UINT64_C(1) << (i % 64);
}

/* ---- building */

static int by_rank(const void *left, const void *right)
{
    const struct ranked_rule *a = left;
    const struct ranked_rule *b = right;
    int order = glob_compare(b->glob, a->glob);

    return order != 0 ? order : (b->place > a->place) - (b->place < a->place);
}

/* Goes on after a mistake, so that all of them are found. */
static bool compile_rules(struct glob_set *set, const struct glob_rule *rules,
                          struct findings *findings)
{
    bool is_good = true;

    for (size_t i = 0; i < set->n_rules; i++) {
        struct ranked_rule *ranked = &set->rules[i];

        ranked->rule = rules[i];
        ranked->place = i;
        ranked->glob = glob_new(rules[i].pattern, rules[i].length, set->ignore_case,
                                rules[i].origin, findings);
        if (!ranked->glob) {
            is_good = false;
            continue;
        }
        ranked->rule.pattern = glob_text(ranked->glob);
        set->n_positions += ranked->glob->n_components;
    }
    if (is_good && set->n_rules > 0)
        qsort(set->rules, set->n_rules, sizeof *set->rules, by_rank);
    return is_good;
}

static uint32_t *list_of(struct glob_set *set, const struct glob_component *component)
{
    switch (component->shape) {
    case GLOB_LITERAL:
        return &set->literals[component->hash & set->literals_mask];
    case GLOB_PREFIX:
        return &set->prefixes[(unsigned char)component->text[0]];
    case GLOB_SUFFIX:
        return &set->suffixes[(unsigned char)component->text[component->length - 1]];
    case GLOB_DEEP:
    case GLOB_CONTAINS:
    case GLOB_ANY:
    case GLOB_GENERAL:
        break;
    }
    return &set->others;
}

static void add_position(struct glob_set *set, uint32_t id, uint32_t rule, size_t i)
{
    const struct glob *glob = set->rules[rule].glob;
    struct position *position = &set->positions[id];
    const struct glob_component *component = &glob->components[i];

    *position = (struct position){
        .component = component,
        .rule = rule,
        .is_deep = component->shape == GLOB_DEEP,
        .is_last = i + 1 == glob->n_components,
    };
    /* A ** is never followed by another, so it is one at the very end that may stand for nothing. */
    position->accepts =
        position->is_last || (i + 2 == glob->n_components && component[1].shape == GLOB_DEEP);
    uint32_t *list = list_of(set, component);
    if (position->is_deep) {
        set_bit(set->deep, id);
        if (!position->is_last) {
            set_bit(set->deep_inner, id);
            return;
        }
        list = &set->deep_last;
    }
    position->next = *list;
    *list = id;
}

static void add_start(struct glob_set *set, uint32_t id)
{
    set_bit(set->start, id);
    if (set->positions[id].is_deep && !set->positions[id].is_last)
        set_bit(set->start, id + 1);
}

static void add_positions(struct glob_set *set)
{
    uint32_t id = 0;

    for (uint32_t rule = 0; rule < set->n_rules; rule++) {
        uint32_t first = id;

        for (size_t i = 0; i < set->rules[rule].glob->n_components; i++)
            add_position(set, id++, rule, i);
        add_start(set, first);
    }
}

static bool allocate(struct glob_set *set)
{
    size_t n_buckets = 16;

    while (n_buckets < 2 * set->n_positions)
        n_buckets *= 2;
    set->literals_mask = (uint32_t)(n_buckets - 1);
    set->n_words = set->n_positions / 64 + 1;
    set->positions = calloc(set->n_positions + 1, sizeof *set->positions);
    set->literals = malloc(n_buckets * sizeof *set->literals);
    set->start = calloc(set->n_words, sizeof *set->start);
    set->deep = calloc(set->n_words, sizeof *set->deep);
    set->deep_inner = calloc(set->n_words, sizeof *set->deep_inner);
    if (!set->positions || !set->literals || !set->start || !set->deep || !set->deep_inner)
        return false;
    memset(set->literals, 0xFF, n_buckets * sizeof *set->literals);
    memset(set->prefixes, 0xFF, sizeof set->prefixes);
    memset(set->suffixes, 0xFF, sizeof set->suffixes);
    set->others = NONE;
    set->deep_last = NONE;
    return true;
}

struct glob_set *glob_set_new(const struct glob_rule *rules, size_t n_rules, bool ignore_case,
                              struct findings *findings)
{
    struct glob_set *set = calloc(1, sizeof *set);

    if (set) {
        set->ignore_case = ignore_case;
        set->rules = calloc(n_rules + 1, sizeof *set->rules);
    }
    if (!set || !set->rules) {
        findings->failed = true;
        glob_set_free(set);
        return NULL;
    }
    set->n_rules = n_rules;
    if (!compile_rules(set, rules, findings)) {
        glob_set_free(set);
        return NULL;
    }
    if (set->n_positions >= NONE / 2 || !allocate(set)) {
        findings->failed = true;
        glob_set_free(set);
        return NULL;
    }
    add_positions(set);
    return set;
}

void glob_set_free(struct glob_set *set)
{
    if (!set)
        return;
    for (size_t i = 0; i < set->n_rules; i++)
        glob_free(set->rules[i].glob);
    free(set->rules);
    free(set->positions);
    free(set->literals);
    free(set->start);
    free(set->deep);
    free(set->deep_inner);
    free(set);
}

/* ---- whole paths */

const struct glob_rule *glob_set_decide(const struct glob_set *set, const char *path,
                                        bool is_directory)
{
    char space[GLOB_PATH_MAX];
    struct glob_name last;

    if (strlen(path) > GLOB_PATH_MAX)
        return NULL;
    const struct glob_name *ready = glob_last_name(path, set->ignore_case, space, &last);
    for (size_t i = 0; i < set->n_rules; i++) {
        if (glob_match_path(set->rules[i].glob, path, ready, is_directory))
            return &set->rules[i].rule;
    }
    return NULL;
}

bool glob_set_may_match_below(const struct glob_set *set, const char *directory)
{
    for (size_t i = 0; i < set->n_rules; i++) {
        if (glob_may_match_below(set->rules[i].glob, directory))
            return true;
    }
    return false;
}

/* ---- walking */

/* Looks for positions that a name matches: for the best rule, or to go on behind them. */
struct visit {
    const struct glob_set *set;
    const uint64_t *state;
    const struct glob_name *name;
    bool is_directory;
    uint32_t best;   /* deciding */
    uint64_t *child; /* entering; NULL when deciding */
};

static bool is_wanted(const struct visit *visit, const struct position *position)
{
    if (visit->child)
        return !position->is_last;
    return position->accepts && position->rule < visit->best &&
           (visit->is_directory || !visit->set->rules[position->rule].glob->only_directories);
}

static void visit_list(struct visit *visit, uint32_t id)
{
    const struct position *positions = visit->set->positions;

    for (; id != NONE; id = positions[id].next) {
        const struct position *position = &positions[id];

        if (!has_bit(visit->state, id) || !is_wanted(visit, position))
            continue;
        if (!glob_component_match(visit->set->rules[position->rule].glob, position->component,
                                  visit->name))
            continue;
        if (!visit->child) {
            visit->best = position->rule;
            continue;
        }
        set_bit(visit->child, id + 1);
        if (positions[id + 1].is_deep && !positions[id + 1].is_last)
            set_bit(visit->child, id + 2);
    }
}

static void visit_all(struct visit *visit)
{
    const struct glob_set *set = visit->set;
    const struct glob_name *name = visit->name;

    visit_list(visit, set->literals[name->hash & set->literals_mask]);
    if (name->length > 0) {
        visit_list(visit, set->prefixes[(unsigned char)name->text[0]]);
        visit_list(visit, set->suffixes[(unsigned char)name->text[name->length - 1]]);
    }
    visit_list(visit, set->others);
}

size_t glob_set_words(const struct glob_set *set)
{
    return set->n_words;
}

void glob_set_start(const struct glob_set *set, uint64_t *state)
{
    memcpy(state, set->start, set->n_words * sizeof *state);
}

const struct glob_rule *glob_set_decide_name(const struct glob_set *set, const uint64_t *state,
                                             const char *name, size_t length, bool is_directory)
{
    char space[GLOB_PATH_MAX];
    struct glob_name ready;
    struct visit visit = { set, state, &ready, is_directory, NONE, NULL };

    if (length > GLOB_PATH_MAX)
        return NULL;
    glob_name_init(&ready, name, length, set->ignore_case, space);
    visit_all(&visit);
    visit_list(&visit, set->deep_last);
    return visit.best == NONE ? NULL : &set->rules[visit.best].rule;
}

bool glob_set_enter(const struct glob_set *set, const uint64_t *state, const char *name,
                    size_t length, uint64_t *child)
{
    char space[GLOB_PATH_MAX];
    struct glob_name ready;
    struct visit visit = { .set = set, .state = state, .name = &ready, .child = child };
    uint64_t carry = 0;
    uint64_t any = 0;

    for (size_t i = 0; i < set->n_words; i++) {
        uint64_t inner = state[i] & set->deep_inner[i];

        child[i] = (state[i] & set->deep[i]) | inner << 1 | carry;
        carry = inner >> 63;
    }
    if (length <= GLOB_PATH_MAX) {
        glob_name_init(&ready, name, length, set->ignore_case, space);
        visit_all(&visit);
    }
    for (size_t i = 0; i < set->n_words; i++)
        any |= child[i];
    return any != 0;
}

bool glob_set_seek(const struct glob_set *set, const char *directory, uint64_t *state,
                   uint64_t *spare)
{
    const char *name;
    size_t length;
    bool may_match = set->n_rules > 0;

    glob_set_start(set, state);
    while (may_match && glob_next_name(&directory, &name, &length)) {
        may_match = glob_set_enter(set, state, name, length, spare);
        memcpy(state, spare, set->n_words * sizeof *state);
    }
    return may_match;
}
