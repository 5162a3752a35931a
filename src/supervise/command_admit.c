#include "command_admit.h"

#include <stdlib.h>

#include "plan/command_check.h"

static bool has_manifests(const struct command_rules *rules)
{
    for (size_t i = 0; i < rules->n; i++)
        if (rules->items[i].manifest)
            return true;
    return false;
}

/* 1: without the rule the command would not be allowed. So nobody else need know how it is found. */
static int is_used(const struct plan *plan, const char *name, char *const argv[], coop_error **err)
{
    auto_command_rules struct command_rules others = { 0 };
    auto_command_decision struct command_decision decision = { 0 };
    int r = command_rules_copy(&plan->policy->commands.rules, &others, err);

    if (r < 0)
        return r;
    command_rules_remove(&others, name);
    r = command_check_decide(plan, &others, argv, &decision, err);
    return r < 0 ? r : !decision.is_allowed;
}

static int ask_manifests(const struct plan *plan, struct command_rules *rules, char *const argv[],
                         coop_error **err)
{
    for (size_t i = 0; i < rules->n; i++) {
        if (!rules->items[i].manifest)
            continue;
        int r = is_used(plan, rules->items[i].name, argv, err);
        if (r == 1)
            r = manifest_ask(plan, &rules->items[i], err);
        if (r < 0)
            return r;
    }
    return 0;
}

int command_admit(const struct plan *plan, char *const argv[], coop_error **err)
{
    auto_command_rules struct command_rules rules = { 0 };
    auto_command_decision struct command_decision decision = { 0 };
    int r = command_check(plan, argv, err);

    if (r < 0 || plan->policy->commands.strength == COOP_COMMANDS_OFF ||
        !has_manifests(&plan->policy->commands.rules))
        return r;
    r = command_rules_copy(&plan->policy->commands.rules, &rules, err);
    if (r == 0)
        r = ask_manifests(plan, &rules, argv, err);
    if (r == 0)
        r = command_check_decide(plan, &rules, argv, &decision, err);
    if (r < 0 || decision.is_allowed)
        return r;
    if (decision.has_origin && decision.origin.name == manifest_origin.name) {
        free(decision.allow); /* it is in no file of ours */
        decision.allow = NULL;
    }
    return command_check_refuse(&decision, argv, err);
}
