#include "restriction.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "policy/path/path.h"
#include "policy/view/place.h"

static void make_read_only(coop_policy *policy, unsigned below)
{
    for (size_t i = 0; i < policy->n_mounts; i++) {
        struct policy_mount *mount = &policy->mounts[i];

        if (mount->kind == POLICY_BIND && !mount->read_only && mount->rank < below)
            mount->read_only = mount->is_replaceable =
                true; /* who may write it can put links there */
    }
}

/* Memory stores, which nobody named, come with the user and not with the part. */
static bool is_dropped(const struct policy_mount *mount, unsigned below, const char *scope)
{
    bool is_named = below == POLICY_RANK_CHILD || mount->origin.line > 0;

    return mount->kind == POLICY_BIND && is_named && mount->rank < below &&
           !(scope &&
             (path_is_within(mount->target, scope) || path_is_within(scope, mount->target)));
}

bool policy_has_mount_below(const coop_policy *policy, const char *path)
{
    for (size_t i = 0; i < policy->n_mounts; i++)
        if (policy->mounts[i].kind != POLICY_BLOCK &&
            path_is_within(policy->mounts[i].target, path))
            return true;
    return false;
}

/* What lay under a mount must not come to light because the mount goes. */
static int cover(coop_policy *policy, const char *view, const struct policy_mount *dropped,
                 size_t n, coop_error **err)
{
    auto_view_index struct view_index *index = view_index_new(policy, view);
    int r = index ? 0 : fail_no_memory(err);
    auto_free bool *is_bare = calloc(n + 1, sizeof *is_bare);

    if (r == 0 && !is_bare)
        r = fail_no_memory(err);
    for (size_t i = 0; r == 0 && i < n; i++)
        is_bare[i] = (!view || view_find(index, dropped[i].target).what != VIEW_NOTHING) &&
                     !policy_has_mount_below(policy, dropped[i].target);
    for (size_t i = 0; r == 0 && i < n; i++) {
        struct policy_mount block = { .kind = POLICY_BLOCK,
                                      .target = dropped[i].target,
                                      .origin = dropped[i].origin };

        if (is_bare[i])
            r = policy_copy_mount(policy, &block, err);
    }
    return r;
}

static int drop_outside(coop_policy *policy, const struct policy_restriction *by, coop_error **err)
{
    const char *view = view_of_workspace(policy, by->workspace);
    auto_free char *scope = view ? path_join(view, policy->restrict_to + 1) : NULL;
    auto_free struct policy_mount *dropped = calloc(policy->n_mounts + 1, sizeof *dropped);
    size_t n_dropped = 0;
    size_t kept = 0;

    if (!dropped || (view && !scope))
        return fail_no_memory(err);
    for (size_t i = 0; i < policy->n_mounts; i++)
        if (is_dropped(&policy->mounts[i], by->restricted, scope))
            dropped[n_dropped++] = policy->mounts[i];
        else
            policy->mounts[kept++] = policy->mounts[i];
    policy->n_mounts = kept;
    int r = cover(policy, view, dropped, n_dropped, err);
    for (size_t i = 0; i < n_dropped; i++)
        policy_free_mount(&dropped[i]);
    return r;
}

int policy_restrict_mounts(coop_policy *policy, const struct policy_restriction *by,
                           coop_error **err)
{
    if (policy->read_only)
        make_read_only(policy, by->read_only);
    return policy->restrict_to && by->restricted ? drop_outside(policy, by, err) : 0;
}
