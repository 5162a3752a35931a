/*
 * mounts.c - does the child see or write a path that the parent does not?
 */
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "policy/narrow/narrow.h"
#include "policy/narrow/private.h"
#include "policy/path/path.h"
#include "policy/view/place.h"

static uint64_t tmpfs_size(const coop_policy *policy, const struct policy_mount *mount)
{
    return mount->size ? mount->size : policy->limits[COOP_LIMIT_TMP_SIZE];
}

static bool overlaps(const char *a, const char *b)
{
    return path_is_within(a, b) || path_is_within(b, a);
}

bool policy_could_replace(const coop_policy *policy, const char *source)
{
    const char *workspace = policy->root ? policy->root : policy->workspace;

    if (!workspace || *workspace != '/' || *source != '/' || overlaps(source, workspace))
        return true;
    for (size_t i = 0; i < policy->n_mounts; i++) {
        const struct policy_mount *mount = &policy->mounts[i];

        if (mount->kind == POLICY_BIND && (!mount->read_only || mount->is_replaceable) &&
            overlaps(source, mount->source))
            return true;
    }
    return false;
}

static bool excess(const struct narrow_pair *pair, const char *path, const char *what)
{
    narrow_quote(pair->why, path);
    buffer_append_char(pair->why, ' ');
    buffer_append_string(pair->why, what);
    return false;
}

static bool bind_within(const struct narrow_pair *pair, const char *path,
                        const struct view_place *child, const struct view_place *parent)
{
    auto_free char *from = path_join(child->mount->source, child->below);
    auto_free char *parents =
        parent->what == VIEW_IS_BIND ? path_join(parent->mount->source, parent->below) : NULL;

    if (!from || (parent->what == VIEW_IS_BIND && !parents)) {
        pair->why->failed = true;
        return false;
    }
    if (parent->what != VIEW_IS_BIND)
        return excess(pair, path, "is a mount that the parent does not have");
    if (strcmp(from, parents) != 0)
        return excess(pair, path, "stands for another file or directory than in the parent");
    if (parent->mount->read_only && !child->mount->read_only)
        return excess(pair, path, "can be written, in the parent only read");
    bool is_same = strcmp(child->mount->target, parent->mount->target) == 0;
    if (!is_same && (!parent->mount->read_only || policy_could_replace(pair->parent, from)))
        return excess(pair, path,
                      "is a part of a mount of the parent's, in which a link could take its place");
    return true;
}

static bool tmpfs_within(const struct narrow_pair *pair, const char *path,
                         const struct view_place *child, const struct view_place *parent)
{
    if (child->mount->read_only)
        return true; /* nothing can be in it */
    if (parent->what != VIEW_IS_TMPFS || strcmp(parent->mount->target, child->mount->target) != 0)
        return excess(pair, path, "is a file system in memory that the parent does not have");
    if (parent->mount->read_only)
        return excess(pair, path, "can be written, in the parent only read");
    if (tmpfs_size(pair->child, child->mount) > tmpfs_size(pair->parent, parent->mount))
        return excess(pair, path, "is larger than in the parent");
    return true;
}

static bool place_within(const struct narrow_pair *pair, const char *path,
                         const struct view_place *child, const struct view_place *parent)
{
    const char *hidden = "is hidden in the parent";

    switch (child->what) {
    case VIEW_NOTHING:
    case VIEW_IS_BLOCK:
    case VIEW_IS_OWN: /* made for this box: nothing of the host's is in it */
        return true;
    case VIEW_IS_BIND:
        return bind_within(pair, path, child, parent);
    case VIEW_IS_TMPFS:
        return tmpfs_within(pair, path, child, parent);
    case VIEW_IS_WORKSPACE:
    case VIEW_IS_TOOLS:
        break;
    }
    if (child->what == parent->what)
        return true;
    if (parent->what == VIEW_IS_BLOCK)
        return excess(pair, path, hidden);
    return excess(pair, path,
                  child->what == VIEW_IS_WORKSPACE
                      ? "is the workspace's own, in the parent something else is mounted there"
                      : "is the host's own, in the parent something else is mounted there");
}

/* Every pair of places that some path has, it has at the longer of their two targets. */
static bool targets_within(const struct narrow_pair *pair, const struct view_index *of,
                           const struct view_index *child, const struct view_index *parent,
                           bool is_view_known)
{
    for (size_t i = 0; i < view_n_targets(of); i++) {
        const char *target = view_target(of, i);
        struct view_place childs = view_find(child, target);
        struct view_place parents = view_find(parent, target);

        /* It may lie in the workspace, wherever that is. */
        if (!is_view_known && parents.mount && !childs.mount && childs.what != VIEW_IS_WORKSPACE)
            return excess(pair, target,
                          "has a mount or a block in the parent, and may show the "
                          "workspace without it");
        if (!place_within(pair, target, &childs, &parents))
            return false;
    }
    return true;
}

bool narrow_mounts_within(const struct narrow_pair *pair)
{
    const char *view = view_of_workspace(pair->child, NULL);
    auto_view_index struct view_index *child = view_index_new(pair->child, view);
    auto_view_index struct view_index *parent =
        view_index_new(pair->parent, view_of_workspace(pair->parent, NULL));

    if (!child || !parent) {
        pair->why->failed = true;
        return false;
    }
    return targets_within(pair, child, child, parent, view != NULL) &&
           targets_within(pair, parent, child, parent, view != NULL);
}
