/*
 * walk_ignore.h - the .gitignore files that hold in one directory of a walk
 */
#pragma once

#include <stddef.h>

#include "tools/path/place.h"
#include "tools/search/gitignore.h"

#define WALK_IGNORE_FILE    ".gitignore"
#define WALK_IGNORE_EXCLUDE ".git/info/exclude"
#define WALK_IGNORE_MAX     (256 * 1024) /* bytes of one file; what is behind them is not read */

struct walk_ignore {
    const struct gitignore
        *rules; /* these hold: own ones in front, then those of the directories above */
    struct gitignore **own;
    size_t n_own;
};

/* Puts the rules of a file in front; `path_length` is of its directory's path, with the '/'. A file that
 * cannot be read has none. -ENOMEM. */
int walk_ignore_load(struct walk_ignore *ignore, int directory_fd, const char *name,
                     size_t path_length);

/* The rules of the directories above the place, up to the repository's root or the mount's. -ENOMEM. */
int walk_ignore_load_above(struct walk_ignore *ignore, const struct place *place);

void walk_ignore_done(struct walk_ignore *ignore);
