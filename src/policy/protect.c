#include "protect.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "policy/policy.h"

/* An array of glob rules for one of the sets; at most as many as there are rules. */
struct selection {
    struct glob_rule *rules;
    size_t n;
};

static void select_rules(const struct protect *protect, coop_protect action, bool only_own,
                         size_t n_built_in, struct selection *out)
{
    out->n = 0;
    for (size_t i = only_own ? n_built_in : 0; i < protect->n_rules; i++) {
        const struct protect_rule *rule = &protect->rules[i];

        if (rule->action == action || rule->action == COOP_PROTECT_SHOW)
            out->rules[out->n++] =
                (struct glob_rule){ rule->pattern, strlen(rule->pattern), (int)i, rule->origin };
    }
}

static int make_set(const struct protect *protect, const struct selection *selection,
                    struct glob_set **out, coop_error **err)
{
    struct findings *findings = calloc(1, sizeof *findings);
    int r = 0;

    if (!findings)
        return fail_no_memory(err);
    *out = glob_set_new(selection->rules, selection->n, protect->ignore_case, findings);
    if (!*out)
        r = findings->failed ? fail_no_memory(err) : findings_fail(findings, err);
    findings_done(findings);
    free(findings);
    return r < 0 ? fail_as(err, r, COOP_ERROR_BAD_POLICY) : 0;
}

static int make_git_set(struct protect *protect, struct selection *selection, coop_error **err)
{
    protect->git_rules = protect_git_defaults;
    for (selection->n = 0; selection->n < protect_n_git_defaults; selection->n++) {
        const struct protect_rule *rule = &protect_git_defaults[selection->n];

        selection->rules[selection->n] = (struct glob_rule){ rule->pattern, strlen(rule->pattern),
                                                             (int)selection->n, rule->origin };
    }
    return make_set(protect, selection, &protect->git, err);
}

static int make_sets(struct protect *protect, size_t n_built_in, coop_error **err)
{
    struct selection selection = {
        calloc(protect->n_rules + protect_n_git_defaults, sizeof *selection.rules), 0
    };
    int r = 0;

    if (!selection.rules)
        return fail_no_memory(err);
    select_rules(protect, COOP_PROTECT_HIDE, false, n_built_in, &selection);
    r = make_set(protect, &selection, &protect->hide, err);
    select_rules(protect, COOP_PROTECT_HIDE, true, n_built_in, &selection);
    if (r == 0 && selection.n > 0)
        r = make_set(protect, &selection, &protect->hide_own, err);
    select_rules(protect, COOP_PROTECT_KEEP, false, n_built_in, &selection);
    if (r == 0)
        r = make_set(protect, &selection, &protect->keep, err);
    if (r == 0 && n_built_in > 0)
        r = make_git_set(protect, &selection, err);
    free(selection.rules);
    return r;
}

int protect_new(const coop_policy *policy, struct protect **out, coop_error **err)
{
    size_t n_built_in = policy->no_protect_defaults ? 0 : protect_n_defaults;
    size_t n_rules = n_built_in + policy->n_protects;

    if (n_rules == 0) {
        *out = NULL;
        return 0;
    }
    struct protect *protect = calloc(1, sizeof *protect);
    if (protect)
        protect->rules = calloc(n_rules, sizeof *protect->rules);
    if (!protect || !protect->rules) {
        free(protect);
        return fail_no_memory(err);
    }
    protect->ignore_case = policy->protect_ignore_case;
    protect->n_rules = n_rules;
    memcpy(protect->rules, protect_defaults, n_built_in * sizeof *protect->rules);
    for (size_t i = 0; i < policy->n_protects; i++) {
        const struct policy_protect *from = &policy->protects[i];

        protect->rules[n_built_in + i] =
            (struct protect_rule){ from->pattern, from->action, 0, from->origin };
    }
    int r = make_sets(protect, n_built_in, err);
    if (r < 0) {
        protect_free(protect);
        return r;
    }
    *out = protect;
    return 0;
}

void protect_free(struct protect *protect)
{
    if (!protect)
        return;
    glob_set_free(protect->hide);
    glob_set_free(protect->hide_own);
    glob_set_free(protect->keep);
    glob_set_free(protect->git);
    free(protect->rules);
    free(protect);
}

int protect_check_pattern(const char *pattern, coop_error **err)
{
    const struct protect nothing = { 0 };
    struct glob_rule rule = { pattern, strlen(pattern), 0, { 0 } };
    struct selection selection = { &rule, 1 };
    struct glob_set *set = NULL;
    int r = make_set(&nothing, &selection, &set, err);

    glob_set_free(set);
    return r;
}
