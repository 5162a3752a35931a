/*
 * workspace_check.h - directories that cannot be a workspace, or a root
 *
 * Asked by whoever shows one: the plan for boxes, the file tools, `coop why` and `coop check`, so that
 * all of them say the same. What a directory is, is decided by device and inode.
 */
#pragma once

#include "coop/error.h"
#include "policy/policy.h"

/* `fd` is of the directory that `path` names. -EINVAL, COOP_ERROR_BAD_POLICY: it is refused. */
int workspace_check(const coop_policy *policy, int fd, const char *path, coop_error **err);

/* The same for names that git has recorded in a root and that are not there: a checkout in a box wrote
 * them elsewhere. Reads git's index, so it is asked once for each box. */
int workspace_check_index(const coop_policy *policy, int fd, const char *path, coop_error **err);

/* Both for what the policy, or else `workspace`, names; what cannot be opened is for the plan to
 * complain about. */
int workspace_check_policy(const coop_policy *policy, const char *workspace, coop_error **err);

/* A root whose names are the box's own would hide them from commands, and git would record their
 * removal. `names` is a list, each ending with a NUL, and one more NUL. */
int workspace_refuse_names(const char *path, const char *names, coop_error **err);
