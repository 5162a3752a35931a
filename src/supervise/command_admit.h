/*
 * command_admit.h - the last word on a command before a box is made for it
 *
 * The policy's rules, and where one has a manifest, what the program says of its sub-commands: it is
 * asked once, in a box of its own, and the answer is remembered by the digest of its file in
 * coop/manifests below $XDG_CACHE_HOME, which others can neither read nor write.
 */
#pragma once

#include "plan/plan.h"

int command_admit(const struct plan *plan, char *const argv[], coop_error **err);

extern const struct origin manifest_origin; /* of what a manifest blocks */

/* manifest_ask.c: adds to `rule` what its program, wherever this box would find it, blocks. */
int manifest_ask(const struct plan *plan, struct command_rule *rule, coop_error **err);
