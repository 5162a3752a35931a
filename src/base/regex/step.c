/*
 * step.c - sets of states, a byte at a time
 *
 * A set holds states that take a byte, checks that are still to be made, and the match; splits have
 * been followed. A check is made when the next byte is known: what stands before the place is known
 * then as well.
 */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/regex/private.h"
#include "base/utf8.h"

static void next_round(struct regex_stepper *stepper)
{
    if (++stepper->round == 0) {
        memset(stepper->seen, 0, stepper->program->n_states * sizeof *stepper->seen);
        stepper->round = 1;
    }
}

/* Adds a state, or those that a split leads to; true if the match is one of them. */
static bool add(struct regex_stepper *stepper, struct regex_list *list, uint32_t state)
{
    const struct regex_state *states = stepper->program->states;
    size_t n_stack = 1;
    bool is_match = false;

    stepper->stack[0] = state;
    while (n_stack > 0) {
        uint32_t at = stepper->stack[--n_stack];

        if (stepper->seen[at] == stepper->round)
            continue;
        stepper->seen[at] = stepper->round;
        if (states[at].kind == REGEX_STATE_SPLIT) {
            stepper->stack[n_stack++] = states[at].a;
            stepper->stack[n_stack++] = states[at].b;
            continue;
        }
        is_match |= states[at].kind == REGEX_STATE_MATCH;
        list->items[list->n++] = at;
    }
    return is_match;
}

static bool holds(uint8_t assertion, enum regex_before before, unsigned char byte)
{
    bool is_behind_word = before == REGEX_BEFORE_WORD;
    bool is_before_word = regex_is_word(byte);

    switch ((enum regex_assertion)assertion) {
    case REGEX_AT_BEGIN:
        return before == REGEX_BEFORE_BEGIN;
    case REGEX_AT_END:
        return byte == '\n';
    case REGEX_AT_WORD_EDGE:
        return is_behind_word != is_before_word;
    case REGEX_NOT_AT_WORD_EDGE: /* and not within a character */
        return is_behind_word == is_before_word && !utf8_is_continuation(byte);
    case REGEX_AT_WORD_BEGIN:
        return !is_behind_word && is_before_word;
    case REGEX_AT_WORD_END:
        return is_behind_word && !is_before_word;
    }
    return false;
}

/* The list of the stepper becomes `from` and what the checks in it lead to. */
static bool make_checks(struct regex_stepper *stepper, const struct regex_list *from,
                        enum regex_before before, unsigned char byte)
{
    const struct regex_state *states = stepper->program->states;
    struct regex_list *list = &stepper->list;
    bool is_match = false;

    next_round(stepper);
    list->n = 0;
    for (size_t i = 0; i < from->n; i++)
        is_match |= add(stepper, list, from->items[i]);
    for (size_t i = 0; i < list->n; i++) {
        const struct regex_state *state = &states[list->items[i]];

        if (state->kind == REGEX_STATE_CHECK && holds(state->assertion, before, byte))
            is_match |= add(stepper, list, state->a);
    }
    return is_match;
}

static uint32_t follow(const struct regex_program *program, const struct regex_state *state,
                       unsigned char byte)
{
    const struct regex_edge *edges = program->edges + state->a;
    size_t from = 0;
    size_t to = state->n_edges;

    while (from < to) {
        size_t middle = from + (to - from) / 2;
        if (edges[middle].to < byte)
            from = middle + 1;
        else
            to = middle;
    }
    return from < state->n_edges && edges[from].from <= byte ? edges[from].target : REGEX_NONE;
}

bool regex_step(struct regex_stepper *stepper, const struct regex_list *from,
                enum regex_before before, unsigned char byte, struct regex_list *to)
{
    const struct regex_program *program = stepper->program;
    bool is_match = false;

    if (program->has_checks) {
        if (make_checks(stepper, from, before, byte))
            return true;
        from = &stepper->list;
    }
    if (byte == '\n')
        return false;
    next_round(stepper);
    to->n = 0;
    for (size_t i = 0; i < from->n; i++) {
        const struct regex_state *state = &program->states[from->items[i]];
        uint32_t target =
            state->kind == REGEX_STATE_BYTE ? follow(program, state, byte) : REGEX_NONE;

        if (target != REGEX_NONE)
            is_match |= add(stepper, to, target);
    }
    /* a match may begin at any place */
    for (size_t i = 0; i < stepper->start.n; i++)
        is_match |= add(stepper, to, stepper->start.items[i]);
    return is_match;
}

enum regex_before regex_before_of(const struct regex_program *program, unsigned char byte)
{
    return program->has_word_checks && regex_is_word(byte) ? REGEX_BEFORE_WORD : REGEX_BEFORE_OTHER;
}

int regex_stepper_init(struct regex_stepper *stepper, const struct regex_program *program,
                       coop_error **err)
{
    size_t n = program->n_states;

    *stepper = (struct regex_stepper){
        .program = program,
        .seen = calloc(n, sizeof *stepper->seen),
        .stack = calloc(2 * n + 2, sizeof *stepper->stack), /* two for each split, once */
        .start.items = calloc(n, sizeof *stepper->start.items),
        .list.items = calloc(n, sizeof *stepper->list.items),
    };
    if (!stepper->seen || !stepper->stack || !stepper->start.items || !stepper->list.items) {
        regex_stepper_done(stepper);
        return fail_no_memory(err);
    }
    next_round(stepper);
    stepper->matches_all = add(stepper, &stepper->start, program->start);
    return 0;
}

void regex_stepper_done(struct regex_stepper *stepper)
{
    free(stepper->seen);
    free(stepper->stack);
    free(stepper->start.items);
    free(stepper->list.items);
    *stepper = (struct regex_stepper){ 0 };
}
