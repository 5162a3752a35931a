/*
 * git_layout.h - the git directory of a workspace that has it elsewhere
 *
 * A linked worktree and a submodule have a file `.git` that names a directory outside. Without it git
 * does not work in the box, so it comes along. But the file is in the workspace, where anybody may
 * have written it: a directory is believed only if it is a git directory and itself points back to
 * this workspace, which nobody in a box can arrange outside.
 */
#pragma once

#include <limits.h>
#include <stdbool.h>

struct git_layout {
    bool has_worktrees;    /* in the workspace: each is named by its place on the host */
    bool is_outside;       /* the rest is set */
    bool needs_same_path;  /* paths in it are relative: only the workspace's own place will do */
    char source[PATH_MAX]; /* what must come along: the common directory, or a submodule's own */
    char target[PATH_MAX]; /* where git inside will look for it */
    char workspace[PATH_MAX];
    int fd; /* of the source, the caller's to close */
};

/* Finds nothing where anything is odd: then git inside says so itself. */
void git_layout_find(int workspace_fd, struct git_layout *out);
