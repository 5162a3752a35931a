/*
 * narrow.c - what the caller takes away: writing, or all but some directories
 *
 * The file tools look at the directories themselves (place.h). A command is held by its box, which
 * can show one directory of the workspace; where several are left, commands are refused.
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "policy/path.h"
#include "policy/policy.h"
#include "tools/tools.h"

static int make_read_only(coop_policy *policy, coop_error **err)
{
    for (size_t i = 0; i < policy->n_mounts; i++)
        if (policy->mounts[i].kind == POLICY_BIND)
            policy->mounts[i].read_only = true;
    return coop_policy_set_read_only(policy, true, err);
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

/* The one root in the directory that holds all the others there; "" if there are several, or none. */
static void find_outermost(const char *const *roots, const char *directory, char out[PATH_MAX])
{
    char root[PATH_MAX];
    bool is_alone = true;

    out[0] = '\0';
    for (; *roots; roots++) {
        if (!find_root(*roots, root) || !path_is_within(root, directory))
            continue;
        if (!out[0] || path_is_within(out, root))
            memcpy(out, root, sizeof root);
        else if (!path_is_within(root, out))
            is_alone = false;
    }
    if (!is_alone)
        out[0] = '\0';
}

static int narrow_to_roots(coop_tools *tools, const char *const *roots, coop_error **err)
{
    coop_policy *policy = tools->policy;
    const char *asked = policy->root ? policy->root : policy->workspace ? policy->workspace : ".";
    const char *restricted = policy->restrict_to ? policy->restrict_to : "";
    char workspace[PATH_MAX];
    char
        shown[2 * PATH_MAX]; /* of it, as the policy has it: roots leave less of that, never more */
    char outermost[PATH_MAX];
    int r = block_mounts(policy, roots, err);

    if (r < 0)
        return r;
    if (!realpath(asked, workspace))
        return 0; /* the plan complains */
    (void)snprintf(shown, sizeof shown, "%s%s", workspace[1] || !*restricted ? workspace : "",
                   restricted);
    if (is_in_roots(roots, shown))
        return 0; /* all of it */
    find_outermost(roots, shown, outermost);
    if (!outermost[0]) {
        tools->no_commands = true;
        return 0;
    }
    return coop_policy_set_restrict(policy, outermost + (workspace[1] ? strlen(workspace) : 0),
                                    err);
}

int tools_narrow(coop_tools *tools, const coop_tools_context *context, coop_error **err)
{
    int r = context->read_only ? make_read_only(tools->policy, err) : 0;

    return r == 0 && context->roots ? narrow_to_roots(tools, context->roots, err) : r;
}
