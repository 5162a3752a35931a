/*
 * protect.c - is everything that the parent protects protected in the child?
 *
 * The question of patterns in general has no cheap answer, so rules are compared as they are written:
 * each of the parent's that hides or keeps must be in the child, and each exception of the child's in
 * the parent. Where two say equally much the later one wins, so their order counts too.
 */
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "glob/glob.h"
#include "policy/narrow/private.h"
#include "policy/protect.h"

struct rules {
    const coop_policy *policy;
    struct glob **globs;    /* by rule of the policy */
    struct glob **built_in; /* those that show */
    size_t n_built_in;
    bool failed;
};

static struct glob *compile(struct rules *rules, const char *pattern)
{
    auto_findings struct findings findings = { 0 };
    struct glob *glob = glob_new(pattern, strlen(pattern), rules->policy->protect_ignore_case,
                                 (struct origin){ 0 }, &findings);

    rules->failed |= !glob;
    return glob;
}

static void rules_done(struct rules *rules)
{
    for (size_t i = 0; rules->globs && i < rules->policy->n_protects; i++)
        glob_free(rules->globs[i]);
    for (size_t i = 0; i < rules->n_built_in; i++)
        glob_free(rules->built_in[i]);
    free(rules->globs);
    free(rules->built_in);
}
#define auto_rules __attribute__((cleanup(rules_done)))

static void rules_init(struct rules *rules, const coop_policy *policy)
{
    *rules = (struct rules){ .policy = policy };
    rules->globs = calloc(policy->n_protects + 1, sizeof(struct glob *));
    rules->built_in = calloc(protect_n_defaults + 1, sizeof(struct glob *));
    rules->failed = !rules->globs || !rules->built_in;
    for (size_t i = 0; !rules->failed && i < policy->n_protects; i++)
        rules->globs[i] = compile(rules, policy->protects[i].pattern);
    if (policy->no_protect_defaults)
        return;
    for (size_t i = 0; !rules->failed && i < protect_n_defaults; i++)
        if (protect_defaults[i].action == COOP_PROTECT_SHOW)
            rules->built_in[rules->n_built_in++] = compile(rules, protect_defaults[i].pattern);
}

static int by_rule(const void *a, const void *b)
{
    const struct policy_protect *const *x = a;
    const struct policy_protect *const *y = b;
    int order = strcmp((*x)->pattern, (*y)->pattern);

    if (order)
        return order;
    return (*x)->action != (*y)->action ? ((*x)->action < (*y)->action ? -1 : 1) : 0;
}

/* Where the policy has each rule, sorted for rule_at(). */
static const struct policy_protect **sort_rules(const coop_policy *policy)
{
    const struct policy_protect **sorted =
        calloc(policy->n_protects + 1, sizeof(const struct policy_protect *));

    for (size_t i = 0; sorted && i < policy->n_protects; i++)
        sorted[i] = &policy->protects[i];
    if (sorted)
        qsort(sorted, policy->n_protects, sizeof *sorted, by_rule);
    return sorted;
}

/* The last one like `rule`, which is the one that wins ties; NULL: there is none. */
static const struct policy_protect *rule_at(const struct policy_protect **sorted, size_t n,
                                            const struct policy_protect *rule)
{
    const struct policy_protect *last = NULL;
    size_t low = 0;
    size_t high = n;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (by_rule(&sorted[middle], &rule) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < n && by_rule(&sorted[low], &rule) == 0; low++)
        if (!last || sorted[low] > last)
            last = sorted[low];
    return last;
}

static bool rule_excess(const struct narrow_pair *pair, const struct policy_protect *rule,
                        const char *what)
{
    static const char *const words[] = { "the exception ", "the hidden ", "the write-protected " };

    buffer_append_string(pair->why, words[rule->action]);
    narrow_quote(pair->why, rule->pattern);
    buffer_append_char(pair->why, ' ');
    buffer_append_string(pair->why, what);
    return false;
}

/* Built-in exceptions that the parent does not have would outdo its own, less specific rules. */
static bool defaults_within(const struct narrow_pair *pair, const struct rules *child,
                            const struct rules *parent)
{
    bool gains = child->n_built_in > 0 && parent->n_built_in == 0;

    for (size_t i = 0; gains && i < parent->policy->n_protects; i++)
        for (size_t k = 0; k < child->n_built_in; k++)
            if (parent->policy->protects[i].action != COOP_PROTECT_SHOW &&
                glob_compare(child->built_in[k], parent->globs[i]) > 0)
                return rule_excess(pair, &parent->policy->protects[i],
                                   "has built-in exceptions in the child, in the parent none");
    return true;
}

/* An exception wins against a rule that says as much as it does if it comes later. */
static bool exception_within(const struct narrow_pair *pair, const struct rules *child,
                             const struct rules *parent, const struct policy_protect *shown,
                             const struct policy_protect *parents,
                             const struct policy_protect **childs)
{
    const coop_policy *policy = parent->policy;
    const struct glob *glob = parent->globs[parents - policy->protects];

    (void)child;
    for (const struct policy_protect *rule = parents + 1;
         rule < policy->protects + policy->n_protects; rule++) {
        if (rule->action == COOP_PROTECT_SHOW ||
            glob_compare(parent->globs[rule - policy->protects], glob) != 0)
            continue;
        const struct policy_protect *again = rule_at(childs, pair->child->n_protects, rule);
        if (!again || again < shown)
            return rule_excess(pair, rule, "comes behind an exception in the parent only");
    }
    return true;
}

static bool rules_within(const struct narrow_pair *pair, const struct rules *child,
                         const struct rules *parent, const struct policy_protect **childs,
                         const struct policy_protect **parents)
{
    const coop_policy *policy = parent->policy;

    for (size_t i = 0; i < policy->n_protects; i++)
        if (policy->protects[i].action != COOP_PROTECT_SHOW &&
            !rule_at(childs, pair->child->n_protects, &policy->protects[i]))
            return rule_excess(pair, &policy->protects[i], "of the parent is not in the child");
    for (size_t i = 0; i < pair->child->n_protects; i++) {
        const struct policy_protect *rule = &pair->child->protects[i];

        if (rule->action != COOP_PROTECT_SHOW)
            continue;
        const struct policy_protect *same = rule_at(parents, policy->n_protects, rule);
        if (!same)
            return rule_excess(pair, rule, "is not in the parent");
        if (!exception_within(pair, child, parent, rule, same, childs))
            return false;
    }
    return true;
}

static bool protects_something(const coop_policy *policy)
{
    for (size_t i = 0; i < policy->n_protects; i++)
        if (policy->protects[i].action != COOP_PROTECT_SHOW)
            return true;
    return !policy->no_protect_defaults;
}

static bool has_exceptions(const coop_policy *policy)
{
    for (size_t i = 0; i < policy->n_protects; i++)
        if (policy->protects[i].action == COOP_PROTECT_SHOW)
            return true;
    return !policy->no_protect_defaults;
}

bool narrow_protect_within(const struct narrow_pair *pair)
{
    const coop_policy *child = pair->child;
    const coop_policy *parent = pair->parent;

    if (!protects_something(parent))
        return true;
    if (child->no_protect_defaults && !parent->no_protect_defaults) {
        buffer_append_string(pair->why, "the built-in rules hold in the parent only, so that the "
                                        "child can read '.env'");
        return false;
    }
    if (child->protect_ignore_case != parent->protect_ignore_case &&
        (parent->protect_ignore_case || has_exceptions(child))) {
        buffer_append_string(pair->why, parent->protect_ignore_case
                                            ? "the parent's patterns ignore case, the child's not"
                                            : "the child's exceptions ignore case, the parent's "
                                              "not");
        return false;
    }
    auto_rules struct rules of_child;
    auto_rules struct rules of_parent;
    auto_free const struct policy_protect **childs = sort_rules(child);
    auto_free const struct policy_protect **parents = sort_rules(parent);
    rules_init(&of_child, child);
    rules_init(&of_parent, parent);
    if (!childs || !parents || of_child.failed || of_parent.failed) {
        pair->why->failed = true;
        return false;
    }
    return defaults_within(pair, &of_child, &of_parent) &&
           rules_within(pair, &of_child, &of_parent, childs, parents);
}
