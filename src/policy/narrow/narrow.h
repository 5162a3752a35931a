/*
 * narrow.h - deriving a policy from another, and the proof that it can do no more
 *
 * coop_policy_narrow() puts a request on top of a copy of the parent and then proves the result:
 * there is one place that knows what "no more" means, and a request that asks for more fails there.
 */
#pragma once

#include "policy/policy.h"

/*
 * `base` with what `request` sets put on top, nothing checked. On top of another request it is the
 * one that says both: narrowing by it is narrowing by the first and then by the second.
 */
int policy_overlay(const coop_policy *base, const coop_policy *request, coop_policy **out,
                   coop_error **err);

/*
 * 1: whatever `child` allows, `parent` allows. 0: not so, or it cannot be shown, and *counter (the
 * caller's to free) says what, as in "network: the child has 'host', the parent 'none'". Negative: an
 * error. What differs only in the texts of links or in patterns that happen to match the same counts
 * as not shown.
 */
int policy_is_within(const coop_policy *child, const coop_policy *parent, char **counter,
                     coop_error **err);

/*
 * Whether a command under this policy, or one that it was narrowed from, could put a link in the place
 * of a part of `source`: then the same text would lead elsewhere. A workspace that is not named may be
 * anywhere.
 */
bool policy_could_replace(const coop_policy *policy, const char *source);

/* By how much a network gives: off, none, gate, nat, host. */
int policy_network_rank(coop_network network);
