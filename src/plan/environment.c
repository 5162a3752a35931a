/*
 * environment.c - the command's environment, built and never inherited
 *
 * A command that runs on the host itself, because the sandbox is disabled, keeps the host's, and
 * of what the policy sets gets nothing that a file in the workspace says.
 * Order of strength otherwise: what every box has (env_rules.h), then what the caller passes by
 * name, then what the policy sets, then facts about the run, then secrets. Those last two nothing
 * else may name, or they could not be believed.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/credential.h"
#include "base/error.h"
#include "plan/plan.h"
#include "policy/credentials.h"
#include "policy/env_rules.h"

extern char **environ;

struct building {
    struct plan *plan;
    size_t capacity; /* of plan->environment */
};

/* `entry` is "NAME=VALUE" and lives as long as the plan; one of the same name goes. */
static void put(struct building *building, char *entry)
{
    struct plan *plan = building->plan;
    size_t length = entry ? strcspn(entry, "=") + 1 : 0;

    for (size_t i = 0; entry && i < plan->n_environment; i++)
        if (strncmp(plan->environment[i], entry, length) == 0) {
            plan->environment[i] = entry;
            return;
        }
    if (!entry || plan->n_environment + 1 >= building->capacity)
        plan->failed = true;
    else
        plan->environment[plan->n_environment++] = entry;
}

static void set(struct building *building, const char *name, const char *value)
{
    if (value)
        put(building, plan_text(building->plan, "%s=%s", name, value));
}

/* ---- what every box has */

static const char *user_name(const struct plan *plan)
{
    const char *user = getenv("USER");

    if (plan->inside_uid == 0)
        return "root";
    return user && *user ? user : "user";
}

/* Only what exists inside: our own places. */
static const char *temporary_directory(const struct plan *plan)
{
    const char *path = plan->tier < COOP_TIER_NAMESPACES ? NULL : getenv("TMPDIR");

    return path && (strcmp(path, "/tmp") == 0 || strcmp(path, "/var/tmp") == 0) ? path : NULL;
}

/* NULL: not set. */
static const char *own_value(struct plan *plan, const char *name)
{
    /* Where commands have rules, a name means the host's program, not a file that somebody made. */
    if (strcmp(name, "PATH") == 0 && plan->policy->commands.strength != COOP_COMMANDS_OFF)
        return "/usr/local/bin:/usr/bin:/bin";
    if (strcmp(name, "PATH") == 0)
        return plan_text(plan, "%s/tools:/usr/local/bin:/usr/bin:/bin",
                         plan->workspace_view[1] ? plan->workspace_view : "");
    if (strcmp(name, "HOME") == 0)
        return plan->workspace_view;
    if (strcmp(name, "PWD") == 0)
        return plan->directory;
    if (strcmp(name, "USER") == 0 || strcmp(name, "LOGNAME") == 0)
        return user_name(plan);
    if (strcmp(name, "SHELL") == 0)
        return "/bin/sh";
    if (strcmp(name, "TMPDIR") == 0)
        return temporary_directory(plan);
    return NULL;
}

/* "LC_*": every variable of the caller with that beginning. */
static void inherit_all(struct building *building, const char *beginning, size_t n)
{
    for (char **e = environ; e && *e; e++)
        if (strncmp(*e, beginning, n) == 0 && strchr(*e, '='))
            put(building, plan_copy(building->plan, *e));
}

static void inherit(struct building *building)
{
    for (const struct env_inherited *row = env_inherited; row->pattern; row++) {
        size_t n = strlen(row->pattern);

        if (row->source == ENV_FROM_COOP)
            set(building, row->pattern, own_value(building->plan, row->pattern));
        else if (row->pattern[n - 1] == '*')
            inherit_all(building, row->pattern, n - 1);
        else
            set(building, row->pattern, getenv(row->pattern));
    }
}

static void keep_hosts(struct building *building)
{
    struct plan *plan = building->plan;

    for (char **e = environ; e && *e; e++)
        if (strchr(*e, '='))
            plan->environment[plan->n_environment++] = plan_copy(plan, *e);
}

/* ---- git */

static const char *get(const struct plan *plan, const char *name)
{
    size_t n = strlen(name);

    for (size_t i = 0; i < plan->n_environment; i++)
        if (strncmp(plan->environment[i], name, n) == 0 && plan->environment[i][n] == '=')
            return plan->environment[i] + n + 1;
    return NULL;
}

static const struct {
    const char *key, *value;
} git_settings[] = {
    { "core.checkStat", "minimal" },
    { "core.trustctime", "false" },
    { "core.excludesFile", PLAN_GIT_EXCLUDES },
};

/*
 * A hidden file is as large and as old as what it hides: git shall look at no more, or it would want
 * to read it. What is nobody's to add is named as excluded. What the policy itself tells git this way
 * stays, and ours follows it.
 */
static void set_git(struct building *building)
{
    struct plan *plan = building->plan;
    const char *count = get(plan, "GIT_CONFIG_COUNT");
    char *end = NULL;
    unsigned long n = count && *count ? strtoul(count, &end, 10) : 0;

    /* A new repository gets no hooks, not even samples: their directory is protected. */
    if (plan->n_write_rules > 0 && !get(plan, "GIT_TEMPLATE_DIR"))
        put(building, plan_copy(plan, "GIT_TEMPLATE_DIR="));
    if (!plan->git_excludes || (end && *end) || n > 1000)
        return;
    for (size_t i = 0; i < COUNT(git_settings); i++, n++) {
        put(building, plan_text(plan, "GIT_CONFIG_KEY_%lu=%s", n, git_settings[i].key));
        put(building, plan_text(plan, "GIT_CONFIG_VALUE_%lu=%s", n, git_settings[i].value));
    }
    put(building, plan_text(plan, "GIT_CONFIG_COUNT=%lu", n));
}

/* ---- the gate's own proxy, for programs that insist on one */

#define PROXY            "127.0.0.1:" TEXT_OF(GATE_INSIDE_PROXY)
#define TEXT_OF(x)       TEXT_OF_TOKEN(x)
#define TEXT_OF_TOKEN(x) #x

/* Plain HTTP needs none: it goes through the gate as it is. */
static const char *const proxy_variables[] = {
    "https_proxy=http://" PROXY,        "HTTPS_PROXY=http://" PROXY,
    "all_proxy=socks5h://" PROXY,       "ALL_PROXY=socks5h://" PROXY,
    "no_proxy=localhost,127.0.0.1,::1", "NO_PROXY=localhost,127.0.0.1,::1",
};

static void name_proxy(struct building *building)
{
    struct plan *plan = building->plan;

    for (size_t i = 0; plan->gate && plan->policy->proxy_env && i < COUNT(proxy_variables); i++)
        put(building, plan_copy(plan, proxy_variables[i]));
}

/* Where requests go that are sent on with a secret. */
static void name_credentials(struct building *building)
{
    struct plan *plan = building->plan;

    for (size_t i = 0; plan->gate && i < policy_n_credentials(plan->policy); i++) {
        const struct policy_credential *credential = &plan->policy->credentials[i];

        if (credential->variable)
            put(building, plan_text(plan, "%s=http://%s." CREDENTIAL_DOMAIN, credential->variable,
                                    credential->name));
    }
}

/* ---- facts and secrets */

static const char *fact(const struct plan *plan, coop_fact which, const char *found)
{
    if (!plan->policy->tells[which])
        return NULL;
    if (plan->policy->facts[which])
        return plan->policy->facts[which];
    return found ? found : "";
}

static int tell_facts(struct building *building, const struct plan_request *request,
                      coop_error **err)
{
    struct plan *plan = building->plan;
    const struct env_facts facts = {
        .session = fact(plan, COOP_FACT_SESSION, request->session),
        .workspace = fact(plan, COOP_FACT_WORKSPACE, plan->workspace_view),
        .created = fact(plan, COOP_FACT_CREATED, request->created),
        .campaign = fact(plan, COOP_FACT_CAMPAIGN, NULL),
        .provider = fact(plan, COOP_FACT_PROVIDER, NULL),
        .socket = fact(plan, COOP_FACT_SOCKET, NULL),
        .memory = fact(plan, COOP_FACT_MEMORY, NULL),
    };
    auto_free char **entries = NULL;
    int r = env_inject(&facts, plan->policy->second_prefix, &entries, err);

    for (size_t i = 0; r == 0 && entries[i]; i++)
        put(building, plan_copy(plan, entries[i]));
    return r;
}

/* Not copied: the policy wipes them, and outlives the plan's launch. */
static void give_secrets(struct building *building)
{
    const coop_policy *policy = building->plan->policy;

    for (size_t i = 0; i < policy->n_secrets; i++)
        put(building, policy->secrets[i].entry);
}

/* ---- all of it */

static size_t count_candidates(const struct plan *plan, const struct plan_request *request)
{
    size_t n = 3 + COUNT(proxy_variables) + 2 * COUNT(git_settings) + 2 * COOP_FACT_COUNT +
               plan->policy->n_variables + plan->policy->n_secrets + plan->policy->n_credentials;

    for (const struct env_inherited *row = env_inherited; row->pattern; row++)
        n++;
    for (char **e = environ; e && *e; e++)
        n++;
    for (size_t i = 0; request->env_pass && request->env_pass[i]; i++)
        n++;
    return n;
}

int plan_environment(struct plan *plan, const struct plan_request *request, coop_error **err)
{
    const coop_policy *policy = plan->policy;
    struct building building = { plan, count_candidates(plan, request) };

    plan->environment = plan_memory(plan, building.capacity * sizeof *plan->environment);
    if (!plan->environment)
        return fail_no_memory(err);
    if (plan->tier > COOP_TIER_NONE)
        inherit(&building);
    else
        keep_hosts(&building);
    if (plan->failed)
        return fail_no_memory(err);
    name_proxy(&building);
    name_credentials(&building);
    for (size_t i = 0; request->env_pass && request->env_pass[i]; i++)
        set(&building, request->env_pass[i], getenv(request->env_pass[i]));
    for (size_t i = 0; i < policy->n_variables; i++)
        if (plan->tier > COOP_TIER_NONE || !policy->variables[i].is_for_boxes)
            set(&building, policy->variables[i].name, policy->variables[i].value);
    set_git(&building);
    int r = tell_facts(&building, request, err);
    if (r < 0)
        return r;
    give_secrets(&building);
    plan->environment[plan->n_environment] = NULL;
    return plan->failed ? fail_no_memory(err) : 0;
}
