/*
 * path_set.h - a set of paths as bytes, to be looked up by a process that has no libc
 *
 *   one less than the number of buckets, buckets (where a string begins, 0: nowhere), strings
 *
 * One look costs the same however many there are. The sets are made by us alone: offsets are trusted.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buffer;

#define PATH_SET_MAX_PATH 4096 /* longer ones are not looked up */

/*
 * Appends the set of `paths`, strings with their NULs and an empty one at the end (NULL: none). The
 * buffer must be aligned to 4, and stays so. With `ignore_case`, names are compared as name_fold.h
 * does.
 */
void path_set_pack(struct buffer *out, const char *paths, bool ignore_case);

/* `set` is aligned to 4. A path that is too long counts as one that is in it. */
bool path_set_has(const void *set, const char *path, bool ignore_case);

/* For both: what a path is compared as, and its hash. False if it is too long. */
bool path_set_key(const char *path, bool ignore_case, char out[PATH_SET_MAX_PATH],
                  uint32_t *out_hash);
