/*
 * pack.h - compiled patterns as bytes, to be matched by a process that has no libc
 *
 *   count, where each record begins, records
 *
 * The box's init decides by the same patterns as everybody else, but must not compile any: it gets
 * them compiled, in a file, with offsets for pointers. A record is self-contained: those of patterns
 * that are known when coop is built are made then (plan/rules/gen.c).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "glob/glob.h"

struct buffer;

struct glob_packing {
    struct buffer *out;
    size_t base; /* where the count stands */
    size_t n_added;
};

/* Exactly `n` records follow. The buffer must be empty or aligned to 8. */
void glob_pack_begin(struct glob_packing *packing, struct buffer *out, size_t n);
void glob_pack_add(struct glob_packing *packing, const struct glob *glob);
/* A record that was made by glob_pack_record() before. */
void glob_pack_add_record(struct glob_packing *packing, const void *record, size_t size);

/* Appends, and keeps the buffer aligned to 8. */
void glob_pack_record(struct buffer *out, const struct glob *glob);

/*
 * Turns them into patterns again, in place and once. `packed` is aligned to 8 and comes from the
 * functions above alone: offsets are trusted.
 */
void glob_unpack(void *packed);
size_t glob_n_packed(const void *packed); /* before or after */
const struct glob *glob_packed(const void *packed, size_t i);
