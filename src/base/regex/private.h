/*
 * private.h - from a pattern to a machine
 *
 *   text -> tree (base/regex/parse.c) -> program: states and edges over bytes (base/regex/program.c)
 *                                -> the text that every match holds (base/regex/literal.c)
 *   both -> matching (regex.c) by tables made as they are needed (base/regex/tables.c)
 */
#pragma once

#include <stdint.h>

#include "base/find_bytes.h"
#include "base/regex/regex.h"

/* ---- characters */

struct regex_range {
    uint32_t from, to;
};

/* Ranges, in any order until regex_set_tidy() */
struct regex_set {
    struct regex_range *items;
    size_t n, capacity;
    bool failed; /* no memory */
};

void regex_set_done(struct regex_set *set);
void regex_set_add(struct regex_set *set, uint32_t from, uint32_t to);
void regex_set_fold(struct regex_set *set); /* adds the other case of everything */
/* Sorted and without overlaps; negated, if asked; never a '\n'. */
void regex_set_tidy(struct regex_set *set, bool is_negated);
/* Adds a class such as 'd' (\d) or 'W'; false: there is none of that letter. */
bool regex_set_add_escape(struct regex_set *set, char letter);
/* Adds "alpha" and so on. */
bool regex_set_add_posix(struct regex_set *set, const char *name, size_t n);

/* The other case of a character; itself if it has none. */
uint32_t regex_other_case(uint32_t c);

/* Its bytes in UTF-8, up to 4: as many as are returned. */
size_t regex_encode(uint32_t c, unsigned char *out);

/* ---- tree */

enum regex_kind {
    REGEX_EMPTY,
    REGEX_CHARACTER,
    REGEX_SET,
    REGEX_SEQUENCE,    /* the first child is the last part */
    REGEX_ALTERNATIVE, /* of its children */
    REGEX_REPEAT,
    REGEX_ASSERTION
};

enum regex_assertion {
    REGEX_AT_BEGIN,
    REGEX_AT_END,
    REGEX_AT_WORD_EDGE,
    REGEX_NOT_AT_WORD_EDGE,
    REGEX_AT_WORD_BEGIN,
    REGEX_AT_WORD_END
};

#define REGEX_NONE    UINT32_MAX
#define REGEX_NO_LAST UINT32_MAX /* of a repetition without end */

struct regex_node {
    uint8_t kind;      /* enum regex_kind */
    uint8_t assertion; /* enum regex_assertion */
    bool folds;        /* a character that is an ASCII letter of either case */
    uint32_t first;    /* child */
    uint32_t next;     /* sibling */
    uint32_t character;
    uint32_t min, max;         /* of a repetition */
    uint32_t ranges, n_ranges; /* of a set */
};

struct regex_tree {
    struct regex_node *nodes;
    size_t n_nodes, nodes_capacity;
    struct regex_set ranges; /* of all sets, one after the other */
    uint32_t root;
};

int regex_parse(const char *pattern, size_t n, unsigned flags, struct regex_tree *out,
                coop_error **err);
void regex_tree_done(struct regex_tree *tree);

/* ---- the text that every match holds */

struct regex_literal {
    unsigned char bytes[FIND_BYTES_MAX];
    size_t n; /* 0: there is none */
    bool folds;
    bool is_all; /* a line that holds it matches */
};

void regex_find_literal(const struct regex_tree *tree, struct regex_literal *out);

/* ---- program */

enum regex_state_kind {
    REGEX_STATE_BYTE,  /* one of the edges is taken */
    REGEX_STATE_SPLIT, /* to both */
    REGEX_STATE_CHECK, /* on, if the assertion holds */
    REGEX_STATE_MATCH
};

struct regex_state {
    uint8_t kind;      /* enum regex_state_kind */
    uint8_t assertion; /* enum regex_assertion */
    uint16_t n_edges;
    uint32_t a; /* the first edge, or where to go on */
    uint32_t b; /* of a split */
};

struct regex_edge {
    uint8_t from, to;
    uint32_t target;
};

struct regex_program {
    struct regex_state *states;
    size_t n_states, states_capacity;
    struct regex_edge *edges;
    size_t n_edges, edges_capacity;
    uint32_t start;
    bool has_checks;
    bool has_begin_checks, has_word_checks;
    uint8_t class_of[256]; /* bytes between which no edge and no check tells */
    uint8_t byte_of[256];  /* one byte of each class */
    unsigned n_classes;
};

int regex_compile(const struct regex_tree *tree, struct regex_program *out, coop_error **err);
void regex_program_done(struct regex_program *program);

static inline bool regex_is_word(unsigned c)
{
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || c == '_' || (c >= 'a' && c <= 'z');
}

/* ---- tables */

/* What stands before a place, as far as the program asks. */
enum regex_before { REGEX_BEFORE_OTHER, REGEX_BEFORE_WORD, REGEX_BEFORE_BEGIN };

/* A set of states, in the order of arrival; a number that was never added may be anything. */
struct regex_list {
    uint32_t *items;
    size_t n;
};

/* Steps of the program, for one set of states at a time. */
struct regex_stepper {
    const struct regex_program *program;
    uint32_t *seen; /* by state: the round in which it was last added */
    uint32_t round;
    uint32_t *stack;
    struct regex_list start; /* what any place of a text begins with */
    struct regex_list list;  /* of the step under way */
    bool matches_all;        /* also the empty text: every line matches */
};

int regex_stepper_init(struct regex_stepper *stepper, const struct regex_program *program,
                       coop_error **err);
void regex_stepper_done(struct regex_stepper *stepper);
/* Makes *to what comes after `byte`; true if there is a match before or behind it. `from` and `to`
 * have room for every state. Never for '\n' as far as *to is concerned: a new line begins. */
bool regex_step(struct regex_stepper *stepper, const struct regex_list *from,
                enum regex_before before, unsigned char byte, struct regex_list *to);
enum regex_before regex_before_of(const struct regex_program *program, unsigned char byte);

struct regex_tables; /* rows of the deterministic machine, as many as there is room for */

#define REGEX_ROW_UNKNOWN 0u
#define REGEX_ROW_MATCH   1u

int regex_tables_new(struct regex_stepper *stepper, struct regex_tables **out, coop_error **err);
void regex_tables_free(struct regex_tables *tables);

enum regex_verdict { REGEX_NO_LINE, REGEX_LINE, REGEX_TOO_MANY_ROWS };

/* Runs over the lines of text[*at..n) until one matches, *at is where that showed. When rows come and
 * go too fast, ends at the beginning of a line and says so. */
enum regex_verdict regex_tables_run(struct regex_tables *tables, const char *text, size_t n,
                                    size_t *at);
/* The same without tables. */
enum regex_verdict regex_states_run(struct regex_tables *tables, const char *text, size_t n,
                                    size_t *at);
