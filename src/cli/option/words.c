/*
 * words.c - what options have in common: where a value came from, and what is wrong with one
 */
#include <errno.h>

#include "base/error.h"
#include "cli/option/option.h"
#include "policy/policy.h"
#include "policy/restriction.h"
#include "policy/setting.h"

int option_bad(coop_error **err, const char *what, const char *value, const char *expected)
{
    return fail_kind(err, COOP_ERROR_BAD_POLICY, EINVAL, "bad %s '%s': expected %s", what, value,
                     expected);
}

/* Who said so of a value that was just set. */
int option_note_value(void *context, int r, enum setting what, const char *flag, coop_error **err)
{
    return r < 0 ? r : policy_note(POLICY(context), what, (struct origin){ flag, 0, 0 }, err);
}

/* Who said so of the mount that was just added. */
int option_note(void *context, int r, const char *flag, coop_error **err)
{
    if (r < 0)
        return r;
    POLICY(context)->mounts[POLICY(context)->n_mounts - 1].rank = POLICY_RANK_FLAG;
    return policy_note_origin(POLICY(context), (struct origin){ flag, 0, 0 }, err);
}

int option_set(void *context, enum setting id, const char *value, coop_error **err)
{
    const struct policy_setting *setting = &policy_settings[id];
    uint64_t number = 1; /* a flag without a value says yes */
    int r = value ? policy_parse_setting(id, value, &number, err) : 0;

    if (r == 0)
        r = policy_put(POLICY(context), id, number, err);
    return option_note_value(context, r, id, setting->flag, err);
}
