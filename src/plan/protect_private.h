/*
 * protect_private.h - between the files that make steps of protected paths
 */
#pragma once

#include "plan/plan.h"
#include "plan/protect_never.h"
#include "plan/protect_scan.h"
#include "plan/protect_watch.h"
#include "policy/protect.h"

/* A place of the box where a scanned tree, or a part of it, is seen. */
struct place {
    const char *mount;  /* the target of the mount that shows it */
    const char *target; /* where its root is; the mount's own target or below it */
    const char *below;  /* the part of the tree that is shown there, "" for all */
    int root_fd;        /* of the tree */
    const struct protect_scan *scan;
};

struct plan_protected {
    struct protect *rules;
    struct protect_scan workspace, git;
    struct place *places;
    size_t n_places;
    const struct protect_rule *told; /* the rule whose words were made last */
    const char *words;
    bool has_door;
};

/* Where the tree is a git directory. */
void protect_never_in_git(struct plan *plan, const char *root, int root_fd);
/* What the policy blocks in the workspace, and the directories above that and above its mounts. */
void protect_never_mounts(struct plan *plan);
