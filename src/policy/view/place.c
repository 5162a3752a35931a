#include "place.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "policy/path/path.h"
#include "policy/view/defaults.h"

struct entry {
    const char *target;
    const struct policy_mount *mount; /* NULL: the workspace */
    size_t order;
    char *owned; /* the target, where it is not the policy's */
};

struct view_index {
    const coop_policy *policy;
    struct entry *entries; /* sorted */
    size_t n;
    size_t n_view; /* length of the workspace's place, of which only a part may be shown */
};

/* Of a workspace that nobody knows the place of: no other target can lie in it. */
#define UNKNOWN "/\001workspace"

const char *view_of_workspace(const coop_policy *policy, const char *workspace)
{
    if (policy->root)
        return "/";
    if (!policy->same_path)
        return VIEW_WORKSPACE;
    if (policy->workspace && *policy->workspace == '/')
        return policy->workspace;
    return workspace;
}

enum view_what view_default(const coop_policy *policy, const char *path)
{
    const struct view_default *row = view_default_at(view_rows(policy), path, policy->network);

    if (row)
        switch (row->origin) {
        case VIEW_HOST:
            return VIEW_IS_TOOLS;
        case VIEW_FILE:
        case VIEW_SYMLINK:
        case VIEW_DEVICE:
        case VIEW_POOL:
        case VIEW_PROCESSES:
        case VIEW_TERMINALS:
            return VIEW_IS_OWN;
        case VIEW_DIRECTORY:
        case VIEW_HIDDEN:
            break;
        }
    else if (policy->root && !policy->restrict_to && !view_default_takes(view_rows(policy), path))
        return VIEW_IS_WORKSPACE;
    return VIEW_NOTHING;
}

bool view_own_is_writable(const coop_policy *policy, const char *path)
{
    const struct view_default *row = view_default_at(view_rows(policy), path, COOP_NETWORK_HOST);

    return row && row->is_writable;
}

/* ---- life */

static bool hides(const struct entry *entry)
{
    return entry->mount && entry->mount->kind == POLICY_BLOCK;
}

/* Of equal targets the one that counts comes last. */
static int compare(const void *a, const void *b)
{
    const struct entry *x = a;
    const struct entry *y = b;
    int order = strcmp(x->target, y->target);

    if (order)
        return order;
    if (hides(x) != hides(y))
        return hides(x) ? 1 : -1;
    return x->order < y->order ? -1 : 1;
}

void view_index_free(struct view_index *index)
{
    if (!index)
        return;
    for (size_t i = 0; i < index->n; i++)
        free(index->entries[i].owned);
    free(index->entries);
    free(index);
}

void view_index_free_at_exit(struct view_index **index)
{
    view_index_free(*index);
}

static bool add(struct view_index *index, const struct policy_mount *mount, const char *view)
{
    const char *restricted = index->policy->restrict_to;
    struct entry entry = { mount ? mount->target : view, mount, index->n, NULL };
    const char *below = !mount                  ? restricted ? restricted + 1 : NULL
                        : *mount->target != '/' ? mount->target
                                                : NULL;

    if (below) {
        entry.owned = path_join(view, below);
        if (!entry.owned)
            return false;
        entry.target = entry.owned;
    }
    index->entries[index->n++] = entry;
    return true;
}

struct view_index *view_index_new(const coop_policy *policy, const char *workspace_view)
{
    struct view_index *index = calloc(1, sizeof *index);
    bool is_complete = index != NULL;
    const char *view = workspace_view ? workspace_view : UNKNOWN;

    if (!index)
        return NULL;
    index->policy = policy;
    index->n_view = view[1] ? strlen(view) : 0;
    index->entries = calloc(policy->n_mounts + 1, sizeof *index->entries);
    if (!index->entries)
        is_complete = false;
    if (is_complete)
        is_complete = add(index, NULL, view);
    for (size_t i = 0; is_complete && i < policy->n_mounts; i++)
        is_complete = add(index, &policy->mounts[i], view);
    if (!is_complete) {
        view_index_free(index);
        return NULL;
    }
    qsort(index->entries, index->n, sizeof *index->entries, compare);
    return index;
}

/* ---- looking up */

/* The last entry whose target is the first `n` bytes of `path`; NULL: there is none. */
static const struct entry *find(const struct view_index *index, const char *path, size_t n)
{
    size_t low = 0;
    size_t high = index->n;

    while (low < high) { /* the first entry behind all that are equal */
        size_t middle = low + (high - low) / 2;
        const char *target = index->entries[middle].target;
        int order = strncmp(target, path, n);

        if (order < 0 || (order == 0 && target[n] == '\0'))
            low = middle + 1;
        else
            high = middle;
    }
    if (low == 0)
        return NULL;
    const struct entry *entry = &index->entries[low - 1];
    return strncmp(entry->target, path, n) == 0 && entry->target[n] == '\0' ? entry : NULL;
}

static enum view_what what_of(const struct entry *entry)
{
    if (!entry->mount)
        return VIEW_IS_WORKSPACE;
    switch (entry->mount->kind) {
    case POLICY_BIND:
        return VIEW_IS_BIND;
    case POLICY_TMPFS:
        return VIEW_IS_TMPFS;
    case POLICY_BLOCK:
        break;
    }
    return VIEW_IS_BLOCK;
}

struct view_place view_find(const struct view_index *index, const char *path)
{
    for (size_t n = strlen(path); n > 0; n--) { /* a root is the last to be asked: view_default() */
        if (path[n] != '\0' && path[n] != '/')
            continue;
        const struct entry *entry = find(index, path, n);
        if (entry) {
            size_t at = entry->mount ? n : index->n_view;

            return (struct view_place){ what_of(entry), entry->mount,
                                        path + at + (path[at] == '/') };
        }
    }
    enum view_what what = view_default(index->policy, path);
    return (struct view_place){ what, NULL, path + (what == VIEW_IS_WORKSPACE) };
}

bool view_leads(const struct view_index *index, const char *path)
{
    size_t n = path[1] ? strlen(path) : 0;

    for (size_t i = 0; i < index->n; i++) {
        const char *target = index->entries[i].target;

        if (!hides(&index->entries[i]) && strncmp(target, path, n) == 0 && target[n] == '/')
            return true;
    }
    return view_default_holds(view_rows(index->policy), path);
}

size_t view_n_targets(const struct view_index *index)
{
    return index->n;
}

const char *view_target(const struct view_index *index, size_t i)
{
    return index->entries[i].target;
}

const struct policy_mount *view_target_mount(const struct view_index *index, size_t i)
{
    return index->entries[i].mount;
}
