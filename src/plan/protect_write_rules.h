/*
 * protect_write_rules.h - what nobody inside may write or make, for whoever decides by the same rules
 */
#pragma once

#include "plan/plan.h"
#include "policy/protect.h"
#include "protect/scan/scan.h"

/* Adds the patterns to the plan's: rules for a tree that is seen at `root` of the box. */
void protect_write_rules(struct plan *plan, struct protect *rules, const struct protect_scan *scan,
                         const char *root, int root_fd);

/* Where a large tree is remembered from one search to the next; NULL: nowhere. */
const char *protect_cache_directory(struct plan *plan);
