/*
 * secret_hide.h - keeps well-known secrets (policy/secret_places.h) out of every box
 *
 * Blocks them in the policy, in the workspace and in every mount that shows them, so that boxes, file
 * tools and `coop why` go by the same. Looks at the host: what is not there now is not blocked, and
 * links are followed first, so that a secret is hidden where it lies.
 */
#pragma once

#include "coop/error.h"
#include "policy/policy.h"

/* `workspace`: where the policy says nothing; NULL: the current directory. Once more does nothing. */
int secret_hide(coop_policy *policy, const char *workspace, coop_error **err);

/* Calls `each` with what leads from the directory `real` to each home directory in it: "", "/me". Stops
 * where that is not 0. */
int secret_each_home(const char *real, int (*each)(void *context, const char *rest), void *context);

/* The part of a path of the host that is below a home directory, as the rules about the top of a
 * workspace are; NULL: it is in none. */
const char *secret_below_home(const char *real);

/* Whether the mount is wide: it shows a whole home directory, or all of /etc. `what` says so. */
bool secret_is_wide(const struct policy_mount *mount, const char **what);
