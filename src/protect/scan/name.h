/*
 * name.h - what rules, and git, have to do with a name of a directory
 *
 * A name's path is the one from the workspace; `fd` is the directory that it stands in.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "policy/protect.h"

/* A directory as the rules see it. */
struct protect_place {
    uint16_t git_at; /* as in struct scan_entry */
    uint8_t mode;    /* enum entry_mode */
};

bool protect_name_is_git(const struct protect *protect, const char *name, size_t length);

/* Whether a rule, or git, is about this path: then it is looked at each time. */
bool protect_name_is_candidate(struct protect *protect, const struct protect_place *directory,
                               const char *path, const char *name, size_t length,
                               bool is_directory);

/* Whether it is hidden as a whole if it is a directory: built-in rules are for files. */
bool protect_name_hides_directory(struct protect *protect, const struct protect_place *directory,
                                  const char *path);

/* Whether the name tells of a git directory without a name that says so: a bare repository, or a .git
 * that is the workspace. */
bool protect_name_is_of_bare(const struct protect_place *directory, int fd, const char *name);

/* How to go on below a directory of that name; false: not at all. */
bool protect_name_enters(struct protect *protect, const struct protect_place *directory, int fd,
                         const char *path, const char *name, size_t length,
                         struct protect_place *out);
