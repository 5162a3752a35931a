/*
 * packed.h - what notify protects, as bytes: made by the plan, read by init
 *
 *   header, held (policy/path/path_set.h), roots (strings, each with its NUL), outside, hidden, aliases, gates,
 *   padding to 8, exceptions (protect/write_rules.h), padding to 8, packed patterns (glob/pack.h)
 *
 * Roots are directories of the box, "/work" say: only there does anything need deciding. Patterns
 * are about paths of the box without their leading slash: "work/.git/hooks".
 */
#pragma once

#include <stdint.h>

/* What happens to a forbidden name that git itself writes. */
enum notify_review_kind {
    NOTIFY_GATE_NONE,
    NOTIFY_GATE_CONFIG, /* a git configuration: what git writes there is looked at, harmless passes */
    NOTIFY_GATE_COMMONDIR /* of a linked worktree: it is made, with the one text that git writes */
};

struct packed_rules_header {
    uint32_t size; /* of all */
    uint32_t n_roots;
    uint32_t ignore_case;
    uint32_t roots_at;
    uint32_t outside_at;  /* paths of the box that no root holds, where one is "/"; ends with "" */
    uint32_t hidden_at;   /* names of the top level that may not be read, there; likewise */
    uint32_t held_at;     /* directories with something hidden below: they may not be moved */
    uint32_t aliases_at;  /* pairs: a place, and where the rules know it; likewise */
    uint32_t reviewed_at; /* a byte for each pattern: enum notify_review_kind */
    uint32_t n_rules;     /* patterns; those that follow them are exceptions */
    uint32_t exceptions_at; /* for each of them those that lift it; 0: there are none */
    uint32_t patterns_at;
};

#define PACKED_RULES_MAX (8u << 20)
#define NOTIFY_ROOTS_MAX 256
