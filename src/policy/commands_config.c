/*
 * commands_config.c - command rules as [commands] has them
 *
 * What is built in comes first. A list of the owner's replaces the one built in; a project's list of
 * what is blocked is added to either. So a project that names [commands.git] takes nothing away.
 */
#include "base/error.h"
#include "config/config.h"
#include "policy/commands.h"

/* In the order of the words of commands.strength. */
static const coop_command_strength strengths[] = { COOP_COMMANDS_ENFORCE, COOP_COMMANDS_CHECK,
                                                   COOP_COMMANDS_OFF };

struct filling {
    const struct config *config;
    struct command_rules *rules;
    struct findings *findings;
};

static void check(struct filling *filling, struct origin origin, int r, coop_error *err)
{
    if (r < 0)
        findings_add(filling->findings, SEVERITY_ERROR, origin, coop_error_hint(err), "%s",
                     coop_error_message(err));
    coop_error_free(err);
}

static void fill_allowed(struct filling *filling, struct command_rule *rule, const char *name)
{
    struct config_value value = config_get_named(filling->config, "commands.*.allowed", name);
    struct config_items items = config_items_named(filling->config, "commands.*.allowed", name);

    if (!config_is_set(&value))
        return;
    command_rule_clear_allowed(rule);
    rule->has_allowed = true; /* also where the list is empty */
    for (struct config_value item; config_items_next(&items, &item);) {
        coop_error *err = NULL;
        int r = command_rule_allow(rule, config_value_text(&item), item.origin, &err);

        check(filling, item.origin, r, err);
    }
}

static void fill_blocked(struct filling *filling, struct command_rule *rule, const char *name)
{
    struct config_items items = config_items_named(filling->config, "commands.*.blocked", name);

    if (config_is_set(&items.value)) /* of the owner: those of projects come behind it */
        command_rule_clear_blocked(rule);
    for (struct config_value item; config_items_next(&items, &item);) {
        coop_error *err = NULL;
        int r = command_rule_block(rule, config_value_text(&item), item.origin, &err);

        check(filling, item.origin, r, err);
    }
}

static void fill_needs(struct filling *filling, struct command_rule *rule, const char *name)
{
    struct config_items items = config_items_named(filling->config, "commands.*.needs", name);

    for (struct config_value item; config_items_next(&items, &item);) {
        coop_error *err = NULL;
        int r = command_rule_need(rule, config_value_text(&item), &err);

        check(filling, item.origin, r, err);
    }
}

static void fill_command(struct filling *filling, const char *name)
{
    struct config_value table = config_get_named(filling->config, "commands.*", name);
    struct config_value description =
        config_get_named(filling->config, "commands.*.description", name);
    struct config_value manifest = config_get_named(filling->config, "commands.*.manifest", name);
    struct command_rule *rule = NULL;
    coop_error *err = NULL;
    int r = command_rules_add(filling->rules, name, table.origin, &rule, &err);

    if (r == 0 && config_is_set(&description))
        r = command_rule_describe(rule, config_value_text(&description), &err);
    check(filling, table.origin, r, err);
    if (r < 0)
        return;
    rule->manifest = config_value_bool(&manifest);
    fill_allowed(filling, rule, name);
    fill_blocked(filling, rule, name);
    fill_needs(filling, rule, name);
}

void policy_fill_commands(const struct config *config, coop_policy *policy,
                          struct findings *findings)
{
    auto_command_rules struct command_rules rules = { 0 };
    struct filling filling = { config, &rules, findings };
    struct config_names names = config_names(config, "commands");
    struct config_value strength = config_get(config, "commands.strength");
    coop_error *err = NULL;
    int r = config_bool(config, "commands.defaults") ? command_rules_defaults(&rules, &err) : 0;

    check(&filling, strength.origin, r, err);
    for (const char *name; (name = config_names_next(&names));)
        fill_command(&filling, name);
    err = NULL;
    r = 0;
    if (strengths[config_value_word(&strength)] != COOP_COMMANDS_OFF)
        r = policy_take_commands(policy, &rules, &err);
    if (r == 0)
        r = coop_policy_set_command_strength(policy, strengths[config_value_word(&strength)], &err);
    check(&filling, strength.origin, r, err);
}
