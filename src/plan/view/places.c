/*
 * places.c - the directories that the box makes to hold others are watched as well
 *
 * "/etc" of a box holds what programs cannot do without, and nothing else of the host's. So where hidden
 * directories are watched, these are nodes of the same file system: it finds in them the names that the
 * skeleton has there, on which is mounted what the skeleton holds, and tells of every other.
 *
 * Not so /dev, which has few names and many mounts.
 */
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "plan/view/private.h"
#include "policy/view/defaults.h"
#include "protect/quiet.h"

struct shown_places {
    struct plan *plan;
    int64_t now_ns;
    bool is_full;
};

/* The number of a node that is found by its path, 0: there is none. */
static uint32_t find(const struct plan_watchfs *watchfs, const char *path, size_t length)
{
    for (size_t i = 0; i < watchfs->n; i++)
        if (strncmp(watchfs->nodes[i].path, path, length) == 0 && !watchfs->nodes[i].path[length])
            return (uint32_t)i + 1;
    return 0;
}

static uint32_t find_parent(const struct plan_watchfs *watchfs, const char *path)
{
    const char *slash = strrchr(path, '/');
    uint32_t number = slash ? find(watchfs, path, (size_t)(slash - path)) : 0;

    return number && watchfs->nodes[number - 1].kind == WATCHFS_DIRECTORY ? number : 0;
}

/* At the top there are directories only: the root itself is not watched. */
static void add(struct shown_places *places, struct watchfs_node node)
{
    struct plan_watchfs *watchfs = places->plan->watchfs;
    bool is_at_top = !strchr(node.path, '/');

    node.parent = find_parent(watchfs, node.path);
    if (find(watchfs, node.path, strlen(node.path)) ||
        (!node.parent && !(is_at_top && node.kind == WATCHFS_DIRECTORY)))
        return;
    node.mtime_ns = places->now_ns;
    if (!plan_watchfs_add(places->plan, &node))
        places->is_full = true;
    else if (node.parent && node.kind != WATCHFS_NOTHING)
        watchfs->nodes[node.parent - 1].size += WATCHFS_ENTRY;
}

static bool is_mounted_on(const struct view *view, const char *path)
{
    for (size_t i = 0; i < view->n; i++)
        if (view->mounts[i].kind != STEP_HIDE && view->mounts[i].kind != STEP_MAKE_LINK &&
            strcmp(view->mounts[i].target + 1, path) == 0)
            return true;
    return false;
}

static void add_made(struct shown_places *places, const struct view *view, const struct step *step)
{
    struct watchfs_node node = { .path = step->target };

    if (step->kind == STEP_MAKE_LINK) {
        node.kind = WATCHFS_LINK;
        node.mode = S_IFLNK | 0777;
        node.link = step->source;
        node.size = strlen(step->source);
    } else if (step->kind == STEP_MAKE_FILE) {
        node.kind = WATCHFS_MOUNT_POINT;
        node.mode = S_IFREG | 0644;
        node.is_there = !is_mounted_on(view, step->target);
    } else {
        node.kind = is_mounted_on(view, step->target) ? WATCHFS_MOUNT_POINT : WATCHFS_DIRECTORY;
        node.mode = S_IFDIR | 0755;
        node.size = WATCHFS_EMPTY;
    }
    if (strcmp(step->target, "dev") != 0)
        add(places, node);
}

/* What is looked for at each start, and what the view would have if the host had it. */
static void add_missing(struct shown_places *places)
{
    for (const char *const *path = quiet_paths; *path; path++)
        add(places, (struct watchfs_node){ .path = *path + 1, .kind = WATCHFS_NOTHING });
    for (const struct view_default *row = view_rows(places->plan->policy); row->path; row++)
        add(places, (struct watchfs_node){ .path = row->path + 1, .kind = WATCHFS_NOTHING });
}

void view_add_places(struct view *view)
{
    struct plan *plan = view->plan;
    struct shown_places places = { .plan = plan };
    struct timespec now = { 0 };

    if (plan->is_root_view || !plan->watchfs)
        return;
    const size_t n = plan->watchfs->n;
    const size_t text_length = plan->watchfs->text_length;
    (void)clock_gettime(CLOCK_REALTIME, &now);
    places.now_ns = (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
    for (size_t i = 0; i < plan->n_steps; i++)
        if (view_is_skeleton(&plan->steps[i]))
            add_made(&places, view, &plan->steps[i]);
    add_missing(&places);
    plan->watchfs->has_places = !places.is_full;
    if (places.is_full) { /* a name that is left out would be missing in the box: so none is in */
        plan->watchfs->n = n;
        plan->watchfs->text_length = text_length;
    }
}
