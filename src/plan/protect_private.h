/*
 * protect_private.h - between the files that make steps of protected paths
 */
#pragma once

#include "plan/plan.h"
#include "plan/protect_scan.h"
#include "policy/protect.h"

/* Rules for a tree that is seen at `root` of the box. */
void protect_never(struct plan *plan, struct protect *rules, const struct protect_scan *scan,
                   const char *root, int root_fd);
/* Where the tree is a git directory. */
void protect_never_in_git(struct plan *plan, const char *root, int root_fd);
