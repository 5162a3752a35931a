/*
 * environment.c - options: variables, and who and where the command thinks it is
 */
#include <string.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "base/quantity.h"
#include "cli/option/option.h"
#include "policy/env_rules.h"
#include "policy/policy.h"

int option_set_env(void *context, const char *value, coop_error **err)
{
    auto_free char *name = strdup(value);

    if (!name)
        return fail_no_memory(err);
    char *text = strchr(name, '=');
    if (!text || text == name)
        return option_bad(err, "variable", value, "NAME=VALUE");
    *text++ = '\0';
    int r = coop_policy_set_env(POLICY(context), name, text, err);
    if (r == 0)
        policy_note_variable(POLICY(context), name, "--env");
    return r;
}

int option_pass_env(void *context, const char *value, coop_error **err)
{
    struct policy_arguments *arguments = context;

    int r = env_check_pass(value, strlen(value), arguments->policy->second_prefix, err);

    if (r < 0)
        return r;
    if (arguments->n_env_pass == POLICY_MAX_PASS)
        return option_bad(err, "variable name", value, "at most 256 of them");
    arguments->env_pass[arguments->n_env_pass++] = value;
    return 0;
}

int option_set_chdir(void *context, const char *value, coop_error **err)
{
    return coop_policy_set_directory(POLICY(context), value, err);
}

int option_set_uid(void *context, const char *value, coop_error **err)
{
    uint64_t uid = 0;
    int r = quantity_count(value, 0, UINT32_MAX - 1, &uid, err);

    return r < 0 ? r : coop_policy_set_uid(POLICY(context), (uint32_t)uid, err);
}

int option_set_hostname(void *context, const char *value, coop_error **err)
{
    return coop_policy_set_hostname(POLICY(context), value, err);
}
