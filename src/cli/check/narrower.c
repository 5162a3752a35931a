/*
 * narrower.c - does one configuration give anybody more than another?
 *
 * Who somebody is depends on the longest pattern that matches them, so the answer can only change at
 * a pattern: it is enough to ask for every pattern of both files, as an exact identity and as one
 * that nothing longer matches, and for somebody whom no pattern names.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "cli/check/check.h"
#include "policy/narrow/narrow.h"
#include "policy/secret_grant.h"

/* What a file gives one identity; NULL: nobody in particular. */
struct side {
    struct config *config;
    struct policy_people people;
    struct policy_run run;
    coop_policy *policy;
    struct run_config identity; /* only what run_config_route() asks for */
};

static void side_done(struct side *side)
{
    coop_policy_free(side->policy);
    policy_run_done(&side->run);
    policy_people_done(&side->people);
    config_free(side->config);
}

static void copy_findings(const struct findings *from, struct findings *to, const char *file)
{
    for (size_t i = 0; i < from->n; i++)
        if (from->items[i].severity == SEVERITY_ERROR) {
            struct origin origin = { file, from->items[i].origin.line,
                                     from->items[i].origin.column };

            findings_add(to, SEVERITY_ERROR, origin, from->items[i].fix, "%s",
                         from->items[i].message);
        }
    to->failed |= from->failed;
}

static int load_policy(struct side *side, struct findings *findings, coop_error **err)
{
    auto_free char *base = realpath(".", NULL);
    int r = coop_policy_new(&side->policy, err);

    if (r < 0)
        return r;
    return policy_from_config(side->config, base ? base : "/", side->policy, &side->run, findings);
}

static int load_side(const char *file, const char *as, const char *group, struct side *out,
                     struct findings *findings, coop_error **err)
{
    auto_findings struct findings own = { 0 };
    const struct config_request request = { .file = file };

    *out = (struct side){ .config = config_new() };
    if (!out->config)
        return fail_no_memory(err);
    int r = config_load(out->config, &request, &own);
    if (r == 0)
        r = policy_people_new(out->config, &out->people, err);
    if (r == 0 && as)
        r = policy_identify(out->config, &out->people, as, group, &out->identity.decision, err);
    if (r == 0)
        r = load_policy(out, &own, err);
    out->identity.as = as;
    out->identity.config = out->config;
    copy_findings(&own, findings, file);
    return r;
}

/* ---- the dimensions that are not the policy's */

static int say(char **counter, coop_error **err, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static int say(char **counter, coop_error **err, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    int n = vasprintf(counter, format, args);
    va_end(args);
    if (n >= 0)
        return 0;
    *counter = NULL;
    return fail_no_memory(err);
}

static bool passes(const struct side *side, const char *name)
{
    for (size_t i = 0; i < side->run.n_env_pass; i++)
        if (strcmp(side->run.env_pass[i], name) == 0)
            return true;
    return false;
}

static uint64_t time_limit(const struct config *config, const char *key)
{
    uint64_t ms = CONFIG_NONE;

    (void)config_duration_ms(config, key, &ms);
    return ms;
}

/* Returns as check_narrower() does. */
static int run_is_within(const struct side *child, const struct side *parent, char **counter,
                         coop_error **err)
{
    static const char *const keys[] = { "sandbox.timeout", "sandbox.session_timeout" };

    for (size_t i = 0; i < COUNT(keys); i++)
        if (time_limit(child->config, keys[i]) > time_limit(parent->config, keys[i]))
            return say(counter, err, "limits: %s is longer than in the parent, or not set",
                       keys[i]);
    for (size_t i = 0; i < child->run.n_env_pass; i++)
        if (!passes(parent, child->run.env_pass[i]))
            return say(counter, err, "environment: '%s' is passed by the child only",
                       child->run.env_pass[i]);
    return 1;
}

static int secrets_are_within(const struct side *child, const struct side *parent, char **counter,
                              coop_error **err)
{
    struct config_names names = config_names(child->config, "secrets");
    const struct trust_decision *childs = child->identity.as ? &child->identity.decision : NULL;
    const struct trust_decision *parents = parent->identity.as ? &parent->identity.decision : NULL;

    for (const char *name; (name = config_names_next(&names));)
        if (secret_is_granted(child->config, name, childs)) {
            struct config_value value = config_get_named(parent->config, "secrets.*", name);

            if (!config_is_set(&value) || !secret_is_granted(parent->config, name, parents))
                return say(counter, err, "secrets: '%s' is given by the child only", name);
        }
    return 1;
}

/* More is: run on the host, run at all, see a store. */
static int trust_is_within(const struct side *child, const struct side *parent, char **counter,
                           coop_error **err)
{
    static const int ranks[] = { [ROUTE_REFUSED] = 0, [ROUTE_BOX] = 1, [ROUTE_HOST] = 2 };
    static const char *const words[] = {
        [ROUTE_REFUSED] = "not at all", [ROUTE_BOX] = "in a sandbox", [ROUTE_HOST] = "on the host"
    };
    enum run_config_route to = run_config_route(&child->identity);
    enum run_config_route from = run_config_route(&parent->identity);
    enum trust trust = child->identity.decision.trust;
    enum trust parents = parent->identity.decision.trust;

    if (!child->identity.as)
        return 1;
    if (ranks[to] > ranks[from])
        return say(counter, err, "trust: their commands run %s, by the parent %s", words[to],
                   words[from]);
    if (trust < parents)
        return say(counter, err, "trust: they are '%s', by the parent '%s'", trust_names[trust],
                   trust_names[parents]);
    return 1;
}

static int sides_are_within(const struct side *child, const struct side *parent, char **counter,
                            coop_error **err)
{
    int r = trust_is_within(child, parent, counter, err);

    /* What a box holds does not matter to those who run nothing in one. */
    if (r == 1 && run_config_route(&child->identity) == ROUTE_BOX &&
        run_config_route(&parent->identity) == ROUTE_BOX)
        r = policy_is_within(child->policy, parent->policy, counter, err);
    if (r == 1)
        r = run_is_within(child, parent, counter, err);
    if (r == 1)
        r = secrets_are_within(child, parent, counter, err);
    return r;
}

/* ---- everybody */

struct files {
    const char *parent;
    const char *child;
    struct findings *findings;
};

static int compare_for(const struct files *files, const char *as, const char *group, char **counter,
                       coop_error **err)
{
    struct side parent = { 0 };
    struct side child = { 0 };
    auto_free char *found = NULL;
    int r = load_side(files->parent, as, group, &parent, files->findings, err);

    if (r == 0)
        r = load_side(files->child, as, group, &child, files->findings, err);
    if (r == 0)
        r = sides_are_within(&child, &parent, &found, err);
    if (r == 0 && as)
        r = say(counter, err, "for '%s'%s%s%s: %s", as, group ? " in the group '" : "",
                group ? group : "", group ? "'" : "", found);
    else if (r == 0)
        *counter = take_ptr(found);
    side_done(&parent);
    side_done(&child);
    return r;
}

/* An identity that the pattern matches and, if it is open, no longer one: `end` is in none. */
static char *sample(const char *pattern, const char *end)
{
    char *text = NULL;
    size_t n = strlen(pattern);
    bool is_open = n > 0 && pattern[n - 1] == '*';

    return asprintf(&text, "%.*s%s", (int)(n - is_open), pattern, is_open ? end : "") < 0 ? NULL
                                                                                          : text;
}

/* A few characters that follow no beginning that somebody wrote. */
#define UNLIKELY_END "\xE2\x80\xA0\xE2\x80\xA1"

static int compare_users(const struct files *files, const struct side *of, const struct side *other,
                         char **counter, coop_error **err)
{
    int r = 1;

    for (size_t i = 0; r == 1 && i < of->people.n_users; i++)
        for (size_t k = 0; r == 1 && k < of->people.users[i].n_patterns; k++) {
            auto_free char *as = sample(of->people.users[i].patterns[k].text, UNLIKELY_END);

            if (!as)
                return fail_no_memory(err);
            r = compare_for(files, as, NULL, counter, err);
            for (size_t g = 0; r == 1 && g < of->people.n_groups + other->people.n_groups; g++) {
                const struct trust_group *group =
                    g < of->people.n_groups ? &of->people.groups[g]
                                            : &other->people.groups[g - of->people.n_groups];
                auto_free char *name = sample(group->pattern, UNLIKELY_END);

                r = name ? compare_for(files, as, name, counter, err) : fail_no_memory(err);
            }
        }
    return r;
}

int check_narrower(const char *parent, const char *child, struct findings *findings, char **counter,
                   coop_error **err)
{
    const struct files files = { parent, child, findings };
    struct side of_parent = { 0 };
    struct side of_child = { 0 };
    int r = load_side(parent, NULL, NULL, &of_parent, findings, err);
    int r_child = load_side(child, NULL, NULL, &of_child, findings, r < 0 ? NULL : err);

    if (r == 0)
        r = r_child;
    if (r == 0)
        r = compare_for(&files, NULL, NULL, counter, err);
    if (r == 1)
        r = compare_for(&files, TRUST_TERMINAL, NULL, counter, err);
    if (r == 1)
        r = compare_for(&files, "nobody:" UNLIKELY_END, NULL, counter, err);
    if (r == 1)
        r = compare_users(&files, &of_child, &of_parent, counter, err);
    if (r == 1)
        r = compare_users(&files, &of_parent, &of_child, counter, err);
    side_done(&of_parent);
    side_done(&of_child);
    return r;
}
