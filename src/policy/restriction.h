/*
 * restriction.h - what "read-only" and "restrict" leave of mounts that were named before
 *
 * Whoever restricts a policy restricts all of it: mounts that were named below (by a file, where a flag or
 * a user's own table restricts; by the parent, where a child does) can only be read, or are gone if
 * they lie outside the part that is left. One that is named again, at the place of the restriction
 * or above, is as it is named there.
 */
#pragma once

#include "policy/policy.h"

/* Who named a mount: 0 is coop itself or a program, then the layers of the configuration. */
#define POLICY_RANK_FLAG  1000u
#define POLICY_RANK_CHILD 1001u /* of who restricts: above everybody */

struct policy_restriction {
    unsigned read_only;    /* mounts of lower ranks can only be read; 0: all are as they were */
    unsigned restricted;   /* mounts of lower ranks are gone, if outside; 0: all stay */
    const char *workspace; /* on the host; NULL: not known */
};

/* Whether something is mounted at the path or below it. */
bool policy_has_mount_below(const coop_policy *policy, const char *path);

int policy_restrict_mounts(coop_policy *policy, const struct policy_restriction *by,
                           coop_error **err);
