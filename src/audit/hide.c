/*
 * hide.c - keeps the records out of every box
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "audit/settings.h"
#include "base/cleanup.h"
#include "base/directories.h"
#include "base/error.h"
#include "policy/path/canonical.h"
#include "policy/path/path.h"
#include "policy/policy.h"

/* What is left of `path` behind `ancestor`, without a slash; NULL: it does not lie in it. */
static const char *rest_of(const char *path, const char *ancestor)
{
    size_t n = strlen(ancestor);

    if (!path_is_within(path, ancestor))
        return NULL;
    path += n == 1 ? 1 : n;
    return *path == '/' ? path + 1 : path;
}

static int refuse(const char *what, const char *directory, coop_error **err)
{
    int r = fail_kind(err, COOP_ERROR_BAD_POLICY, EPERM,
                      "%s would show a box the audit log in '%s'", what, directory);

    return fail_hint(err, r,
                     "no box may see it: show something else, or keep the log elsewhere "
                     "(audit.directory)");
}

static int block(coop_policy *policy, const char *path, coop_error **err)
{
    int r = coop_policy_add_block(policy, path, err);

    return r < 0 ? r : policy_note_origin(policy, (struct origin){ "[audit]", 0, 0 }, err);
}

static int hide_in_mount(const struct policy_mount *mount, const char *directory,
                         coop_policy *policy, coop_error **err)
{
    char source[PATH_MAX];
    char target[PATH_MAX];

    if (mount->kind != POLICY_BIND || !realpath(mount->source, source))
        return 0; /* what is not there is the plan's to complain about */
    if (path_is_within(source, directory))
        return refuse("a mount", directory, err);
    const char *rest = rest_of(directory, source);
    if (!rest)
        return 0;
    int n = snprintf(target, sizeof target, "%s/%s", mount->target[1] ? mount->target : "", rest);
    return n < 0 || (size_t)n >= sizeof target ? refuse("a mount", directory, err)
                                               : block(policy, target, err);
}

static int hide_in_workspace(const char *workspace, const char *directory, bool is_root,
                             coop_policy *policy, coop_error **err)
{
    auto_free char *path = NULL;
    const char *rest = rest_of(directory, workspace);

    if (path_is_within(workspace, directory))
        return refuse("the workspace", directory, err);
    if (!rest)
        return 0;
    if (asprintf(&path, "%s%s", is_root ? "/" : "", rest) < 0) {
        path = NULL;
        return fail_no_memory(err);
    }
    return block(policy, path, err);
}

static bool is_shown(const coop_policy *policy, const char *workspace, const char *directory)
{
    bool is_here =
        workspace && (path_is_within(directory, workspace) || path_is_within(workspace, directory));

    /* Sources of mounts may be links: they are looked at one by one. */
    return is_here || policy->n_mounts > 0;
}

int audit_hide(const struct audit_settings *settings, const char *workspace, bool is_for_reading,
               coop_policy *policy, coop_error **err)
{
    char directory[PATH_MAX];
    char root[PATH_MAX];
    size_t n_mounts = policy->n_mounts;

    if (!settings->directory || policy->mode == COOP_MODE_DISABLED)
        return 0;
    if (policy->root)
        workspace = realpath(policy->root, root);
    int r = path_canonical(settings->directory, directory);
    if (r < 0)
        return fail(err, -r, "find the audit log in '%s'", settings->directory);
    if (!is_shown(policy, workspace, directory))
        return 0;
    size_t n_before = policy->n_mounts;
    for (size_t i = 0; r == 0 && i < n_mounts; i++) {
        struct policy_mount mount = policy->mounts[i]; /* the list may move */

        r = hide_in_mount(&mount, directory, policy, err);
    }
    if (r == 0 && workspace)
        r = hide_in_workspace(workspace, directory, policy->root != NULL, policy, err);
    /* What is not there yet could be made by a command, so it is made first. */
    if (r == 0 && policy->n_mounts > n_before && !is_for_reading)
        r = directories_make(settings->directory, err);
    return r;
}
