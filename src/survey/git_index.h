/*
 * git_index.h - the names at the top of what git has recorded
 *
 * The file may have been written by a command: every length in it is checked, and what cannot be read
 * has no names. Git does not work with such a file either.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* `name` has `n` bytes and no slash, and is not terminated. */
typedef void git_index_each(void *context, const char *name, size_t n);

/* Calls `each` with the first name of every recorded path that should be in the work tree whose root is
 * `root_fd`; the same name only once in a row. 0 or -errno: -EFBIG, -ENOMEM. */
int git_index_names(int root_fd, git_index_each *each, void *context);

#define GIT_INDEX_SHARED 80

/* The same for the bytes of one such file. `hash_size`: 20 or 32. False: it is not one. A split index has
 * most names in a second file, whose name is put into `out_shared`, else ""; what was taken out of that since
 * still counts. */
bool git_index_parse(const char *bytes, size_t size, size_t hash_size, git_index_each *each,
                     void *context, char out_shared[GIT_INDEX_SHARED]);
