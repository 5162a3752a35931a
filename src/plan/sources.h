/*
 * sources.h - opens what a policy names on the host: its workspace and the sources of its mounts
 *
 * Boxes of this policy, and earlier ones like it, can put links into the workspace and into every
 * writable mount, so no link is followed there (sys/source.h). What was opened is what is used: it
 * is compared by device and inode wherever its path is looked up again.
 */
#pragma once

#include <stdbool.h>

#include "policy/policy.h"
#include "sys/source.h"

struct sources {
    const coop_policy *policy;   /* borrowed */
    int workspace_fd;            /* borrowed; -1: not known yet */
    int git_fd;                  /* its git directory elsewhere, borrowed; -1: none */
    struct source_place *places; /* found when the first link is met */
    size_t n_places;             /* the last is the current directory */
};

void sources_done(struct sources *sources);

/* O_PATH, the caller's. `what` is for messages: "the mount source". */
int sources_open(struct sources *sources, const char *what, const char *path, coop_error **err);

/*
 * The real path of what somebody named before there is a policy, the caller's to free. Below
 * `base` no link is followed: for a relative path that is ".", the workspace of most runs, and for
 * an absolute one "/dev/null", which has nothing below it.
 */
int sources_find(const char *what, const char *path, const char *base, char **out,
                 coop_error **err);
#define SOURCES_BASE(path) (*(path) == '/' ? "/dev/null" : ".")
