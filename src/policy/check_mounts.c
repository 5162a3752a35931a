/*
 * check_mounts.c - mounts and blocks that hide each other, or miss
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "policy/check.h"
#include "policy/path/path.h"
#include "policy/view/place.h"

static const char *rest_of(const char *path, const char *ancestor)
{
    const char *rest = path + (ancestor[1] ? strlen(ancestor) : 0);

    return rest + (*rest == '/');
}

/* ---- mounts */

/* The place around a mount: what its target would show without it. */
static struct view_place around(const struct view_index *index, const char *target)
{
    auto_free char *parent = strdup(target);
    char *slash = parent ? strrchr(parent, '/') : NULL;
    struct view_place place = { VIEW_NOTHING, NULL, "" };

    if (slash && slash != parent) {
        *slash = '\0';
        place = view_find(index, parent);
    }
    place.below = "";
    return place;
}

static void check_covered(const struct view_index *index, const struct policy_mount *mount,
                          struct findings *findings)
{
    struct view_place outer = around(index, mount->target);

    if (outer.what != VIEW_IS_BIND || mount->kind != POLICY_BIND ||
        outer.mount->read_only != mount->read_only)
        return;
    auto_free char *same =
        path_join(outer.mount->source, rest_of(mount->target, outer.mount->target));
    if (!same)
        findings->failed = true;
    else if (strcmp(same, mount->source) == 0)
        findings_add(findings, SEVERITY_WARNING, mount->origin, "remove it",
                     "the mount of '%s' changes nothing: that of '%s' shows it already",
                     mount->source, outer.mount->source);
}

static void check_again(const struct policy_mount *mount, const struct check_host *host,
                        struct findings *findings)
{
    const char *workspace = host->workspace;

    if (!workspace || mount->kind != POLICY_BIND)
        return;
    if (path_is_within(workspace, mount->source))
        findings_add(findings, SEVERITY_WARNING, mount->origin,
                     "mount what is needed of it, beside the workspace",
                     "the mount of '%s' shows the whole workspace once more, where no rule "
                     "protects its files",
                     mount->source);
    else if (path_is_within(mount->source, workspace))
        findings_add(findings, SEVERITY_WARNING, mount->origin, "remove it",
                     "the mount of '%s' shows a part of the workspace once more, where no rule "
                     "protects its files",
                     mount->source);
}

static void check_mount(const struct view_index *index, const struct policy_mount *mount,
                        const char *view, const struct check_host *host, struct findings *findings)
{
    struct view_place place = view_find(index, mount->target);
    struct view_place outer = around(index, mount->target);
    const struct policy_mount *block = place.what == VIEW_IS_BLOCK   ? place.mount
                                       : outer.what == VIEW_IS_BLOCK ? outer.mount
                                                                     : NULL;

    if (block) {
        findings_add(findings, SEVERITY_ERROR, mount->origin, "remove one of the two",
                     "'%s' is mounted, but blocked_paths hides '%s' (line %u)", mount->target,
                     block->target, block->origin.line);
        return;
    }
    if (view && strcmp(mount->target, view) == 0) {
        findings_add(findings, SEVERITY_ERROR, mount->origin, "choose another target",
                     "the mount target '%s' is the workspace's own place", mount->target);
        return;
    }
    check_covered(index, mount, findings);
    check_again(mount, host, findings);
}

/* ---- blocks */

/* Where the box shows the host's `path`, if that is elsewhere; the caller's to free. */
static char *shown_elsewhere(const coop_policy *policy, const char *view,
                             const struct check_host *host, const char *path)
{
    if (host->workspace && view && strcmp(host->workspace, view) != 0 &&
        path_is_within(path, host->workspace))
        return strdup(rest_of(path, host->workspace));
    for (size_t i = 0; i < policy->n_mounts; i++) {
        const struct policy_mount *mount = &policy->mounts[i];

        if (mount->kind == POLICY_BIND && strcmp(mount->source, mount->target) != 0 &&
            path_is_within(path, mount->source))
            return path_join(mount->target, rest_of(path, mount->source));
    }
    return NULL;
}

static void check_block(const coop_policy *policy, const struct view_index *rest,
                        const struct policy_mount *block, const char *view,
                        const struct check_host *host, struct findings *findings)
{
    if (*block->target != '/')
        return;
    auto_free char *place = shown_elsewhere(policy, view, host, block->target);
    auto_free char *fix = NULL;
    struct view_place found = view_find(rest, block->target);

    if (place && (found.what == VIEW_NOTHING || found.what == VIEW_IS_OWN)) {
        if (asprintf(&fix, "write '%s'", *place ? place : ".") < 0)
            fix = NULL;
        findings_add(findings, SEVERITY_ERROR, block->origin, fix,
                     "blocked_paths '%s' hides nothing: the box shows it under another path",
                     block->target);
    } else if (found.what == VIEW_NOTHING) {
        findings_add(findings, SEVERITY_INFO, block->origin, NULL,
                     "blocked_paths '%s' need not be there: the box does not show it",
                     block->target);
    }
}

static void check_blocks(const coop_policy *policy, const char *view, const struct check_host *host,
                         struct findings *findings)
{
    coop_policy without = *policy; /* borrows: only its mounts are looked at */
    auto_free struct policy_mount *mounts = calloc(policy->n_mounts + 1, sizeof *mounts);

    if (!mounts) {
        findings->failed = true;
        return;
    }
    without.mounts = mounts;
    without.n_mounts = 0;
    for (size_t i = 0; i < policy->n_mounts; i++)
        if (policy->mounts[i].kind != POLICY_BLOCK)
            mounts[without.n_mounts++] = policy->mounts[i];
    auto_view_index struct view_index *rest = view_index_new(&without, view);
    if (!rest) {
        findings->failed = true;
        return;
    }
    for (size_t i = 0; i < policy->n_mounts; i++)
        if (policy->mounts[i].kind == POLICY_BLOCK)
            check_block(policy, rest, &policy->mounts[i], view, host, findings);
}

static void check_blocked_twice(const struct view_index *index, struct findings *findings)
{
    for (size_t i = 1; i < view_n_targets(index); i++) {
        const struct policy_mount *one = view_target_mount(index, i - 1);
        const struct policy_mount *two = view_target_mount(index, i);

        if (one && two && one->kind == POLICY_BLOCK && two->kind == POLICY_BLOCK &&
            strcmp(view_target(index, i - 1), view_target(index, i)) == 0)
            findings_add(findings, SEVERITY_WARNING, two->origin, "remove one of them",
                         "blocked_paths names '%s' twice, first on line %u", two->target,
                         one->origin.line);
    }
}

void check_mounts(const coop_policy *policy, const struct check_host *host,
                  struct findings *findings)
{
    const char *view = view_of_workspace(policy, host->workspace);
    auto_view_index struct view_index *index = view_index_new(policy, view);

    if (!index) {
        findings->failed = true;
        return;
    }
    for (size_t i = 0; i < policy->n_mounts; i++)
        if (policy->mounts[i].kind != POLICY_BLOCK)
            check_mount(index, &policy->mounts[i], view, host, findings);
    check_blocked_twice(index, findings);
    check_blocks(policy, view, host, findings);
}
