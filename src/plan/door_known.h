/*
 * door_known.h - patterns of the door that were compiled when coop was built
 *
 * The built-in rules about a workspace at /work, and about a .git in it: all that most runs have.
 * Made by door_gen.c.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct door_known {
    const char *text; /* "work/.git/hooks" */
    const uint64_t *record;
    size_t size; /* of the record, in bytes: policy/glob_pack.h */
};

extern const struct door_known door_known_patterns[]; /* sorted by text */
extern const size_t door_n_known_patterns;

/* NULL: it must be compiled. Never for patterns that ignore case. */
const struct door_known *door_known(const char *text, size_t length);
