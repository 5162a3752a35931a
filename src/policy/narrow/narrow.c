#include "narrow.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "policy/commands.h"
#include "policy/credentials.h"
#include "policy/hosts.h"
#include "policy/path/path.h"
#include "policy/restriction.h"
#include "policy/setting.h"

/* ---- mounts */

static struct policy_mount *find_mount(const coop_policy *policy, const char *target)
{
    for (size_t i = 0; i < policy->n_mounts; i++)
        if (policy->mounts[i].kind != POLICY_BLOCK && strcmp(policy->mounts[i].target, target) == 0)
            return &policy->mounts[i];
    return NULL;
}

static bool has_block(const coop_policy *policy, const char *target)
{
    for (size_t i = 0; i < policy->n_mounts; i++)
        if (policy->mounts[i].kind == POLICY_BLOCK && strcmp(policy->mounts[i].target, target) == 0)
            return true;
    return false;
}

static int add_block(coop_policy *policy, const struct policy_mount *from, coop_error **err)
{
    struct policy_mount block = { .kind = POLICY_BLOCK,
                                  .target = from->target,
                                  .origin = from->origin };

    return has_block(policy, from->target) ? 0 : policy_copy_mount(policy, &block, err);
}

/*
 * What lay under a mount must not come to light because the mount goes: a read-only directory in the
 * workspace would become a writable one. So a block takes its place. Where a part of it is still
 * mounted nothing can be hidden around that part; the proof shows whether something comes to light.
 */
static int cover_dropped(const coop_policy *base, const coop_policy *request, coop_policy *child,
                         coop_error **err)
{
    int r = 0;

    for (size_t i = 0; r == 0 && i < base->n_mounts; i++)
        if (base->mounts[i].kind != POLICY_BLOCK &&
            !policy_has_mount_below(request, base->mounts[i].target))
            r = add_block(child, &base->mounts[i], err);
    return r;
}

/* A mount at the same target is replaced in its place. */
static int put_mount(coop_policy *child, const struct policy_mount *mount, coop_error **err)
{
    const struct policy_mount *before = find_mount(child, mount->target);
    size_t index = before ? (size_t)(before - child->mounts) : 0;
    int r = policy_copy_mount(child, mount, err);

    if (r < 0 || !before)
        return r;
    struct policy_mount *old = &child->mounts[index]; /* the list may have moved */
    struct policy_mount *last = &child->mounts[child->n_mounts - 1];
    struct policy_mount swapped = *old;
    *old = *last;
    *last = swapped;
    policy_drop_last_mount(child);
    return 0;
}

/* What the child is kept from holds for the mounts of its parent too, but for those it names itself. */
static int restrict_mounts(const coop_policy *request, coop_policy *child, coop_error **err)
{
    const struct policy_restriction by = {
        .read_only = policy_is_set(request, SETTING_SANDBOX_READONLY) && request->read_only
                         ? POLICY_RANK_CHILD
                         : 0,
        .restricted = policy_is_set(request, SETTING_SANDBOX_RESTRICT) && request->restrict_to
                          ? POLICY_RANK_CHILD
                          : 0,
    };
    int r = policy_restrict_mounts(child, &by, err);

    for (size_t i = 0; i < child->n_mounts; i++)
        child->mounts[i].rank = 0;
    return r;
}

static int overlay_mounts(const coop_policy *base, const coop_policy *request, coop_policy *child,
                          coop_error **err)
{
    int r = 0;

    if (policy_is_set(request, SETTING_SANDBOX_MOUNTS))
        r = coop_policy_drop_mounts(child, err);
    for (size_t i = 0; r == 0 && i < request->n_mounts; i++) {
        struct policy_mount mount = request->mounts[i]; /* borrows */

        mount.rank = POLICY_RANK_CHILD;
        r = mount.kind == POLICY_BLOCK ? add_block(child, &mount, err)
                                       : put_mount(child, &mount, err);
    }
    if (r == 0)
        r = restrict_mounts(request, child, err);
    if (r == 0 && policy_is_set(request, SETTING_SANDBOX_MOUNTS))
        r = cover_dropped(base, request, child, err);
    return r;
}

/* ---- rules that protect */

/* A rule that stands there already, and that no exception behind it could outdo. */
static bool has_rule(const coop_policy *policy, const struct policy_protect *rule)
{
    for (size_t i = policy->n_protects; i-- > 0;) {
        const struct policy_protect *other = &policy->protects[i];

        if (other->action == rule->action && strcmp(other->pattern, rule->pattern) == 0)
            return true;
        if (other->action == COOP_PROTECT_SHOW && rule->action != COOP_PROTECT_SHOW)
            return false;
    }
    return false;
}

static int overlay_protect(const coop_policy *request, coop_policy *child, coop_error **err)
{
    int r = 0;

    for (size_t i = 0; r == 0 && i < request->n_protects; i++) {
        const struct policy_protect *rule = &request->protects[i];

        if (!has_rule(child, rule))
            r = policy_add_protect(child, rule->pattern, rule->action, rule->origin, err);
    }
    return r;
}

/* ---- secrets */

static int overlay_secret(const struct policy_secret *secret, coop_policy *child, coop_error **err)
{
    const char *value = secret->entry + secret->n_variable + 1;
    auto_free char *variable = strndup(secret->entry, secret->n_variable);

    if (!variable)
        return fail_no_memory(err);
    for (size_t i = 0; i < child->n_secrets; i++) {
        if (child->secrets[i].n_variable != secret->n_variable ||
            memcmp(child->secrets[i].entry, secret->entry, secret->n_variable) != 0)
            continue;
        if (strcmp(child->secrets[i].entry, secret->entry) == 0)
            return 0;
        return fail_kind(err, COOP_ERROR_BAD_POLICY, EPERM,
                         "secrets: '%s' has another value than in the parent", secret->name);
    }
    return coop_policy_add_secret(child, secret->name, variable, value, err);
}

static int overlay_facts(const coop_policy *request, coop_policy *child, coop_error **err)
{
    int r = request->second_prefix
                ? coop_policy_set_second_prefix(child, request->second_prefix, err)
                : 0;

    for (int i = 0; r == 0 && i < COOP_FACT_COUNT; i++)
        if (request->tells[i])
            r = coop_policy_set_fact(child, (coop_fact)i, request->facts[i], err);
    return r;
}

/* ---- commands */

static int overlay_commands(const coop_policy *base, const coop_policy *request, coop_policy *child,
                            coop_error **err)
{
    auto_command_rules struct command_rules rules = { 0 };
    int r;

    if (!policy_is_set(request, SETTING_COMMANDS))
        return 0;
    if (policy_is_set(base, SETTING_COMMANDS))
        r = command_rules_narrow(&base->commands.rules, &request->commands.rules, &rules, err);
    else /* nobody said anything: everything may run */
        r = command_rules_copy(&request->commands.rules, &rules, err);
    return r < 0 ? r : policy_take_commands(child, &rules, err);
}

/* A command that the parent does not have would be there in the text, and still not run. */
static int check_commands(const coop_policy *parent, const coop_policy *request, coop_error **err)
{
    if (parent->commands.strength == COOP_COMMANDS_OFF)
        return 0;
    for (size_t i = 0; i < request->commands.rules.n; i++)
        if (!command_rules_find(&parent->commands.rules, request->commands.rules.items[i].name))
            return fail_kind(err, COOP_ERROR_BAD_POLICY, EPERM,
                             "commands: '%s' is not among those of the parent",
                             request->commands.rules.items[i].name);
    return 0;
}

/* ---- everything */

/* Another root is for the proof to refuse. */
static int overlay_root(const coop_policy *request, coop_policy *child, coop_error **err)
{
    char *copy = request->root ? strdup(request->root) : NULL;

    if (!request->root)
        return 0;
    if (!copy)
        return fail_no_memory(err);
    free(child->root);
    child->root = copy;
    return 0;
}

static int overlay_texts(const coop_policy *request, coop_policy *child, coop_error **err)
{
    int r = 0;

    if (policy_is_set(request, SETTING_SANDBOX_RESTRICT))
        r = coop_policy_set_restrict(child, request->restrict_to ? request->restrict_to : "/", err);
    if (r == 0 && request->workspace &&
        (!child->workspace || strcmp(child->workspace, request->workspace) != 0))
        r = coop_policy_set_workspace(child, request->workspace, err);
    if (r == 0 && request->directory)
        r = coop_policy_set_directory(child, request->directory, err);
    if (r == 0 && policy_is_set(request, SETTING_HOSTNAME))
        r = coop_policy_set_hostname(child, request->hostname, err);
    if (r == 0 && policy_is_set(request, SETTING_ENVIRONMENT_SET))
        r = coop_policy_drop_env(child, err);
    for (size_t i = 0; r == 0 && i < request->n_variables; i++)
        r = coop_policy_set_env(child, request->variables[i].name, request->variables[i].value,
                                err);
    for (size_t i = 0; r == 0 && i < request->n_secrets; i++)
        r = overlay_secret(&request->secrets[i], child, err);
    return r < 0 ? r : overlay_facts(request, child, err);
}

static void overlay_values(const coop_policy *request, coop_policy *child)
{
    if (request->has_uid) {
        child->has_uid = true;
        child->uid = request->uid;
    }
    policy_overlay_settings(request, child);
}

int policy_overlay(const coop_policy *base, const coop_policy *request, coop_policy **out,
                   coop_error **err)
{
    coop_policy *child = NULL;
    int r = policy_copy(base, &child, err);

    if (r < 0)
        return r;
    overlay_values(request, child);
    r = overlay_root(request, child, err);
    if (r == 0)
        r = overlay_texts(request, child, err);
    if (r == 0)
        r = policy_copy_notes(request, child, err);
    if (r == 0)
        r = overlay_mounts(base, request, child, err);
    if (r == 0)
        r = overlay_protect(request, child, err);
    if (r == 0)
        r = overlay_commands(base, request, child, err);
    if (r == 0)
        r = policy_overlay_hosts(request, child, err);
    if (r == 0)
        r = policy_overlay_credentials(request, child, err);
    if (r < 0) {
        coop_policy_free(child);
        return r;
    }
    *out = child;
    return 0;
}

/* A mount that a block of the parent's hides would be there in the text and not in the box. */
static int check_hidden(const coop_policy *parent, const coop_policy *request, coop_error **err)
{
    for (size_t i = 0; i < request->n_mounts; i++)
        for (size_t k = 0; request->mounts[i].kind != POLICY_BLOCK && k < parent->n_mounts; k++)
            if (parent->mounts[k].kind == POLICY_BLOCK &&
                path_is_within(request->mounts[i].target, parent->mounts[k].target))
                return fail_kind(err, COOP_ERROR_BAD_POLICY, EPERM,
                                 "mounts: '%s' is hidden in the parent, by the block of '%s'",
                                 request->mounts[i].target, parent->mounts[k].target);
    return 0;
}

/* A request that repeats a variable of the parent's gets no more of it than the parent has. */
static void remember_for_boxes(const coop_policy *parent, coop_policy *child)
{
    for (size_t i = 0; i < parent->n_variables; i++)
        if (parent->variables[i].is_for_boxes)
            policy_keep_variable_in_boxes(child, parent->variables[i].name);
}

/* Whoever runs under the parent, beside the child or later, can still do what the child cannot. */
static void remember_replaceable(const coop_policy *parent, coop_policy *child)
{
    for (size_t i = 0; i < child->n_mounts; i++)
        if (child->mounts[i].kind == POLICY_BIND)
            child->mounts[i].is_replaceable = policy_could_replace(parent, child->mounts[i].source);
}

int coop_policy_narrow(const coop_policy *parent, const coop_policy *request, coop_policy **out,
                       coop_error **err)
{
    coop_policy *child = NULL;
    auto_free char *counter = NULL;

    if (!parent || !request || !out)
        return fail_kind(err, COOP_ERROR_BAD_POLICY, EINVAL,
                         "narrow: a policy, a request and a place for the result are needed");
    int r = check_hidden(parent, request, err);
    if (r == 0)
        r = check_commands(parent, request, err);
    if (r < 0)
        return r;
    r = policy_overlay(parent, request, &child, err);
    if (r < 0)
        return r;
    child->set &= ~(UINT64_C(1) << SETTING_SANDBOX_MOUNTS | UINT64_C(1) << SETTING_ENVIRONMENT_SET);
    r = policy_is_within(child, parent, &counter, err);
    if (r == 0)
        r = fail_kind(err, COOP_ERROR_BAD_POLICY, EPERM, "%s", counter);
    if (r < 0) {
        coop_policy_free(child);
        return r;
    }
    remember_replaceable(parent, child);
    remember_for_boxes(parent, child);
    *out = child;
    return 0;
}
