/*
 * narrow_within.c - the proof that a child can do no more than its parent, dimension by dimension
 *
 * Each dimension appends the end of a sentence to the counter-example where the child has more. The
 * table at the end is the list of dimensions: a field of the policy that is in none of them would
 * pass unseen, so whoever adds a field adds it here.
 */
#include "narrow.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "base/printable.h"
#include "policy/commands.h"
#include "policy/glob.h"
#include "policy/path.h"
#include "policy/protect.h"
#include "policy/view_place.h"

struct pair {
    const coop_policy *child;
    const coop_policy *parent;
    struct buffer *why;
};

static void quote(struct buffer *out, const char *text)
{
    buffer_append_char(out, '\'');
    printable_append(out, text, strlen(text));
    buffer_append_char(out, '\'');
}

static bool more(const struct pair *pair, const char *child, const char *parent)
{
    buffer_append_string(pair->why, "the child has ");
    quote(pair->why, child);
    buffer_append_string(pair->why, ", the parent ");
    quote(pair->why, parent);
    return false;
}

/* ---- single values */

int policy_network_rank(coop_network network)
{
    switch (network) {
    case COOP_NETWORK_OFF:
        return 0;
    case COOP_NETWORK_NONE:
        return 1;
    case COOP_NETWORK_HOST:
        break;
    }
    return 4; /* 2 and 3: gate and nat */
}

static bool mode_within(const struct pair *pair)
{
    return pair->child->mode <= pair->parent->mode ||
           more(pair, policy_mode_names[pair->child->mode], policy_mode_names[pair->parent->mode]);
}

static bool network_within(const struct pair *pair)
{
    return policy_network_rank(pair->child->network) <=
               policy_network_rank(pair->parent->network) ||
           more(pair, policy_network_names[pair->child->network],
                policy_network_names[pair->parent->network]);
}

static bool profile_within(const struct pair *pair)
{
    return pair->child->profile <= pair->parent->profile || more(pair, "dev", "default");
}

static bool sockets_within(const struct pair *pair)
{
    if (!pair->child->host_sockets || pair->parent->host_sockets)
        return true;
    buffer_append_string(pair->why,
                         "the child may connect to unix sockets of the host, the parent not");
    return false;
}

static bool uid_within(const struct pair *pair)
{
    const coop_policy *child = pair->child;
    const coop_policy *parent = pair->parent;

    if (child->has_uid == parent->has_uid && (!child->has_uid || child->uid == parent->uid))
        return true;
    buffer_append_string(pair->why, "the child is another user inside than the parent");
    return false;
}

static bool same_text(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

static bool workspace_within(const struct pair *pair)
{
    const coop_policy *child = pair->child;
    const coop_policy *parent = pair->parent;

    if (!same_text(child->root, parent->root))
        return more(pair, child->root ? child->root : "no root",
                    parent->root ? parent->root : "no root");
    if (child->root && parent->root_read_only && !child->root_read_only) {
        buffer_append_string(pair->why, "the root can be written, in the parent only read");
        return false;
    }
    return child->root || same_text(pair->child->workspace, pair->parent->workspace) ||
           more(pair, pair->child->workspace ? pair->child->workspace : "the current directory",
                pair->parent->workspace ? pair->parent->workspace : "the current directory");
}

/* A mount or a block that names a path of the box means something else when the workspace moves. */
static bool has_absolute_target(const coop_policy *policy)
{
    for (size_t i = 0; i < policy->n_mounts; i++)
        if (*policy->mounts[i].target == '/')
            return true;
    return false;
}

static bool same_path_within(const struct pair *pair)
{
    if (pair->child->same_path == pair->parent->same_path ||
        (!has_absolute_target(pair->child) && !has_absolute_target(pair->parent)))
        return true;
    buffer_append_string(pair->why,
                         "the child shows the workspace at another place than the parent, "
                         "where other mounts and blocks hold");
    return false;
}

static void print_limit(struct buffer *out, uint64_t value)
{
    if (value == COOP_LIMIT_NONE)
        buffer_append_string(out, "no limit");
    else
        buffer_printf(out, "%" PRIu64, value);
}

static bool limits_within(const struct pair *pair)
{
    for (int i = 0; i < COOP_LIMIT_COUNT; i++) {
        if (pair->child->limits[i] <= pair->parent->limits[i])
            continue;
        buffer_printf(pair->why, "%s: the child has ", policy_limit_names[i]);
        print_limit(pair->why, pair->child->limits[i]);
        buffer_append_string(pair->why, ", the parent ");
        print_limit(pair->why, pair->parent->limits[i]);
        return false;
    }
    return true;
}

static int by_name(const void *a, const void *b)
{
    const struct policy_variable *const *x = a;
    const struct policy_variable *const *y = b;

    return strcmp((*x)->name, (*y)->name);
}

static bool environment_within(const struct pair *pair)
{
    const coop_policy *parent = pair->parent;
    auto_free const struct policy_variable **sorted =
        calloc(parent->n_variables + 1, sizeof *sorted);

    if (!sorted) {
        pair->why->failed = true;
        return false;
    }
    for (size_t i = 0; i < parent->n_variables; i++)
        sorted[i] = &parent->variables[i];
    qsort(sorted, parent->n_variables, sizeof *sorted, by_name);
    for (size_t i = 0; i < pair->child->n_variables; i++) {
        const struct policy_variable *variable = &pair->child->variables[i];
        const struct policy_variable **found =
            bsearch(&variable, sorted, parent->n_variables, sizeof *sorted, by_name);

        if (found && strcmp((*found)->value, variable->value) == 0)
            continue;
        quote(pair->why, variable->name); /* its value may be a secret */
        buffer_append_string(pair->why, found ? " has another value than in the parent"
                                              : " is not among the parent's variables");
        return false;
    }
    return true;
}

static bool secrets_within(const struct pair *pair)
{
    const coop_policy *parent = pair->parent;

    for (size_t i = 0; i < pair->child->n_secrets; i++) {
        const struct policy_secret *secret = &pair->child->secrets[i];
        size_t k = 0;

        while (k < parent->n_secrets && strcmp(parent->secrets[k].entry, secret->entry) != 0)
            k++;
        if (k < parent->n_secrets)
            continue;
        quote(pair->why, secret->name);
        buffer_append_string(pair->why, " is not among the parent's, in this variable and with "
                                        "this value");
        return false;
    }
    return true;
}

/* ---- mounts */

static uint64_t tmpfs_size(const coop_policy *policy, const struct policy_mount *mount)
{
    return mount->size ? mount->size : policy->limits[COOP_LIMIT_TMP_SIZE];
}

static bool overlaps(const char *a, const char *b)
{
    return path_is_within(a, b) || path_is_within(b, a);
}

bool policy_could_replace(const coop_policy *policy, const char *source)
{
    const char *workspace = policy->root ? policy->root : policy->workspace;

    if (!workspace || *workspace != '/' || overlaps(source, workspace))
        return true;
    for (size_t i = 0; i < policy->n_mounts; i++) {
        const struct policy_mount *mount = &policy->mounts[i];

        if (mount->kind == POLICY_BIND && (!mount->read_only || mount->is_replaceable) &&
            overlaps(source, mount->source))
            return true;
    }
    return false;
}

static bool excess(const struct pair *pair, const char *path, const char *what)
{
    quote(pair->why, path);
    buffer_append_char(pair->why, ' ');
    buffer_append_string(pair->why, what);
    return false;
}

static bool bind_within(const struct pair *pair, const char *path, const struct view_place *child,
                        const struct view_place *parent)
{
    auto_free char *from = path_join(child->mount->source, child->below);
    auto_free char *parents =
        parent->what == VIEW_IS_BIND ? path_join(parent->mount->source, parent->below) : NULL;

    if (!from || (parent->what == VIEW_IS_BIND && !parents)) {
        pair->why->failed = true;
        return false;
    }
    if (parent->what != VIEW_IS_BIND)
        return excess(pair, path, "is a mount that the parent does not have");
    if (strcmp(from, parents) != 0)
        return excess(pair, path, "stands for another file or directory than in the parent");
    if (parent->mount->read_only && !child->mount->read_only)
        return excess(pair, path, "can be written, in the parent only read");
    bool is_same = strcmp(child->mount->target, parent->mount->target) == 0;
    if (!is_same && (!parent->mount->read_only || policy_could_replace(pair->parent, from)))
        return excess(pair, path,
                      "is a part of a mount of the parent's, in which a link could take its place");
    return true;
}

static bool tmpfs_within(const struct pair *pair, const char *path, const struct view_place *child,
                         const struct view_place *parent)
{
    if (child->mount->read_only)
        return true; /* nothing can be in it */
    if (parent->what != VIEW_IS_TMPFS || strcmp(parent->mount->target, child->mount->target) != 0)
        return excess(pair, path, "is a file system in memory that the parent does not have");
    if (parent->mount->read_only)
        return excess(pair, path, "can be written, in the parent only read");
    if (tmpfs_size(pair->child, child->mount) > tmpfs_size(pair->parent, parent->mount))
        return excess(pair, path, "is larger than in the parent");
    return true;
}

static bool place_within(const struct pair *pair, const char *path, const struct view_place *child,
                         const struct view_place *parent)
{
    const char *hidden = "is hidden in the parent";

    switch (child->what) {
    case VIEW_NOTHING:
    case VIEW_IS_BLOCK:
    case VIEW_IS_OWN: /* made for this box: nothing of the host's is in it */
        return true;
    case VIEW_IS_BIND:
        return bind_within(pair, path, child, parent);
    case VIEW_IS_TMPFS:
        return tmpfs_within(pair, path, child, parent);
    case VIEW_IS_WORKSPACE:
    case VIEW_IS_TOOLS:
        break;
    }
    if (child->what == parent->what)
        return true;
    if (parent->what == VIEW_IS_BLOCK)
        return excess(pair, path, hidden);
    return excess(pair, path,
                  child->what == VIEW_IS_WORKSPACE
                      ? "is the workspace's own, in the parent something else is mounted there"
                      : "is the host's own, in the parent something else is mounted there");
}

/* Every pair of places that some path has, it has at the longer of their two targets. */
static bool targets_within(const struct pair *pair, const struct view_index *of,
                           const struct view_index *child, const struct view_index *parent,
                           bool is_view_known)
{
    for (size_t i = 0; i < view_n_targets(of); i++) {
        const char *target = view_target(of, i);
        struct view_place childs = view_find(child, target);
        struct view_place parents = view_find(parent, target);

        /* It may lie in the workspace, wherever that is. */
        if (!is_view_known && parents.mount && !childs.mount && childs.what != VIEW_IS_WORKSPACE)
            return excess(pair, target,
                          "has a mount or a block in the parent, and may show the "
                          "workspace without it");
        if (!place_within(pair, target, &childs, &parents))
            return false;
    }
    return true;
}

static bool mounts_within(const struct pair *pair)
{
    const char *view = view_of_workspace(pair->child, NULL);
    auto_view_index struct view_index *child = view_index_new(pair->child, view);
    auto_view_index struct view_index *parent =
        view_index_new(pair->parent, view_of_workspace(pair->parent, NULL));

    if (!child || !parent) {
        pair->why->failed = true;
        return false;
    }
    return targets_within(pair, child, child, parent, view != NULL) &&
           targets_within(pair, parent, child, parent, view != NULL);
}

/* ---- rules that protect */

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

static bool rule_excess(const struct pair *pair, const struct policy_protect *rule,
                        const char *what)
{
    static const char *const words[] = { "the exception ", "the hidden ", "the write-protected " };

    buffer_append_string(pair->why, words[rule->action]);
    quote(pair->why, rule->pattern);
    buffer_append_char(pair->why, ' ');
    buffer_append_string(pair->why, what);
    return false;
}

/* Built-in exceptions that the parent does not have would outdo its own, less specific rules. */
static bool defaults_within(const struct pair *pair, const struct rules *child,
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
static bool exception_within(const struct pair *pair, const struct rules *child,
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

static bool rules_within(const struct pair *pair, const struct rules *child,
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

static bool protect_within(const struct pair *pair)
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

/* ---- commands */

static bool needs_within(const struct pair *pair, const struct command_rule *child,
                         const struct command_rule *parent)
{
    for (size_t i = 0; i < child->n_needs; i++) {
        bool is_there = false;

        for (size_t k = 0; parent && k < parent->n_needs && !is_there; k++)
            is_there = strcmp(child->needs[i], parent->needs[k]) == 0;
        if (is_there)
            continue;
        quote(pair->why, child->name);
        buffer_append_string(pair->why, " needs ");
        quote(pair->why, child->needs[i]);
        buffer_append_string(pair->why, ", in the parent it does not");
        return false;
    }
    return true;
}

static bool commands_within(const struct pair *pair)
{
    const struct policy_commands *child = &pair->child->commands;
    const struct policy_commands *parent = &pair->parent->commands;
    auto_free char *counter = NULL;

    if (child->strength < parent->strength)
        return more(pair, policy_strength_names[child->strength],
                    policy_strength_names[parent->strength]);
    if (parent->strength == COOP_COMMANDS_OFF)
        return true;
    int r = command_rules_is_within(&child->rules, &parent->rules, &counter, NULL);
    if (r == 1) {
        for (size_t i = 0; i < child->rules.n; i++) {
            const struct command_rule *rule = &child->rules.items[i];
            const struct command_rule *wider = command_rules_find(&parent->rules, rule->name);

            if (!needs_within(pair, rule, wider))
                return false;
            if (wider && wider->manifest && !rule->manifest) {
                quote(pair->why, rule->name);
                buffer_append_string(pair->why, " has a manifest in the parent only");
                return false;
            }
        }
        return true;
    }
    if (counter) {
        buffer_append_string(pair->why, "only the child allows ");
        quote(pair->why, counter);
    }
    pair->why->failed = pair->why->failed || !counter;
    return false;
}

/* ---- the list */

static const struct {
    const char *name;
    bool (*is_within)(const struct pair *pair);
} dimensions[] = {
    { "mode", mode_within },
    { "network", network_within },
    { "profile", profile_within },
    { "host sockets", sockets_within },
    { "uid", uid_within },
    { "workspace", workspace_within },
    { "same path", same_path_within },
    { "limits", limits_within },
    { "mounts", mounts_within },
    { "protect", protect_within },
    { "environment", environment_within },
    { "secrets", secrets_within },
    { "commands", commands_within },
    /* free: the host name, the directory to start in, what a command is told about its run */
};

int policy_is_within(const coop_policy *child, const coop_policy *parent, char **counter,
                     coop_error **err)
{
    for (size_t i = 0; i < COUNT(dimensions); i++) {
        auto_buffer struct buffer why = { 0 };
        const struct pair pair = { child, parent, &why };

        buffer_printf(&why, "%s: ", dimensions[i].name);
        if (dimensions[i].is_within(&pair))
            continue;
        *counter = buffer_take_string(&why);
        return *counter ? 0 : fail_no_memory(err);
    }
    return 1;
}
