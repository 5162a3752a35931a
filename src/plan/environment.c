/*
 * environment.c - the command's environment, built and never inherited
 *
 * A command that runs on the host itself, because the sandbox is disabled, keeps the host's.
 * Order of strength otherwise: what coop knows (PATH, HOME ...), then what describes the caller's locale and
 * terminal, then what the caller passes by name, then what the policy sets.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "plan/plan.h"

extern char **environ;

/* Taken over from the caller when set: they describe its language, clock and terminal. */
static const char *const taken_over[] = { "LANG", "TERM", "TZ", "COLORTERM", "NO_COLOR" };

static int set(struct plan *plan, size_t capacity, const char *name, const char *value)
{
    size_t length = strlen(name);
    char *entry = plan_text(plan, "%s=%s", name, value);

    if (!entry)
        return -ENOMEM;
    for (size_t i = 0; i < plan->n_environment; i++)
        if (strncmp(plan->environment[i], name, length) == 0 &&
            plan->environment[i][length] == '=') {
            plan->environment[i] = entry;
            return 0;
        }
    if (plan->n_environment + 1 >= capacity)
        return -ENOMEM;
    plan->environment[plan->n_environment++] = entry;
    return 0;
}

static bool is_locale(const char *entry)
{
    return strncmp(entry, "LC_", 3) == 0 || strncmp(entry, "LANGUAGE=", 9) == 0;
}

static size_t count_candidates(const struct plan *plan, const struct plan_request *request)
{
    size_t n = 32 + plan->policy->n_variables;

    for (char **e = environ; e && *e; e++)
        n += plan->tier == COOP_TIER_NONE || is_locale(*e);
    for (size_t i = 0; request->env_pass && request->env_pass[i]; i++)
        n++;
    return n;
}

static void set_own(struct plan *plan, size_t capacity)
{
    const char *user = getenv("USER");
    const char *home = plan->workspace_view;
    const char *path = plan_text(plan, "%s/tools:/usr/local/bin:/usr/bin:/bin", home);

    if (plan->inside_uid == 0)
        user = "root";
    if (!user || !*user)
        user = "user";
    (void)set(plan, capacity, "PATH", path ? path : "");
    (void)set(plan, capacity, "HOME", home);
    (void)set(plan, capacity, "PWD", plan->directory);
    (void)set(plan, capacity, "USER", user);
    (void)set(plan, capacity, "LOGNAME", user);
    (void)set(plan, capacity, "SHELL", "/bin/sh");
    if (plan->tier < COOP_TIER_NAMESPACES)
        return;
    const char *tmpdir = getenv("TMPDIR"); /* only what exists inside: our own places */
    if (tmpdir && (strcmp(tmpdir, "/tmp") == 0 || strcmp(tmpdir, "/var/tmp") == 0))
        (void)set(plan, capacity, "TMPDIR", tmpdir);
}

static void set_taken_over(struct plan *plan, size_t capacity)
{
    for (size_t i = 0; i < COUNT(taken_over); i++) {
        const char *value = getenv(taken_over[i]);

        if (value)
            (void)set(plan, capacity, taken_over[i], value);
    }
}

int plan_environment(struct plan *plan, const struct plan_request *request, coop_error **err)
{
    const coop_policy *policy = plan->policy;
    size_t capacity = count_candidates(plan, request);

    plan->environment = plan_memory(plan, capacity * sizeof *plan->environment);
    if (!plan->environment)
        return fail_no_memory(err);
    if (plan->tier > COOP_TIER_NONE) {
        set_own(plan, capacity);
        set_taken_over(plan, capacity);
    }
    for (char **e = environ; e && *e; e++)
        if ((plan->tier == COOP_TIER_NONE || is_locale(*e)) && strchr(*e, '='))
            plan->environment[plan->n_environment++] = plan_copy(plan, *e);
    for (size_t i = 0; request->env_pass && request->env_pass[i]; i++) {
        const char *value = getenv(request->env_pass[i]);

        if (value)
            (void)set(plan, capacity, request->env_pass[i], value);
    }
    for (size_t i = 0; i < policy->n_variables; i++)
        (void)set(plan, capacity, policy->variables[i].name, policy->variables[i].value);
    plan->environment[plan->n_environment] = NULL;
    return plan->failed ? fail_no_memory(err) : 0;
}
