/*
 * arena.h - memory of many small things that die together
 *
 *   struct arena arena = { 0 };
 *   struct thing *thing = arena_alloc(&arena, sizeof *thing);
 *   arena_done(&arena);
 *
 * What is allocated is zeroed and aligned for pointers and 64-bit numbers.
 */
#pragma once

#include <stddef.h>

struct arena_block;

struct arena {
    struct arena_block *blocks; /* the one with room comes first */
};

void *arena_alloc(struct arena *arena, size_t n); /* NULL: out of memory */

/* The bytes and a NUL behind them. */
char *arena_copy(struct arena *arena, const void *bytes, size_t n);

void arena_done(struct arena *arena);
