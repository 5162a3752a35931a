/*
 * protect_path.h - what the rules say about a path, and about everything above it
 *
 * A rule about a directory is about everything in it, so each parent is asked, from the top. Below a
 * dependency tree or a .git the built-in rules that hide do not hold; in every git directory, bare
 * ones included, its own rules do.
 *
 * Pure: whoever asks reads the file where a rule depends on its content.
 */
#pragma once

#include <sys/types.h>

#include "policy/protect.h"

enum protect_kind {
    PROTECT_A_FILE,
    PROTECT_A_DIRECTORY,
    PROTECT_EITHER /* nobody knows: whatever is stricter */
};

struct protect_question {
    struct protect *protect;
    enum protect_kind kind; /* of what is at the path */
    bool is_writing;
    bool
        is_git_config; /* likewise, but only those rules count that are about git's configuration */
    bool is_private;   /* only its owner may read it, and its mode is looked at there */
    bool is_absent;    /* nothing is there that could be hidden; what is above may be */
    /* The first bytes of what is at the path; negative: nobody can look, and it is taken for a
     * secret. NULL: likewise. */
    ssize_t (*read_file)(void *opaque, const char *path, char *bytes, size_t size);
    /* Whether there is something at a path. Rules that hide are about what a box finds: it may make
     * such a name itself. So are those of git directories. NULL: everything is there. */
    bool (*exists)(void *opaque, const char *path);
    void *opaque;
};

/* The rule that forbids it; NULL: none does. `path` is relative to the workspace and normal. */
const struct protect_rule *protect_path_rule(const struct protect_question *question,
                                             const char *path);
