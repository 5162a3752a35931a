/*
 * commands.c - a policy's part about commands: what may run, and how strongly that is held
 */
#include "policy/commands.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

const char *const policy_strength_names[] = { "off", "check", "enforce", NULL };

static const struct origin by_call = { "the policy", 0, 0 };

/* Few names, many rules: each name is kept once. NULL: without memory. */
static const char *keep_name(coop_policy *policy, const char *name)
{
    struct policy_commands *commands = &policy->commands;

    for (size_t i = 0; i < commands->n_names; i++)
        if (strcmp(commands->names[i], name) == 0)
            return commands->names[i];
    char **grown = reallocarray(commands->names, commands->n_names + 1, sizeof *grown);
    if (!grown)
        return NULL;
    commands->names = grown;
    grown[commands->n_names] = strdup(name);
    return grown[commands->n_names] ? grown[commands->n_names++] : NULL;
}

static int keep_origin(coop_policy *policy, struct origin *origin, coop_error **err)
{
    if (!origin->name)
        return 0;
    origin->name = keep_name(policy, origin->name);
    return origin->name ? 0 : fail_no_memory(err);
}

static int keep_origins(coop_policy *policy, struct command_rule *rule, coop_error **err)
{
    int r = keep_origin(policy, &rule->origin, err);

    for (size_t i = 0; r == 0 && i < rule->n_allowed; i++)
        r = keep_origin(policy, &rule->allowed[i].origin, err);
    for (size_t i = 0; r == 0 && i < rule->n_blocked; i++)
        r = keep_origin(policy, &rule->blocked[i].origin, err);
    return r;
}

int policy_take_commands(coop_policy *policy, struct command_rules *rules, coop_error **err)
{
    command_rules_done(&policy->commands.rules);
    policy->commands.rules = *rules;
    *rules = (struct command_rules){ 0 };
    policy_mark(policy, SETTING_COMMANDS);
    int r = 0;
    for (size_t i = 0; r == 0 && i < policy->commands.rules.n; i++)
        r = keep_origins(policy, &policy->commands.rules.items[i], err);
    return r;
}

int policy_copy_commands(const coop_policy *from, coop_policy *to, coop_error **err)
{
    auto_command_rules struct command_rules copy = { 0 };
    unsigned set = to->set;
    int r = command_rules_copy(&from->commands.rules, &copy, err);

    if (r == 0)
        r = policy_take_commands(to, &copy, err);
    to->commands.strength = from->commands.strength;
    to->set = set;
    return r;
}

void policy_free_commands(coop_policy *policy)
{
    command_rules_done(&policy->commands.rules);
    for (size_t i = 0; i < policy->commands.n_names; i++)
        free(policy->commands.names[i]);
    free(policy->commands.names);
}

/* ---- the library's own setters */

int coop_policy_set_command_strength(coop_policy *policy, coop_command_strength strength,
                                     coop_error **err)
{
    if ((unsigned)strength > COOP_COMMANDS_ENFORCE)
        return fail_kind(err, COOP_ERROR_BAD_POLICY, EINVAL, "bad command strength %d",
                         (int)strength);
    policy->commands.strength = strength;
    policy_mark(policy, SETTING_COMMANDS_STRENGTH);
    return 0;
}

static int find_or_add(coop_policy *policy, const char *name, struct command_rule **out,
                       coop_error **err)
{
    *out = name ? command_rules_find(&policy->commands.rules, name) : NULL;
    policy_mark(policy, SETTING_COMMANDS);
    return *out ? 0
                : command_rules_add(&policy->commands.rules, name ? name : "", by_call, out, err);
}

int coop_policy_allow_command(coop_policy *policy, const char *name, coop_error **err)
{
    struct command_rule *rule = NULL;

    return find_or_add(policy, name, &rule, err);
}

int coop_policy_allow_subcommand(coop_policy *policy, const char *name, const char *pattern,
                                 coop_error **err)
{
    struct command_rule *rule = NULL;
    int r = find_or_add(policy, name, &rule, err);

    return r < 0 ? r : command_rule_allow(rule, pattern ? pattern : "", by_call, err);
}

int coop_policy_block_subcommand(coop_policy *policy, const char *name, const char *pattern,
                                 coop_error **err)
{
    struct command_rule *rule = NULL;
    int r = find_or_add(policy, name, &rule, err);

    return r < 0 ? r : command_rule_block(rule, pattern ? pattern : "", by_call, err);
}

int coop_policy_add_command_need(coop_policy *policy, const char *name, const char *need,
                                 coop_error **err)
{
    struct command_rule *rule = NULL;
    int r = find_or_add(policy, name, &rule, err);

    return r < 0 ? r : command_rule_need(rule, need ? need : "", err);
}

int coop_policy_set_command_manifest(coop_policy *policy, const char *name, bool manifest,
                                     coop_error **err)
{
    struct command_rule *rule = NULL;
    int r = find_or_add(policy, name, &rule, err);

    if (r == 0)
        rule->manifest = manifest;
    return r;
}
