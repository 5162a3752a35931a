/*
 * network_nat.c - the network 'nat': what a box may not reach, told to its own namespace
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "net/inside/own_addresses.h"
#include "plan/plan.h"
#include "policy/hosts.h"

void plan_nat_done(struct plan *plan)
{
    if (!plan->nat)
        return;
    nat_inside_done(&plan->nat->inside);
    buffer_done(&plan->nat->rules);
    free(plan->nat);
    plan->nat = NULL;
}

static int prepare(struct plan *plan, struct nat_rule *rules, const uint8_t (*own)[ADDRESS_BYTES],
                   size_t n_own, coop_error **err)
{
    const coop_policy *policy = plan->policy;
    char text[HOST_RULE_TEXT_MAX];

    for (size_t i = 0; i < policy->n_hosts; i++) {
        rules[i] = (struct nat_rule){ &policy->hosts[i].rule, policy->hosts[i].is_denied };
        (void)host_rule_format(&policy->hosts[i].rule, text);
        buffer_printf(&plan->nat->rules, "%s %s\n", policy->hosts[i].is_denied ? "deny" : "allow",
                      text);
    }
    int r = nat_inside_prepare(&plan->nat->inside, rules, policy->n_hosts, own, n_own);
    if (r == -E2BIG)
        return fail_kind(err, COOP_ERROR_BAD_POLICY, E2BIG,
                         "%zu rules about hosts are more than the network 'nat' can hold",
                         policy->n_hosts);
    return r < 0 || plan->nat->rules.failed ? fail_no_memory(err) : 0;
}

int plan_nat(struct plan *plan, coop_error **err)
{
    auto_free uint8_t(*own)[ADDRESS_BYTES] = NULL;
    auto_free struct nat_rule *rules = NULL;
    size_t n_own = 0;
    int r = policy_check_nat(plan->policy, err);

    if (r < 0)
        return r;
    r = own_addresses(&own, &n_own);
    if (r < 0)
        return fail(err, -r, "ask the kernel for the host's own addresses");
    rules = calloc(plan->policy->n_hosts + 1, sizeof *rules);
    plan->nat = calloc(1, sizeof *plan->nat);
    if (!rules || !plan->nat)
        return fail_no_memory(err);
    return prepare(plan, rules, (const uint8_t(*)[ADDRESS_BYTES])own, n_own, err);
}
