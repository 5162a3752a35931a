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
#include "policy/path.h"
#include "policy/protect.h"

const char *const policy_network_names[] = { "none", "off", "host", "gate", "nat", NULL };
const char *const policy_mode_names[] = { "required", "preferred", "disabled", NULL };
const char *const policy_limit_names[] = { "memory",    "pids",       "cpus",     "cpu-seconds",
                                           "file-size", "open-files", "tmp-size", NULL };

#define GIB (1024ull * 1024 * 1024)

static const uint64_t default_limits[COOP_LIMIT_COUNT] = {
    [COOP_LIMIT_MEMORY] = 2 * GIB,
    [COOP_LIMIT_PIDS] = 512,
    [COOP_LIMIT_CPUS] = COOP_LIMIT_NONE,
    [COOP_LIMIT_CPU_SECONDS] = COOP_LIMIT_NONE,
    [COOP_LIMIT_FILE_SIZE] = COOP_LIMIT_NONE,
    [COOP_LIMIT_OPEN_FILES] = COOP_LIMIT_NONE,
    [COOP_LIMIT_TMP_SIZE] = GIB / 2,
};

/* What makes no sense below or above: a box of one page or of no process cannot run anything. */
static const struct {
    uint64_t min, max;
} limit_ranges[COOP_LIMIT_COUNT] = {
    [COOP_LIMIT_MEMORY] = { 4ull << 20, INT64_MAX },
    [COOP_LIMIT_PIDS] = { 1, 4194304 },
    [COOP_LIMIT_CPUS] = { 10, 1000000 },
    [COOP_LIMIT_CPU_SECONDS] = { 1, UINT32_MAX },
    [COOP_LIMIT_FILE_SIZE] = { 0, INT64_MAX },
    [COOP_LIMIT_OPEN_FILES] = { 4, 1u << 30 },
    [COOP_LIMIT_TMP_SIZE] = { 64u << 10, INT64_MAX },
};

/* Mounts there would undo what coop itself puts there. */
static const char *const reserved_targets[] = { "/proc", "/dev", "/sys" };

int coop_policy_new(coop_policy **out, coop_error **err)
{
    coop_policy *policy = calloc(1, sizeof *policy);

    if (!policy)
        return fail_no_memory(err);
    memcpy(policy->limits, default_limits, sizeof policy->limits);
    policy->hostname = strdup("coop");
    if (!policy->hostname) {
        free(policy);
        return fail_no_memory(err);
    }
    *out = policy;
    return 0;
}

static void free_mount(struct policy_mount *mount)
{
    free(mount->source);
    free(mount->target);
    free((char *)(uintptr_t)mount->origin.name);
}

void coop_policy_free(coop_policy *policy)
{
    if (!policy)
        return;
    for (size_t i = 0; i < policy->n_mounts; i++)
        free_mount(&policy->mounts[i]);
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
    free(policy->mounts);
    free(policy->variables);
    free(policy->protects);
    free(policy->workspace);
    free(policy->root);
    free(policy->restrict_to);
    free(policy->directory);
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
    (void)err;
    policy->read_only = read_only;
    policy->set |= POLICY_SET_READ_ONLY;
    return 0;
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
    policy->set |= POLICY_SET_RESTRICT;
    return 0;
}

int coop_policy_set_same_path(coop_policy *policy, bool same_path, coop_error **err)
{
    int r = check_one_place(policy->root, NULL, same_path, err);

    if (r < 0)
        return r;
    policy->same_path = same_path;
    policy->set |= POLICY_SET_SAME_PATH;
    return 0;
}

/* Takes `source` and `target`, also on failure. */
static int add_mount(coop_policy *policy, struct policy_mount mount, coop_error **err)
{
    if (mount.kind != POLICY_BLOCK && policy->n_mounts >= POLICY_MOUNTS_MAX) {
        free_mount(&mount);
        return fail_kind(err, COOP_ERROR_BAD_POLICY, E2BIG, "more than %d mounts",
                         POLICY_MOUNTS_MAX);
    }
    struct policy_mount *grown =
        reallocarray(policy->mounts, policy->n_mounts + 1, sizeof *policy->mounts);

    if (!grown) {
        free_mount(&mount);
        return fail_no_memory(err);
    }
    policy->mounts = grown;
    policy->mounts[policy->n_mounts++] = mount;
    return 0;
}

static int check_target(const coop_policy *policy, const char *target, coop_error **err)
{
    if (strcmp(target, "/") == 0)
        return fail_kind(err, COOP_ERROR_BAD_POLICY, EINVAL,
                         "the mount target '/' would replace the whole view");
    for (size_t i = 0; i < COUNT(reserved_targets); i++)
        if (path_is_within(target, reserved_targets[i]))
            return fail_kind(err, COOP_ERROR_BAD_POLICY, EINVAL,
                             "the mount target '%s' lies in '%s', which coop makes itself", target,
                             reserved_targets[i]);
    for (size_t i = 0; i < policy->n_mounts; i++)
        if (policy->mounts[i].kind != POLICY_BLOCK && strcmp(policy->mounts[i].target, target) == 0)
            return fail_kind(err, COOP_ERROR_BAD_POLICY, EEXIST,
                             "the mount target '%s' is given twice", target);
    return 0;
}

int coop_policy_add_bind(coop_policy *policy, const char *source, const char *target,
                         bool read_only, coop_error **err)
{
    auto_free char *normal = NULL;
    int r = path_check("mount source", source, err);

    if (r < 0)
        return r;
    if (!target && *source != '/')
        return fail_kind(err, COOP_ERROR_BAD_POLICY, EINVAL,
                         "the mount source '%s' is relative, so it needs a target", source);
    r = path_normalise("mount target", target ? target : source, &normal, err);
    if (r < 0)
        return r;
    r = check_target(policy, normal, err);
    if (r < 0)
        return r;
    char *copy = strdup(source);
    if (!copy)
        return fail_no_memory(err);
    return add_mount(policy,
                     (struct policy_mount){ .kind = POLICY_BIND,
                                            .source = copy,
                                            .target = take_ptr(normal),
                                            .read_only = read_only },
                     err);
}

int coop_policy_add_socket(coop_policy *policy, const char *path, coop_error **err)
{
    int r = path_check("socket", path, err);

    if (r == 0 && *path != '/')
        r = fail_kind(err, COOP_ERROR_BAD_POLICY, EINVAL,
                      "the socket '%s' is relative: expected a path from '/'", path);
    if (r == 0)
        r = coop_policy_add_bind(policy, path, NULL, true, err);
    if (r == 0)
        policy->mounts[policy->n_mounts - 1].is_socket = true;
    return r;
}

int coop_policy_add_tmpfs(coop_policy *policy, const char *target, uint64_t size, bool read_only,
                          coop_error **err)
{
    auto_free char *normal = NULL;
    int r = path_normalise("mount target", target, &normal, err);

    if (r < 0)
        return r;
    r = check_target(policy, normal, err);
    if (r < 0)
        return r;
    return add_mount(policy,
                     (struct policy_mount){ .kind = POLICY_TMPFS,
                                            .target = take_ptr(normal),
                                            .size = size,
                                            .read_only = read_only },
                     err);
}

int coop_policy_add_block(coop_policy *policy, const char *path, coop_error **err)
{
    auto_free char *rooted = NULL;
    auto_free char *normal = NULL;
    int r = path_check("blocked path", path, err);

    if (r < 0)
        return r;
    if (*path != '/' && asprintf(&rooted, "/%s", path) < 0)
        return fail_no_memory(err);
    r = path_normalise("blocked path", rooted ? rooted : path, &normal, err);
    if (r < 0)
        return r;
    if (strcmp(normal, "/") == 0)
        return fail_kind(err, COOP_ERROR_BAD_POLICY, EINVAL,
                         "the blocked path '%s' is everything: block something in it", path);
    if (rooted) /* stays relative: the workspace's place in the view is not known yet */
        memmove(normal, normal + 1, strlen(normal));
    return add_mount(
        policy, (struct policy_mount){ .kind = POLICY_BLOCK, .target = take_ptr(normal) }, err);
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
    (void)err;
    policy->no_protect_defaults = !enabled;
    policy->set |= POLICY_SET_PROTECT_DEFAULTS;
    return 0;
}

int coop_policy_set_protect_ignore_case(coop_policy *policy, bool ignore_case, coop_error **err)
{
    (void)err;
    policy->protect_ignore_case = ignore_case;
    policy->set |= POLICY_SET_IGNORE_CASE;
    return 0;
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
    policy->set |= POLICY_SET_HOSTNAME;
    return replace_text(&policy->hostname, name, err);
}

#define SET_ENUM(field, max, bit, what)                                                            \
    do {                                                                                           \
        if ((unsigned)(field) > (unsigned)(max))                                                   \
            return fail_kind(err, COOP_ERROR_BAD_POLICY, EINVAL, "bad " what " %d", (int)(field)); \
        policy->field = (field);                                                                   \
        policy->set |= (bit);                                                                      \
        return 0;                                                                                  \
    } while (0)

int coop_policy_set_network(coop_policy *policy, coop_network network, coop_error **err)
{
    SET_ENUM(network, COOP_NETWORK_NAT, POLICY_SET_NETWORK, "network");
}

int coop_policy_set_mode(coop_policy *policy, coop_mode mode, coop_error **err)
{
    SET_ENUM(mode, COOP_MODE_DISABLED, POLICY_SET_MODE, "mode");
}

int coop_policy_set_profile(coop_policy *policy, coop_profile profile, coop_error **err)
{
    SET_ENUM(profile, COOP_PROFILE_DEV, POLICY_SET_PROFILE, "profile");
}

/* A limit as somebody would type it, and exactly: quantity.h reads it back. */
static const char *limit_text(coop_limit limit, uint64_t value, char out[32])
{
    static const char units[] = "kmgt";
    char unit[2] = "";

    if (limit == COOP_LIMIT_CPUS) { /* thousandths, no more of them than it takes */
        int n = snprintf(out, 32, "%llu.%03llu", (unsigned long long)(value / 1000),
                         (unsigned long long)(value % 1000));

        while (out[n - 1] == '0')
            out[--n] = '\0';
        if (out[n - 1] == '.')
            out[n - 1] = '\0';
        return out;
    }
    if (limit == COOP_LIMIT_MEMORY || limit == COOP_LIMIT_FILE_SIZE || limit == COOP_LIMIT_TMP_SIZE)
        for (size_t i = 0; units[i] && value > 0 && value % 1024 == 0; i++, value /= 1024)
            unit[0] = units[i];
    (void)snprintf(out, 32, "%llu%s", (unsigned long long)value, unit);
    return out;
}

int coop_policy_set_limit(coop_policy *policy, coop_limit limit, uint64_t value, coop_error **err)
{
    char given[32], min[32], max[32];

    if ((unsigned)limit >= COOP_LIMIT_COUNT)
        return fail_kind(err, COOP_ERROR_BAD_POLICY, EINVAL, "bad limit %d", (int)limit);
    if (value != COOP_LIMIT_NONE &&
        (value < limit_ranges[limit].min || value > limit_ranges[limit].max)) {
        bool is_open = limit_ranges[limit].max == INT64_MAX;

        return fail_kind(err, COOP_ERROR_BAD_POLICY, ERANGE, "bad %s '%s': expected %s%s%s%s",
                         policy_limit_names[limit], limit_text(limit, value, given),
                         is_open ? "at least " : "",
                         limit_text(limit, limit_ranges[limit].min, min), is_open ? "" : " to ",
                         is_open ? "" : limit_text(limit, limit_ranges[limit].max, max));
    }
    policy->limits[limit] = value;
    policy->set |= (unsigned)POLICY_SET_LIMIT << limit;
    return 0;
}

int coop_policy_set_host_sockets(coop_policy *policy, bool allowed, coop_error **err)
{
    (void)err;
    policy->host_sockets = allowed;
    policy->set |= POLICY_SET_HOST_SOCKETS;
    return 0;
}

/* ---- for requests: nothing of the parent's is taken over but what is added from now on */

int coop_policy_drop_mounts(coop_policy *policy, coop_error **err)
{
    size_t kept = 0;

    (void)err;
    for (size_t i = 0; i < policy->n_mounts; i++) {
        struct policy_mount *mount = &policy->mounts[i];

        if (mount->kind == POLICY_BLOCK)
            policy->mounts[kept++] = *mount;
        else
            free_mount(mount);
    }
    policy->n_mounts = kept;
    policy->set |= POLICY_SET_MOUNTS;
    return 0;
}

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
    policy->set |= POLICY_SET_VARIABLES;
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

int policy_note_origin(coop_policy *policy, struct origin origin, coop_error **err)
{
    struct policy_mount *mount = &policy->mounts[policy->n_mounts - 1];

    if (origin.name) {
        origin.name = strdup(origin.name);
        if (!origin.name)
            return fail_no_memory(err);
    }
    free((char *)(uintptr_t)mount->origin.name);
    mount->origin = origin;
    return 0;
}

const char *coop_policy_digest(const coop_policy *policy)
{
    /* A cache: the value is a function of the rest. */
    digest_policy(policy, ((coop_policy *)(uintptr_t)policy)->digest);
    return policy->digest;
}

int policy_copy_mount(coop_policy *policy, const struct policy_mount *from, coop_error **err)
{
    struct policy_mount mount = *from;

    mount.source = from->source ? strdup(from->source) : NULL;
    mount.target = strdup(from->target);
    mount.origin.name = from->origin.name ? strdup(from->origin.name) : NULL;
    if (!mount.target || (from->source && !mount.source) ||
        (from->origin.name && !mount.origin.name)) {
        free_mount(&mount);
        return fail_no_memory(err);
    }
    return add_mount(policy, mount, err);
}

void policy_make_way(coop_policy *policy, const char *target)
{
    auto_free char *normal = NULL;
    size_t n = 0;

    if (path_normalise("mount target", target, &normal, NULL) < 0)
        return;
    for (size_t i = 0; i < policy->n_mounts; i++) {
        struct policy_mount *mount = &policy->mounts[i];

        if (mount->kind != POLICY_BLOCK && mount->origin.line > 0 &&
            strcmp(mount->target, normal) == 0)
            free_mount(mount);
        else
            policy->mounts[n++] = *mount;
    }
    policy->n_mounts = n;
}

void policy_drop_last_mount(coop_policy *policy)
{
    free_mount(&policy->mounts[--policy->n_mounts]);
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
    copy->same_path = policy->same_path;
    copy->read_only = policy->read_only;
    copy->has_uid = policy->has_uid;
    copy->host_sockets = policy->host_sockets;
    copy->no_protect_defaults = policy->no_protect_defaults;
    copy->protect_ignore_case = policy->protect_ignore_case;
    copy->uid = policy->uid;
    copy->network = policy->network;
    copy->mode = policy->mode;
    copy->profile = policy->profile;
    copy->set = policy->set;
    memcpy(copy->limits, policy->limits, sizeof copy->limits);
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
