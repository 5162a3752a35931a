/*
 * glob_pack.h - compiled patterns as bytes, to be matched by a process that has no libc
 *
 * The box's init decides by the same patterns as everybody else, but must not compile any: it gets
 * them compiled, in a file, with offsets for pointers.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "policy/glob.h"

struct buffer;

/* Appends; the buffer must be empty or aligned to 8. */
void glob_pack(struct buffer *out, const struct glob *const *globs, size_t n);

/*
 * Turns them into patterns again, in place and once. `packed` is aligned to 8 and comes from
 * glob_pack() alone: offsets are trusted. Returns an array of *out_n; item i is glob_packed(it, i).
 */
const struct glob *glob_unpack(void *packed, size_t *out_n);
const struct glob *glob_packed(const struct glob *globs, size_t i);
