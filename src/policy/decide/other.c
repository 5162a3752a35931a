/*
 * other.c - environment, commands
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "policy/command_reach.h"
#include "policy/credentials.h"
#include "policy/decide/decide.h"
#include "policy/env_rules.h"
#include "policy/view/place.h"

/* ---- environment */

static const char *const fact_names[COOP_FACT_COUNT] = {
    [COOP_FACT_SESSION] = "SESSION",   [COOP_FACT_WORKSPACE] = "WORKSPACE",
    [COOP_FACT_CREATED] = "CREATED",   [COOP_FACT_CAMPAIGN] = "CAMPAIGN",
    [COOP_FACT_PROVIDER] = "PROVIDER", [COOP_FACT_SOCKET] = "SOCKET",
    [COOP_FACT_MEMORY] = "MEMORY",
};

static bool is_fact(const coop_policy *policy, const char *name)
{
    const char *second = policy->second_prefix;
    size_t n = second ? strlen(second) : 0;
    const char *rest = NULL;

    if (strncmp(name, ENV_PREFIX, strlen(ENV_PREFIX)) == 0)
        rest = name + strlen(ENV_PREFIX);
    else if (second && strncmp(name, second, n) == 0)
        rest = name + n;
    for (int i = 0; rest && i < COOP_FACT_COUNT; i++)
        if (policy->tells[i] && strcmp(rest, fact_names[i]) == 0)
            return true;
    return false;
}

static const struct policy_secret *find_secret(const coop_policy *policy, const char *name)
{
    size_t n = strlen(name);

    for (size_t i = 0; i < policy->n_secrets; i++)
        if (policy->secrets[i].n_variable == n && memcmp(policy->secrets[i].entry, name, n) == 0)
            return &policy->secrets[i];
    return NULL;
}

static struct origin secret_origin(const struct decide_subject *subject, const char *name)
{
    if (!subject->config)
        return (struct origin){ 0 };
    return config_get_named(subject->config, "secrets.*", name).origin;
}

static struct origin variable_origin(const struct decide_subject *subject, const char *name)
{
    if (!subject->config)
        return (struct origin){ 0 };
    return config_get_named(subject->config, "environment.set.*", name).origin;
}

static struct origin pass_origin(const struct decide_subject *subject, const char *name)
{
    struct config_items items;

    if (!subject->config)
        return (struct origin){ 0 };
    items = config_items(subject->config, "sandbox.env_passthrough");
    for (struct config_value item; config_items_next(&items, &item);)
        if (strcmp(config_value_text(&item), name) == 0)
            return item.origin;
    return (struct origin){ 0 };
}

/* 1: it is there, and *out says why. */
static int has_variable(const struct decide_subject *subject, const char *name,
                        struct decide_answer *out)
{
    const coop_policy *policy = subject->policy;
    const struct policy_secret *secret = find_secret(policy, name);
    struct origin origin = { 0 };

    if (secret) {
        origin = secret_origin(subject, secret->name);
        return decide_say(out, true, &origin, "take them out of its 'users' and 'providers'",
                          "a secret is given in it", "secrets '%s'", secret->name) < 0
                   ? -ENOMEM
                   : 1;
    }
    const struct policy_credential *credential = policy_credential_of_variable(policy, name);
    if (credential)
        return decide_say(out, true, &credential->origin, "take 'env' out of the credential",
                          "it says where requests go that are sent on with a secret",
                          "network.credentials '%s'", credential->name) < 0
                   ? -ENOMEM
                   : 1;
    for (size_t i = 0; i < policy->n_variables; i++)
        if (strcmp(policy->variables[i].name, name) == 0) {
            origin = policy->variables[i].origin.name ? policy->variables[i].origin
                                                      : variable_origin(subject, name);
            return decide_say(out, true, &origin,
                              policy->variables[i].origin.name ? "leave the flag out"
                                                               : "remove it from environment.set",
                              "it is set", "environment.set '%s'", name) < 0
                       ? -ENOMEM
                       : 1;
        }
    for (size_t i = 0; subject->env_pass && subject->env_pass[i]; i++)
        if (strcmp(subject->env_pass[i], name) == 0) {
            origin = pass_origin(subject, name);
            bool is_flag = !origin.name;
            if (is_flag)
                origin.name = "--env-pass";
            return decide_say(out, true, &origin,
                              is_flag ? "leave the flag out" : "remove it from env_passthrough",
                              "it is taken over from the caller, if it is set there",
                              "env_passthrough '%s'", name) < 0
                       ? -ENOMEM
                       : 1;
        }
    return 0;
}

int decide_env(const struct decide_subject *subject, const char *name, struct decide_answer *out,
               coop_error **err)
{
    const char *second = subject->policy->second_prefix;
    struct env_verdict verdict = env_may_pass(name, strlen(name), second);
    enum env_source source;
    int r = has_variable(subject, name, out);

    if (r == 0 && is_fact(subject->policy, name))
        r = decide_say(out, true, NULL, NULL, "coop tells commands about their run", "'%s'", name);
    else if (r == 0 && env_is_inherited(name, &source))
        r = decide_say(out, true, NULL, NULL, "every box has it", "the variables of every box");
    else if (r == 0 && verdict.answer != ENV_ALLOWED)
        r = decide_say(out, false, NULL,
                       verdict.answer == ENV_FILTERED ? "give it a value in environment.set" : NULL,
                       verdict.why, "the %s name '%s'",
                       verdict.answer == ENV_FILTERED   ? "filtered"
                       : verdict.answer == ENV_RESERVED ? "reserved"
                                                        : "malformed",
                       verdict.pattern ? verdict.pattern : name);
    else if (r == 0)
        r = decide_say(out, false, NULL, "list it in env_passthrough",
                       "nobody listed it: an environment is built, not inherited",
                       "the variables of every box");
    if (r == 0 && !out->is_allowed && verdict.answer == ENV_ALLOWED)
        r = decide_flag(out, "--env-pass", name);
    return r < 0 ? fail_no_memory(err) : 0;
}

/* ---- commands */

static int decide_rules(const struct decide_subject *subject,
                        const struct decide_question *question, struct command_reach *reach,
                        struct command_decision *out, coop_error **err)
{
    const struct command_rules *rules = &subject->policy->commands.rules;
    const struct command_context context = {
        .dialect = question->words ? SHELL_POSIX : SHELL_BASH,
        .check_path = command_reach_check,
        .opaque = reach,
    };

    return question->words
               ? command_rules_decide_argv(rules, question->words, &context, out, err)
               : command_rules_decide_text(rules, question->target, strlen(question->target),
                                           &context, out, err);
}

int decide_command(const struct decide_subject *subject, const struct decide_question *question,
                   struct decide_answer *out, coop_error **err)
{
    const char *view = view_of_workspace(subject->policy, subject->workspace);
    auto_command_reach struct command_reach reach = { 0 };
    auto_command_decision struct command_decision decision = { 0 };

    if (subject->policy->commands.strength == COOP_COMMANDS_OFF)
        return decide_say(out, true, &subject->commands_origin,
                          "write commands.strength = \"check\"", "all commands may run",
                          "commands.strength 'off'") < 0
                   ? fail_no_memory(err)
                   : 0;
    if (command_reach_init(&reach, subject->policy, view ? view : VIEW_WORKSPACE) < 0)
        return fail_no_memory(err);
    int r = decide_rules(subject, question, &reach, &decision, err);
    if (r < 0)
        return err && !*err ? fail_no_memory(err) : r;
    r = decide_say(out, decision.is_allowed, decision.has_origin ? &decision.origin : NULL,
                   decision.allow, decision.why ? decision.why : "the rules allow it",
                   "commands '%s'", decision.command ? decision.command : question->target);
    return r < 0 ? fail_no_memory(err) : 0;
}
