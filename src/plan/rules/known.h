/*
 * known.h - patterns of notify that were compiled when coop was built
 *
 * The built-in rules about a workspace at /work, and about a .git in it: all that most runs have.
 * Made by gen.c.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct known_rule {
    const char *text; /* "work/.git/hooks" */
    const uint64_t *record;
    size_t size; /* of the record, in bytes: glob/pack.h */
};

extern const struct known_rule known_rules[]; /* sorted by text */
extern const size_t n_known_rules;

/* NULL: it must be compiled. Never for patterns that ignore case. */
const struct known_rule *known_rule_find(const char *text, size_t length);
