/*
 * within.c - the proof that a child can do no more than its parent, dimension by dimension
 *
 * Each dimension appends the end of a sentence to the counter-example where the child has more. The
 * table at the end is the list of dimensions: a field of the policy that is in none of them would
 * pass unseen, so whoever adds a field adds it here, or says in its row of src/settings what is narrower.
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
#include "policy/narrow/private.h"
#include "policy/network_mode.h"
#include "policy/path/path.h"
#include "policy/setting.h"

void narrow_quote(struct buffer *out, const char *text)
{
    buffer_append_char(out, '\'');
    printable_append(out, text, strlen(text));
    buffer_append_char(out, '\'');
}

bool narrow_more(const struct narrow_pair *pair, const char *child, const char *parent)
{
    buffer_append_string(pair->why, "the child has ");
    narrow_quote(pair->why, child);
    buffer_append_string(pair->why, ", the parent ");
    narrow_quote(pair->why, parent);
    return false;
}

/* ---- single values */

int policy_network_rank(coop_network network)
{
    return network_modes[network].rank;
}

static bool network_within(const struct narrow_pair *pair)
{
    return policy_network_rank(pair->child->network) <=
               policy_network_rank(pair->parent->network) ||
           narrow_more(pair, policy_network_names[pair->child->network],
                       policy_network_names[pair->parent->network]);
}

static bool has_socket(const coop_policy *policy, const char *source)
{
    for (size_t i = 0; i < policy->n_mounts; i++)
        if (policy->mounts[i].is_socket && strcmp(policy->mounts[i].source, source) == 0)
            return true;
    return false;
}

/* Whether it is shown in the parent too is for the mounts to say. */
static bool sockets_within(const struct narrow_pair *pair)
{
    if (pair->parent->host_sockets)
        return true;
    if (pair->child->host_sockets) {
        buffer_append_string(pair->why,
                             "the child may connect to unix sockets of the host, the parent not");
        return false;
    }
    for (size_t i = 0; i < pair->child->n_mounts; i++) {
        const struct policy_mount *mount = &pair->child->mounts[i];

        if (!mount->is_socket || has_socket(pair->parent, mount->source))
            continue;
        buffer_append_string(pair->why, "only the child may connect to ");
        narrow_quote(pair->why, mount->source);
        return false;
    }
    return true;
}

static bool uid_within(const struct narrow_pair *pair)
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

static bool workspace_within(const struct narrow_pair *pair)
{
    const coop_policy *child = pair->child;
    const coop_policy *parent = pair->parent;

    if (!same_text(child->root, parent->root))
        return narrow_more(pair, child->root ? child->root : "no root",
                           parent->root ? parent->root : "no root");
    if (parent->read_only && !child->read_only) {
        buffer_printf(pair->why, "the %s can be written, in the parent only read",
                      child->root ? "root" : "workspace");
        return false;
    }
    return child->root || same_text(pair->child->workspace, pair->parent->workspace) ||
           narrow_more(pair,
                       pair->child->workspace ? pair->child->workspace : "the current directory",
                       pair->parent->workspace ? pair->parent->workspace : "the current directory");
}

/* The same words are the same place: no link is followed on the way there. */
static bool restrict_within(const struct narrow_pair *pair)
{
    const char *child = pair->child->restrict_to;
    const char *parent = pair->parent->restrict_to;

    return !parent || (child && path_is_within(child, parent)) ||
           narrow_more(pair, child ? child : "/", parent);
}

/* A mount or a block that names a path of the box means something else when the workspace moves. */
static bool has_absolute_target(const coop_policy *policy)
{
    for (size_t i = 0; i < policy->n_mounts; i++)
        if (*policy->mounts[i].target == '/')
            return true;
    return false;
}

static bool same_path_within(const struct narrow_pair *pair)
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

static bool is_at_most(enum setting_narrow rule, uint64_t child, uint64_t parent)
{
    switch (rule) {
    case SETTING_LESS:
        return child <= parent;
    case SETTING_MORE:
        return child >= parent;
    case SETTING_SAME:
        return child == parent;
    case SETTING_OWN:
    case SETTING_FREE:
        break;
    }
    return true;
}

/* The first setting whose row says that the child's value is no narrower; SETTINGS: none. */
static size_t find_wider(const struct narrow_pair *pair, bool is_number)
{
    for (size_t i = 0; i < SETTINGS; i++) {
        const struct policy_setting *setting = &policy_settings[i];

        if ((setting->type > SETTING_WORD) == is_number &&
            !is_at_most(setting->narrow, policy_get(pair->child, (enum setting)i),
                        policy_get(pair->parent, (enum setting)i)))
            return i;
    }
    return SETTINGS;
}

static bool words_within(const struct narrow_pair *pair)
{
    static const char *const bools[] = { "false", "true" };
    size_t i = find_wider(pair, false);

    if (i == SETTINGS)
        return true;
    const char *const *words = policy_settings[i].words ? policy_settings[i].words : bools;
    buffer_printf(pair->why, "%s: ", policy_settings[i].name);
    return narrow_more(pair, words[policy_get(pair->child, (enum setting)i)],
                       words[policy_get(pair->parent, (enum setting)i)]);
}

static bool limits_within(const struct narrow_pair *pair)
{
    size_t i = find_wider(pair, true);

    if (i == SETTINGS)
        return true;
    buffer_printf(pair->why, "%s: the child has ", policy_settings[i].name);
    print_limit(pair->why, policy_get(pair->child, (enum setting)i));
    buffer_append_string(pair->why, ", the parent ");
    print_limit(pair->why, policy_get(pair->parent, (enum setting)i));
    return false;
}

static int by_name(const void *a, const void *b)
{
    const struct policy_variable *const *x = a;
    const struct policy_variable *const *y = b;

    return strcmp((*x)->name, (*y)->name);
}

static bool environment_within(const struct narrow_pair *pair)
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
        narrow_quote(pair->why, variable->name); /* its value may be a secret */
        buffer_append_string(pair->why, found ? " has another value than in the parent"
                                              : " is not among the parent's variables");
        return false;
    }
    return true;
}

static bool secrets_within(const struct narrow_pair *pair)
{
    const coop_policy *parent = pair->parent;

    for (size_t i = 0; i < pair->child->n_secrets; i++) {
        const struct policy_secret *secret = &pair->child->secrets[i];
        size_t k = 0;

        while (k < parent->n_secrets && strcmp(parent->secrets[k].entry, secret->entry) != 0)
            k++;
        if (k < parent->n_secrets)
            continue;
        narrow_quote(pair->why, secret->name);
        buffer_append_string(pair->why, " is not among the parent's, in this variable and with "
                                        "this value");
        return false;
    }
    return true;
}

/* ---- commands */

static bool needs_within(const struct narrow_pair *pair, const struct command_rule *child,
                         const struct command_rule *parent)
{
    for (size_t i = 0; i < child->n_needs; i++) {
        bool is_there = false;

        for (size_t k = 0; parent && k < parent->n_needs && !is_there; k++)
            is_there = strcmp(child->needs[i], parent->needs[k]) == 0;
        if (is_there)
            continue;
        narrow_quote(pair->why, child->name);
        buffer_append_string(pair->why, " needs ");
        narrow_quote(pair->why, child->needs[i]);
        buffer_append_string(pair->why, ", in the parent it does not");
        return false;
    }
    return true;
}

static bool commands_within(const struct narrow_pair *pair)
{
    const struct policy_commands *child = &pair->child->commands;
    const struct policy_commands *parent = &pair->parent->commands;
    auto_free char *counter = NULL;

    if (child->strength < parent->strength)
        return narrow_more(pair, policy_strength_names[child->strength],
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
                narrow_quote(pair->why, rule->name);
                buffer_append_string(pair->why, " has a manifest in the parent only");
                return false;
            }
        }
        return true;
    }
    if (counter) {
        buffer_append_string(pair->why, "only the child allows ");
        narrow_quote(pair->why, counter);
    }
    pair->why->failed = pair->why->failed || !counter;
    return false;
}

/* ---- the list */

static const struct {
    const char *name;
    bool (*is_within)(const struct narrow_pair *pair);
} dimensions[] = {
    { NULL, words_within }, /* names the setting itself */
    { "network", network_within },
    { "hosts", narrow_hosts_within },
    { "host sockets", sockets_within },
    { "uid", uid_within },
    { "workspace", workspace_within },
    { "restrict", restrict_within },
    { "same path", same_path_within },
    { "limits", limits_within },
    { "mounts", narrow_mounts_within },
    { "protect", narrow_protect_within },
    { "environment", environment_within },
    { "secrets", secrets_within },
    { "credentials", narrow_credentials_within },
    { "commands", commands_within },
    /* free: the host name, the directory to start in, what a command is told about its run */
};

int policy_is_within(const coop_policy *child, const coop_policy *parent, char **counter,
                     coop_error **err)
{
    for (size_t i = 0; i < COUNT(dimensions); i++) {
        auto_buffer struct buffer why = { 0 };
        const struct narrow_pair pair = { child, parent, &why };

        if (dimensions[i].name)
            buffer_printf(&why, "%s: ", dimensions[i].name);
        if (dimensions[i].is_within(&pair))
            continue;
        *counter = buffer_take_string(&why);
        return *counter ? 0 : fail_no_memory(err);
    }
    return 1;
}
