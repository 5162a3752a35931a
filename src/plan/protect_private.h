/*
 * protect_private.h - between the files that make steps of protected paths
 */
#pragma once

#include "plan/plan.h"
#include "plan/protect_watch.h"
#include "plan/protect_write_rules.h"
#include "policy/protect.h"
#include "protect/scan/scan.h"

/* A place of the box where a scanned tree, or a part of it, is seen. */
struct shown_tree {
    const char *mount;  /* the target of the mount that shows it */
    const char *target; /* where its root is; the mount's own target or below it */
    const char *below;  /* the part of the tree that is shown there, "" for all */
    int root_fd;        /* of the tree */
    const struct protect_scan *scan;
    bool is_beside;    /* a mount of something else than the workspace: plan/protect_binds.h */
    bool is_read_only; /* such a mount, of which nothing can be written */
};

struct bind_tree;

struct plan_protected {
    struct protect *rules;
    struct protect_scan workspace, git;
    struct bind_tree *binds; /* what was searched beside them */
    struct shown_tree *places;
    size_t n_places;
    const struct protect_rule *told; /* the rule whose words were made last */
    const char *words;
    bool has_notify;
};

void protect_place_add(struct plan *plan, const struct shown_tree *place);

/* Where the tree is a git directory. */
void protect_write_rules_in_git(struct plan *plan, const char *root, int root_fd);
/* What the policy blocks in the workspace, and the directories above that and above its mounts. */
void protect_write_rules_mounts(struct plan *plan);
/* Coop's own files in a mount beside it, there or not; false: there are none. */
bool protect_write_rules_own(struct plan *plan, const struct policy_mount *mount);
