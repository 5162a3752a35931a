/*
 * narrow.c - what the caller takes away: writing, or all but some directories
 *
 * The file tools look at the directories themselves (place.h). A command is held by its box, which
 * shows one directory of the workspace, and where several are left the others as mounts where they
 * would be. Nothing that is hidden becomes a mount: what is mounted is shown.
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "policy/path/path.h"
#include "policy/policy.h"
#include "policy/protect.h"
#include "policy/restriction.h"
#include "tools/tools.h"

static int make_read_only(coop_policy *policy, coop_error **err)
{
    const struct policy_restriction by = { .read_only = POLICY_RANK_CHILD };

    (void)coop_policy_set_read_only(policy, true, NULL); /* cannot fail */
    return policy_restrict_mounts(policy, &by, err);
}

/* Where a root is on this host, without links; false: it is not there. */
static bool find_root(const char *root, char out[PATH_MAX])
{
    return root[0] == '/' && realpath(root, out);
}

static bool is_in_roots(const char *const *roots, const char *path)
{
    char real[PATH_MAX];
    char root[PATH_MAX];

    if (!realpath(path, real))
        return false;
    for (; *roots; roots++)
        if (find_root(*roots, root) && path_is_within(real, root))
            return true;
    return false;
}

/* Mounts of what is not in the roots are not shown. */
static int block_mounts(coop_policy *policy, const char *const *roots, coop_error **err)
{
    size_t n = policy->n_mounts;
    int r = 0;

    for (size_t i = 0; r == 0 && i < n; i++)
        if (policy->mounts[i].kind == POLICY_BIND &&
            !is_in_roots(roots, policy->mounts[i].source)) {
            auto_free char *target = strdup(policy->mounts[i].target);

            r = target ? coop_policy_add_block(policy, target, err) : fail_no_memory(err);
        }
    return r;
}

/* What roots leave of the workspace. */
struct left {
    char workspace[PATH_MAX]; /* on the host, without links */
    char shown[2 * PATH_MAX]; /* of it, as the policy has it: roots leave less, never more */
    char (*places)[PATH_MAX]; /* the outermost roots in that */
    size_t n;
};

static bool is_outermost(const char *const *roots, size_t i, const char *place)
{
    char other[PATH_MAX];

    for (size_t k = 0; roots[k]; k++)
        if (k != i && find_root(roots[k], other) && path_is_within(place, other) &&
            (strcmp(place, other) != 0 || k < i))
            return false;
    return true;
}

/* 0: the workspace is not there, and the plan complains. */
static int left_find(struct left *left, const coop_policy *policy, const char *const *roots,
                     coop_error **err)
{
    const char *asked = policy->root ? policy->root : policy->workspace ? policy->workspace : ".";
    const char *restricted = policy->restrict_to ? policy->restrict_to : "";
    size_t n = 0;

    if (!realpath(asked, left->workspace))
        return 0;
    (void)snprintf(left->shown, sizeof left->shown, "%s%s",
                   left->workspace[1] || !*restricted ? left->workspace : "", restricted);
    while (roots[n])
        n++;
    left->places = calloc(n + 1, sizeof *left->places);
    if (!left->places)
        return fail_no_memory(err);
    for (size_t i = 0; i < n; i++) {
        char *place = left->places[left->n];

        if (find_root(roots[i], place) && path_is_within(place, left->shown) &&
            is_outermost(roots, i, place))
            left->n++;
    }
    return 1;
}

/* The path of a place in the workspace, with the slash in front. */
static const char *left_below(const struct left *left, size_t i)
{
    return left->places[i] + (left->workspace[1] ? strlen(left->workspace) : 0);
}

static int narrow_to_roots(coop_tools *tools, const char *const *roots, coop_error **err)
{
    struct left left = { .n = 0 };
    int r = block_mounts(tools->policy, roots, err);

    if (r == 0)
        r = left_find(&left, tools->policy, roots, err);
    if (r <= 0)
        return r;
    r = 0;
    if (!is_in_roots(roots, left.shown)) {
        if (left.n == 1)
            r = coop_policy_set_restrict(tools->policy, left_below(&left, 0), err);
        tools->has_several_roots = left.n > 1;
        tools->no_commands = left.n == 0;
    }
    free(left.places);
    return r;
}

/* Whether a rule hides it, or a directory that it is in. */
static bool is_hidden(struct protect *protect, const char *below)
{
    char path[PATH_MAX];

    for (size_t n = 1; protect && below[n - 1]; n++) {
        if (below[n] != '/' && below[n] != '\0')
            continue;
        memcpy(path, below + 1, n - 1);
        path[n - 1] = '\0';
        if (protect_hides(protect, path, true, PROTECT_ALL))
            return true;
    }
    return false;
}

/* Something else is there already, or around it: that has its own reason. */
static bool is_taken(const coop_policy *policy, const char *view, const char *target)
{
    for (size_t i = 0; i < policy->n_mounts; i++)
        if (path_is_within(policy->mounts[i].target, view) &&
            path_is_within(target, policy->mounts[i].target))
            return true;
    return false;
}

static int show_place(coop_policy *policy, const struct left *left, size_t i, const char *view,
                      coop_error **err)
{
    auto_free char *target = path_join(view, left_below(left, i) + 1);

    if (!target)
        return fail_no_memory(err);
    if (is_taken(policy, view, target))
        return 0;
    return coop_policy_add_bind(policy, left->places[i], target, policy->read_only, err);
}

int tools_show_roots(const coop_tools *tools, const char *const *roots, coop_policy *policy,
                     coop_error **err)
{
    struct left left = { .n = 0 };
    struct protect *protect = NULL;
    size_t first = 0;
    int r = protect_new(policy, &protect, err);

    if (r == 0)
        r = left_find(&left, policy, roots, err);
    if (r > 0) {
        while (first < left.n && is_hidden(protect, left_below(&left, first)))
            first++;
        if (first == left.n)
            first = 0; /* the plan says that it is hidden */
        r = coop_policy_set_restrict(policy, left_below(&left, first), err);
        for (size_t i = first + 1; r == 0 && i < left.n; i++)
            if (!is_hidden(protect, left_below(&left, i)))
                r = show_place(policy, &left, i, tools->workspace_view, err);
    }
    protect_free(protect);
    free(left.places);
    return r;
}

int tools_narrow(coop_tools *tools, const coop_tools_context *context, coop_error **err)
{
    int r = context->read_only ? make_read_only(tools->policy, err) : 0;

    return r == 0 && context->roots ? narrow_to_roots(tools, context->roots, err) : r;
}
