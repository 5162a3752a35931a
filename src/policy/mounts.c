/*
 * mounts.c - a policy's part about mounts: what is shown besides the workspace, and what is blocked
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "policy/path/path.h"
#include "policy/policy.h"

/* Mounts there would undo what coop itself puts there. */
static const char *const reserved_targets[] = { "/proc", "/dev", "/sys" };

void policy_free_mount(struct policy_mount *mount)
{
    free(mount->source);
    free(mount->target);
    free((char *)(uintptr_t)mount->origin.name);
}

void policy_free_mounts(coop_policy *policy)
{
    for (size_t i = 0; i < policy->n_mounts; i++)
        policy_free_mount(&policy->mounts[i]);
    free(policy->mounts);
}

/* Takes `source` and `target`, also on failure. */
static int add_mount(coop_policy *policy, struct policy_mount mount, coop_error **err)
{
    if (mount.kind != POLICY_BLOCK && policy->n_mounts >= POLICY_MOUNTS_MAX) {
        policy_free_mount(&mount);
        return fail_kind(err, COOP_ERROR_BAD_POLICY, E2BIG, "more than %d mounts",
                         POLICY_MOUNTS_MAX);
    }
    struct policy_mount *grown =
        reallocarray(policy->mounts, policy->n_mounts + 1, sizeof *policy->mounts);

    if (!grown) {
        policy_free_mount(&mount);
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

int policy_add_socket(coop_policy *policy, const char *path, const char *target, coop_error **err)
{
    int r = coop_policy_add_bind(policy, path, target, true, err);

    if (r == 0)
        policy->mounts[policy->n_mounts - 1].is_socket = true;
    return r;
}

int coop_policy_add_socket(coop_policy *policy, const char *path, coop_error **err)
{
    int r = path_check("socket", path, err);

    if (r == 0 && *path != '/')
        r = fail_kind(err, COOP_ERROR_BAD_POLICY, EINVAL,
                      "the socket '%s' is relative: expected a path from '/'", path);
    return r < 0 ? r : policy_add_socket(policy, path, NULL, err);
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

/* For requests: nothing of the parent's is taken over but what is added from now on. */
int coop_policy_drop_mounts(coop_policy *policy, coop_error **err)
{
    size_t kept = 0;

    (void)err;
    for (size_t i = 0; i < policy->n_mounts; i++) {
        struct policy_mount *mount = &policy->mounts[i];

        if (mount->kind == POLICY_BLOCK)
            policy->mounts[kept++] = *mount;
        else
            policy_free_mount(mount);
    }
    policy->n_mounts = kept;
    policy_mark(policy, SETTING_SANDBOX_MOUNTS);
    return 0;
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

int policy_copy_mount(coop_policy *policy, const struct policy_mount *from, coop_error **err)
{
    struct policy_mount mount = *from;

    mount.source = from->source ? strdup(from->source) : NULL;
    mount.target = strdup(from->target);
    mount.origin.name = from->origin.name ? strdup(from->origin.name) : NULL;
    if (!mount.target || (from->source && !mount.source) ||
        (from->origin.name && !mount.origin.name)) {
        policy_free_mount(&mount);
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
            policy_free_mount(mount);
        else
            policy->mounts[n++] = *mount;
    }
    policy->n_mounts = n;
}

void policy_drop_last_mount(coop_policy *policy)
{
    policy_free_mount(&policy->mounts[--policy->n_mounts]);
}
