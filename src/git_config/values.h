/*
 * values.h - forms that harmless values of a git configuration have
 */
#pragma once

#include <stdbool.h>

#include "git_config/review.h"

enum git_value {
    GIT_VALUE_TEXT,      /* no control characters */
    GIT_VALUE_LONG_TEXT, /* lines of text */
    GIT_VALUE_BOOL,      /* as git reads it; no value at all is true */
    GIT_VALUE_NUMBER,    /* with k, m or g */
    GIT_VALUE_WORD,      /* one of a list, separated by spaces */
    GIT_VALUE_WORD_OR_BOOL,
    GIT_VALUE_WORD_OR_NUMBER,
    GIT_VALUE_URL,       /* of a plain transport; a local path where the place allows it */
    GIT_VALUE_CLONE_URL, /* likewise, and local paths */
    GIT_VALUE_NAME,      /* of a remote; no URL and no path out */
    GIT_VALUE_REMOTE,    /* a name or ".", the repository itself */
    GIT_VALUE_REF,       /* a branch or reference; "." too */
    GIT_VALUE_REFSPEC,
    GIT_VALUE_PATH_INSIDE, /* relative, without ".." */
    GIT_VALUE_WORKTREE     /* back from a submodule's git directory into the work tree */
};

/* NULL: the value has that form. Otherwise why not, as the end of a sentence. */
const char *git_value_harm(enum git_value form, const char *words, const char *value,
                           const struct git_config_place *place);
