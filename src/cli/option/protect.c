/*
 * protect.c - options: protected names
 */
#include <errno.h>

#include "base/error.h"
#include "cli/option/option.h"
#include "policy/policy.h"

int option_add_protect(void *context, const char *value, coop_error **err)
{
    return policy_add_protect(POLICY(context), value, COOP_PROTECT_HIDE,
                              (struct origin){ "--protect", 0, 0 }, err);
}

int option_add_protect_write(void *context, const char *value, coop_error **err)
{
    return policy_add_protect(POLICY(context), value, COOP_PROTECT_KEEP,
                              (struct origin){ "--protect-write", 0, 0 }, err);
}

/* The owner's files may say so for everybody; a run on somebody's behalf may not. */
static int check_owner(void *context, const char *option, coop_error **err)
{
    const struct run_config *identity = IDENTITY(context);
    const struct trust_decision *decision = &identity->decision;

    if (!identity->as || run_config_route(identity) == ROUTE_HOST)
        return 0;
    int r = fail_kind(err, COOP_ERROR_BAD_POLICY, EACCES,
                      "%s is for the owner only, and '%s' has the trust '%s'", option, identity->as,
                      trust_names[decision->trust]);
    return fail_hint(err, r,
                     "to show a path to everyone, list it in protect.allow in the owner's file");
}

int option_add_unprotect(void *context, const char *value, coop_error **err)
{
    int r = check_owner(context, "--unprotect", err);

    return r < 0 ? r
                 : policy_add_protect(POLICY(context), value, COOP_PROTECT_SHOW,
                                      (struct origin){ "--unprotect", 0, 0 }, err);
}

int option_lift_protect(void *context, const char *value, coop_error **err)
{
    int r = check_owner(context, "--no-protect", err);

    (void)value;
    return r < 0 ? r : coop_policy_set_protect_defaults(POLICY(context), false, err);
}
