/*
 * source.h - opens what a path names, through no link that a command may have made
 *
 * A command can put a link into every directory that its box may write, and a later run would
 * follow it with the rights of the caller. So below such a directory, a *place*, no component of a
 * path may be a link. Links elsewhere are the user's own and are followed; where they lead into a
 * place, the same holds below it. A place is known by what it is, not by its name.
 */
#pragma once

#include <linux/limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct source_place {
    dev_t dev;
    ino_t ino;
};

struct source_places {
    struct source_place *items;
    size_t n;
};

/* O_PATH, never 0, 1 or 2; or -errno, which is -ELOOP as soon as there is any link on the way. */
int source_open_straight(const char *path);

/*
 * The same, but links outside the places are followed. At one that lies in a place the answer is
 * -ELOOP, and `out_link` its path; else `out_link` is empty.
 */
int source_open(const char *path, const struct source_place *places, size_t n,
                char out_link[PATH_MAX]);

/* Whether what `path` names (absolute, without links) lies below one of the places; true if nobody
 * can tell. */
bool source_is_below(const char *path, const struct source_place *places, size_t n);

/* The kernel's own name of what is behind `fd`: absolute, without links. 0 or -errno. */
int source_name(int fd, char out[PATH_MAX]);
