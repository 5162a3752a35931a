/*
 * limits.c - a policy's part about limits
 */
#include <errno.h>

#include "base/error.h"
#include "policy/policy.h"
#include "policy/setting.h"

_Static_assert((int)SETTING_SANDBOX_TMP_SIZE - (int)SETTING_SANDBOX_MEMORY == COOP_LIMIT_TMP_SIZE,
               "the rows of limits have the order of coop_limit");

const char *const policy_limit_names[] = { "memory",    "pids",       "cpus",     "cpu-seconds",
                                           "file-size", "open-files", "tmp-size", NULL };

int coop_policy_set_limit(coop_policy *policy, coop_limit limit, uint64_t value, coop_error **err)
{
    if ((unsigned)limit >= COOP_LIMIT_COUNT)
        return fail_kind(err, COOP_ERROR_BAD_POLICY, EINVAL, "bad limit %d", (int)limit);
    return policy_put(policy, policy_limit_setting(limit), value, err);
}
