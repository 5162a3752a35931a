/*
 * name_fold.h - names as a directory that ignores case compares them
 *
 * ASCII letters become small. So do the characters that such a file system (ext4 or f2fs with
 * casefold) takes for ASCII letters: the Kelvin sign is a 'k', the ligature of 'f' and 'i' is both of
 * them, and characters that show nothing are not there at all. Whoever wants to reach ".git/hooks" may
 * write it with any of these. Letters beyond that are compared as they are.
 */
#pragma once

#include <stddef.h>

/* Folds `n` bytes into `out`, which has room for as many; returns how many there are. Bytes that
 * are not UTF-8 stay. */
size_t name_fold(const char *name, size_t n, char *out);
