/*
 * git_shape.h - directories that git takes for a repository's, whatever they are called
 *
 * git needs no name: a directory with HEAD, `objects` and `refs` is a git directory for whoever is in it, and
 * so is one that a file called .git names. Its configuration and hooks are then obeyed. HEAD may be
 * elsewhere (in a linked worktree's own directory), so `objects` and `refs` are what counts: in a
 * directory that has both, names mean what they mean in a .git. When the second of them is made, what is
 * there already is looked through.
 *
 * Symbolic links in a git directory lead git's writes out of it (index, logs, COMMIT_EDITMSG ...), and git
 * makes none.
 *
 * Part of the init image: no libc.
 */
#pragma once

#include <stdbool.h>

bool git_shape_is(int fd);

/* Whether a directory of that shape lies above, or is, the directory. */
bool git_shape_is_within(int fd);

enum git_shape_kind { GIT_SHAPE_DIRECTORY, GIT_SHAPE_LINK, GIT_SHAPE_OTHER };

/* What is about to come to a name. */
struct git_shape_new {
    int fd; /* the directory */
    const char *name;
    enum git_shape_kind kind;
    bool is_in_git;     /* some directory above is called .git */
    int moved_fd;       /* a directory that was elsewhere; -1: it is new */
    const char *target; /* of a new link; NULL: it is not known */
};

enum git_shape_verdict {
    GIT_SHAPE_FINE,
    GIT_SHAPE_REFUSED,
    GIT_SHAPE_CONFIG /* fine, but there is a configuration that nobody has looked at */
};

enum git_shape_verdict git_shape_judge(const struct git_shape_new *new);

/*
 * What was judged before it was made is judged once more when it is there: somebody else may have made
 * the rest of a git directory meanwhile. Whoever makes `objects` or `refs` looks at all that is there
 * (the same verdicts), everybody else at these two; so one of them sees the other.
 */
enum git_shape_verdict git_shape_judge_made(const struct git_shape_new *new);

/* Whether the last name of the path is one that makes the shape. */
bool git_shape_is_key(const char *path);

/* Names in a directory of that shape that the rules about a .git know; "hooks/x" in one below it. */
bool git_shape_is_named(const char *name);
bool git_shape_is_sample(const char *name);
