// The patterns below would end the other kind of comment.
//
// name_filter.h - which files of a tree are meant, as people write it
//
//   *.c               at any depth: a pattern without a slash is about names
//   src/**/*.{c,h}    below the directory that is searched
//   ./*.c             in the directory that is searched
//   docs/             with a slash at the end: directories
//
// A pattern of glob.h, and braces: {a,b} is either, also one in another; a '{' without a ',' and '}' that
// go with it is just a character. Directories are meant by patterns that end in a slash or in a plain
// name ("**/node_modules"), not by those that end in a wildcard.
#pragma once

#include <stdbool.h>

#include "coop/error.h"
#include "tools/search/walk.h"

#define NAME_FILTER_MAX 256 /* patterns that the braces make */

struct name_filter;

/* -EINVAL: the message says what is wrong with it and what to write. */
int name_filter_new(const char *pattern, struct name_filter **out, coop_error **err);
void name_filter_free(struct name_filter *filter); /* NULL is fine */

bool name_filter_takes(const struct name_filter *filter, const char *path, enum walk_kind kind);
/* Whether it might take something below the directory. */
bool name_filter_may_take_below(const struct name_filter *filter, const char *directory);
