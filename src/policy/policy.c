#include "policy.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "policy/commands.h"
#include "policy/credentials.h"
#include "policy/digest.h"
#include "policy/env_rules.h"
#include "policy/hosts.h"
#include "policy/path/path.h"
#include "policy/protect.h"
#include "policy/setting.h"

const char *const policy_mode_names[] = { "required", "preferred", "disabled", NULL };
int coop_policy_new(coop_policy **out, coop_error **err)
{
    coop_policy *policy = calloc(1, sizeof *policy);

    if (!policy)
        return fail_no_memory(err);
    policy_default_settings(policy);
    policy->hostname = strdup("coop");
    if (!policy->hostname) {
        free(policy);
        return fail_no_memory(err);
    }
    *out = policy;
    return 0;
}

void coop_policy_free(coop_policy *policy)
{
    if (!policy)
        return;
    policy_free_mounts(policy);
    for (size_t i = 0; i < policy->n_variables; i++) {
        free(policy->variables[i].name);
        free(policy->variables[i].value);
    }
    for (size_t i = 0; i < policy->n_protects; i++) {
        free(policy->protects[i].pattern);
        free((char *)(uintptr_t)policy->protects[i].origin.name);
    }
    policy_free_facts(policy);
    policy_free_hosts(policy);
    policy_free_secrets(policy);
    policy_free_credentials(policy);
    policy_free_commands(policy);
    policy_free_notes(policy);
    free(policy->variables);
    free(policy->protects);
    free(policy->workspace);
    free(policy->root);
    free(policy->restrict_to);
    free(policy->directory);
    free(policy->memory);
    free(policy->hostname);
    free(policy);
}

static int replace_text(char **slot, const char *text, coop_error **err)
{
    char *copy = strdup(text);

    if (!copy)
        return fail_no_memory(err);
    free(*slot);
    *slot = copy;
    return 0;
}

/* Where a directory is "/", it is there and nowhere else. */
static int check_one_place(const char *root, const char *workspace, bool same_path,
                           coop_error **err)
{
    if (root && workspace)
        return fail_kind(err, COOP_ERROR_BAD_POLICY, EINVAL,
                         "the root '%s' and the workspace '%s' exclude each other", root,
                         workspace);
    if (root && same_path)
        return fail_kind(err, COOP_ERROR_BAD_POLICY, EINVAL,
                         "the root '%s' is shown as '/', so not at its own path too", root);
    return 0;
}

int coop_policy_set_workspace(coop_policy *policy, const char *directory, coop_error **err)
{
    int r = path_check("workspace", directory, err);

    if (r == 0)
        r = check_one_place(policy->root, directory, false, err);
    return r < 0 ? r : replace_text(&policy->workspace, directory, err);
}

int coop_policy_set_root(coop_policy *policy, const char *directory, bool read_only,
                         coop_error **err)
{
    int r = path_check("root", directory, err);

    if (r == 0)
        r = check_one_place(directory, policy->workspace, policy->same_path, err);
    if (r == 0)
        r = replace_text(&policy->root, directory, err);
    return r < 0 ? r : coop_policy_set_read_only(policy, read_only, err);
}

int coop_policy_set_read_only(coop_policy *policy, bool read_only, coop_error **err)
{
    return policy_put(policy, SETTING_SANDBOX_READONLY, read_only, err);
}

int coop_policy_set_restrict(coop_policy *policy, const char *directory, coop_error **err)
{
    const char *what = "directory to restrict the workspace to";
    auto_free char *rooted = NULL;
    auto_free char *normal = NULL;
    int r = path_check(what, directory, err);

    if (r < 0)
        return r;
    if (*directory != '/' && asprintf(&rooted, "/%s", directory) < 0)
        return fail_no_memory(err);
    r = path_normalise(what, rooted ? rooted : directory, &normal, err);
    if (r < 0)
        return r;
    free(policy->restrict_to);
    policy->restrict_to = normal[1] ? take_ptr(normal) : NULL;
    policy_mark(policy, SETTING_SANDBOX_RESTRICT);
    return 0;
}

int policy_check_same_path(const coop_policy *policy, uint64_t same_path, coop_error **err)
{
    return check_one_place(policy->root, NULL, same_path != 0, err);
}

int coop_policy_set_same_path(coop_policy *policy, bool same_path, coop_error **err)
{
    return policy_put(policy, SETTING_SANDBOX_SAME_PATH, same_path, err);
}

int policy_add_protect(coop_policy *policy, const char *pattern, coop_protect action,
                       struct origin origin, coop_error **err)
{
    if (!pattern || !*pattern)
        return fail_kind(err, COOP_ERROR_BAD_POLICY, EINVAL, "the pattern to protect is empty");
    if ((unsigned)action > COOP_PROTECT_KEEP)
        return fail_kind(err, COOP_ERROR_BAD_POLICY, EINVAL, "bad protection %d", (int)action);
    int r = protect_check_pattern(pattern, policy->protect_ignore_case, err);
    if (r < 0)
        return r;
    struct policy_protect *grown =
        reallocarray(policy->protects, policy->n_protects + 1, sizeof *policy->protects);
    if (!grown)
        return fail_no_memory(err);
    policy->protects = grown;
    struct policy_protect rule = { strdup(pattern), action, origin };
    rule.origin.name = origin.name ? strdup(origin.name) : NULL;
    if (!rule.pattern || (origin.name && !rule.origin.name)) {
        free(rule.pattern);
        return fail_no_memory(err);
    }
    policy->protects[policy->n_protects++] = rule;
    return 0;
}

int coop_policy_add_protect(coop_policy *policy, const char *pattern, coop_protect action,
                            coop_error **err)
{
    return policy_add_protect(policy, pattern, action, (struct origin){ "the policy", 0, 0 }, err);
}

int coop_policy_set_protect_defaults(coop_policy *policy, bool enabled, coop_error **err)
{
    return policy_put(policy, SETTING_PROTECT_DEFAULTS, enabled, err);
}

int coop_policy_set_protect_ignore_case(coop_policy *policy, bool ignore_case, coop_error **err)
{
    return policy_put(policy, SETTING_PROTECT_IGNORE_CASE, ignore_case, err);
}

static int replace_variable(struct policy_variable *variable, const char *value, coop_error **err)
{
    if (strcmp(variable->value, value) == 0)
        return 0;
    variable->is_for_boxes = false;
    return replace_text(&variable->value, value, err);
}

int coop_policy_set_env(coop_policy *policy, const char *name, const char *value, coop_error **err)
{
    if (!name || !value)
        return fail_kind(err, COOP_ERROR_BAD_POLICY, EINVAL, "the variable '%s' has no value",
                         name ? name : "");
    int r = env_check_set(name, strlen(name), value, strlen(value), policy->second_prefix, err);
    if (r < 0)
        return r;
    for (size_t i = 0; i < policy->n_variables; i++)
        if (strcmp(policy->variables[i].name, name) == 0)
            return replace_variable(&policy->variables[i], value, err);
    if (policy->n_variables >= POLICY_VARIABLES_MAX)
        return fail_kind(err, COOP_ERROR_BAD_POLICY, E2BIG, "more than %d variables",
                         POLICY_VARIABLES_MAX);
    struct policy_variable *grown =
        reallocarray(policy->variables, policy->n_variables + 1, sizeof *policy->variables);
    if (!grown)
        return fail_no_memory(err);
    policy->variables = grown;
    struct policy_variable variable = { .name = strdup(name), .value = strdup(value) };
    if (!variable.name || !variable.value) {
        free(variable.name);
        free(variable.value);
        return fail_no_memory(err);
    }
    policy->variables[policy->n_variables++] = variable;
    return 0;
}

int coop_policy_set_directory(coop_policy *policy, const char *directory, coop_error **err)
{
    int r = path_check("directory to start in", directory, err);

    return r < 0 ? r : replace_text(&policy->directory, directory, err);
}

int coop_policy_set_uid(coop_policy *policy, uint32_t uid, coop_error **err)
{
    if (uid == UINT32_MAX)
        return fail_kind(err, COOP_ERROR_BAD_POLICY, EINVAL, "bad uid %u: no user can have it",
                         uid);
    policy->uid = uid;
    policy->has_uid = true;
    return 0;
}

int coop_policy_set_hostname(coop_policy *policy, const char *name, coop_error **err)
{
    size_t length = !name ? 0
                          : strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                         "0123456789.-");

    if (length == 0 || name[length] != '\0' || length > 63)
        return fail_kind(err, COOP_ERROR_BAD_POLICY, EINVAL,
                         "bad host name '%s': expected 1 to 63 letters, digits, '-' and '.'",
                         name ? name : "");
    policy_mark(policy, SETTING_HOSTNAME);
    return replace_text(&policy->hostname, name, err);
}

int coop_policy_set_network(coop_policy *policy, coop_network network, coop_error **err)
{
    if ((unsigned)network > COOP_NETWORK_NAT)
        return fail_kind(err, COOP_ERROR_BAD_POLICY, EINVAL, "bad network %d", (int)network);
    policy->network = network;
    policy_mark(policy, SETTING_SANDBOX_NETWORK);
    return 0;
}

int coop_policy_set_mode(coop_policy *policy, coop_mode mode, coop_error **err)
{
    return policy_put(policy, SETTING_SANDBOX_MODE, (unsigned)mode, err);
}

int coop_policy_set_profile(coop_policy *policy, coop_profile profile, coop_error **err)
{
    return policy_put(policy, SETTING_SANDBOX_PROFILE, (unsigned)profile, err);
}

int coop_policy_set_whole_home(coop_policy *policy, bool allowed, coop_error **err)
{
    (void)err;
    policy->whole_home = allowed;
    return 0;
}

int coop_policy_set_host_sockets(coop_policy *policy, bool allowed, coop_error **err)
{
    return policy_put(policy, SETTING_SANDBOX_ALLOW_SOCKETS, allowed, err);
}

/* For requests: nothing of the parent's is taken over but what is added from now on. */
int coop_policy_drop_env(coop_policy *policy, coop_error **err)
{
    (void)err;
    for (size_t i = 0; i < policy->n_variables; i++) {
        free(policy->variables[i].name);
        free(policy->variables[i].value);
    }
    policy->n_variables = 0;
    policy_free_secrets(policy);
    policy->secrets = NULL;
    policy->n_secrets = 0;
    policy_mark(policy, SETTING_ENVIRONMENT_SET);
    return 0;
}

void policy_note_variable(coop_policy *policy, const char *name, const char *flag)
{
    for (size_t i = 0; i < policy->n_variables; i++)
        if (strcmp(policy->variables[i].name, name) == 0) {
            policy->variables[i].origin = (struct origin){ flag, 0, 0 };
            policy->variables[i].is_for_boxes = false;
        }
}

void policy_keep_variable_in_boxes(coop_policy *policy, const char *name)
{
    for (size_t i = 0; i < policy->n_variables; i++)
        if (strcmp(policy->variables[i].name, name) == 0)
            policy->variables[i].is_for_boxes = true;
}

const char *coop_policy_digest(const coop_policy *policy)
{
    /* A cache: the value is a function of the rest. */
    digest_policy(policy, ((coop_policy *)(uintptr_t)policy)->digest);
    return policy->digest;
}

static int copy_texts(const coop_policy *from, coop_policy *to, coop_error **err)
{
    int r = 0;

    if (from->workspace)
        r = coop_policy_set_workspace(to, from->workspace, err);
    if (r == 0 && from->root)
        r = coop_policy_set_root(to, from->root, from->read_only, err);
    if (r == 0 && from->restrict_to)
        r = coop_policy_set_restrict(to, from->restrict_to, err);
    if (r == 0 && from->directory)
        r = coop_policy_set_directory(to, from->directory, err);
    if (r == 0)
        r = replace_text(&to->hostname, from->hostname, err);
    if (r == 0 && from->memory)
        r = replace_text(&to->memory, from->memory, err);
    for (size_t i = 0; r == 0 && i < from->n_variables; i++)
        r = coop_policy_set_env(to, from->variables[i].name, from->variables[i].value, err);
    for (size_t i = 0; r == 0 && i < from->n_variables; i++) {
        to->variables[i].origin = from->variables[i].origin;
        to->variables[i].is_for_boxes = from->variables[i].is_for_boxes;
    }
    for (size_t i = 0; r == 0 && i < from->n_protects; i++)
        r = policy_add_protect(to, from->protects[i].pattern, from->protects[i].action,
                               from->protects[i].origin, err);
    for (size_t i = 0; r == 0 && i < from->n_mounts; i++)
        r = policy_copy_mount(to, &from->mounts[i], err);
    return r;
}

int policy_copy(const coop_policy *policy, coop_policy **out, coop_error **err)
{
    coop_policy *copy = NULL;
    int r = coop_policy_new(&copy, err);

    if (r < 0)
        return r;
    policy_copy_settings(policy, copy);
    copy->links_own_path = policy->links_own_path;
    copy->has_uid = policy->has_uid;
    copy->uid = policy->uid;
    copy->view = policy->view;
    copy->whole_home = policy->whole_home;
    r = copy_texts(policy, copy, err);
    if (r == 0)
        r = policy_copy_facts(policy, copy, err);
    if (r == 0)
        r = policy_copy_notes(policy, copy, err);
    if (r == 0)
        r = policy_copy_secrets(policy, copy, err);
    if (r == 0)
        r = policy_copy_commands(policy, copy, err);
    if (r == 0)
        r = policy_copy_hosts(policy, copy, err);
    if (r == 0)
        r = policy_copy_credentials(policy, copy, err);
    if (r < 0) {
        coop_policy_free(copy);
        return r;
    }
    *out = copy;
    return 0;
}
