/*
 * facts.c - what a policy lets a command be told about its run
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "policy/env_rules.h"
#include "policy/policy.h"

static int replace(char **slot, const char *text, coop_error **err)
{
    char *copy = text ? strdup(text) : NULL;

    if (text && !copy)
        return fail_no_memory(err);
    free(*slot);
    *slot = copy;
    return 0;
}

int coop_policy_set_fact(coop_policy *policy, coop_fact fact, const char *value, coop_error **err)
{
    if ((unsigned)fact >= COOP_FACT_COUNT)
        return fail_kind(err, COOP_ERROR_BAD_POLICY, EINVAL, "bad fact %d", (int)fact);
    if (!value && fact > COOP_FACT_CREATED)
        return fail_kind(err, COOP_ERROR_BAD_POLICY, EINVAL,
                         "the fact %d needs a value: coop cannot find it out", (int)fact);
    int r = replace(&policy->facts[fact], value, err);
    if (r == 0)
        policy->tells[fact] = true;
    return r;
}

int coop_policy_set_second_prefix(coop_policy *policy, const char *prefix, coop_error **err)
{
    int r = env_check_second_prefix(prefix ? prefix : "", prefix ? strlen(prefix) : 0, err);

    for (size_t i = 0; r == 0 && i < policy->n_variables; i++) {
        const char *name = policy->variables[i].name;

        r = env_check_set(name, strlen(name), "", 0, prefix, err);
    }
    for (size_t i = 0; r == 0 && i < policy->n_secrets; i++)
        r = env_check_set(policy->secrets[i].entry, policy->secrets[i].n_variable, "", 0, prefix,
                          err);
    for (size_t i = 0; r == 0 && i < policy->n_credentials; i++)
        if (policy->credentials[i].variable)
            r = env_check_set(policy->credentials[i].variable,
                              strlen(policy->credentials[i].variable), "", 0, prefix, err);
    return r < 0 ? r : replace(&policy->second_prefix, prefix, err);
}

void policy_forget_fact(coop_policy *policy, coop_fact fact)
{
    (void)replace(&policy->facts[fact], NULL, NULL);
    policy->tells[fact] = false;
}

int policy_copy_facts(const coop_policy *from, coop_policy *to, coop_error **err)
{
    int r = replace(&to->second_prefix, from->second_prefix, err);

    for (int i = 0; r == 0 && i < COOP_FACT_COUNT; i++) {
        to->tells[i] = from->tells[i];
        r = replace(&to->facts[i], from->facts[i], err);
    }
    return r;
}

void policy_free_facts(coop_policy *policy)
{
    for (int i = 0; i < COOP_FACT_COUNT; i++)
        free(policy->facts[i]);
    free(policy->second_prefix);
}
