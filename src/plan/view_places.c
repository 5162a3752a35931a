/*
 * view_places.c - the directories that the box makes to hold others are watched as well
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

#include "plan/view_private.h"
#include "policy/quiet.h"
#include "policy/view_defaults.h"

struct places {
    struct plan *plan;
    int64_t now_ns;
    bool is_full;
};

/* The number of a node that is found by its path, 0: there is none. */
static uint32_t find(const struct plan_traps *traps, const char *path, size_t length)
{
    for (size_t i = 0; i < traps->n; i++)
        if (strncmp(traps->nodes[i].path, path, length) == 0 && !traps->nodes[i].path[length])
            return (uint32_t)i + 1;
    return 0;
}

static uint32_t find_parent(const struct plan_traps *traps, const char *path)
{
    const char *slash = strrchr(path, '/');
    uint32_t number = slash ? find(traps, path, (size_t)(slash - path)) : 0;

    return number && traps->nodes[number - 1].kind == TRAP_DIRECTORY ? number : 0;
}

/* At the top there are directories only: the root itself is not watched. */
static void add(struct places *places, struct trap_node node)
{
    struct plan_traps *traps = places->plan->traps;
    bool is_at_top = !strchr(node.path, '/');

    node.parent = find_parent(traps, node.path);
    if (find(traps, node.path, strlen(node.path)) ||
        (!node.parent && !(is_at_top && node.kind == TRAP_DIRECTORY)))
        return;
    node.mtime_ns = places->now_ns;
    if (!plan_trap_add(places->plan, &node))
        places->is_full = true;
    else if (node.parent && node.kind != TRAP_NOTHING)
        traps->nodes[node.parent - 1].size += TRAP_ENTRY;
}

static bool is_mounted_on(const struct view *view, const char *path)
{
    for (size_t i = 0; i < view->n; i++)
        if (view->mounts[i].kind != VIEW_HIDE && view->mounts[i].kind != VIEW_LINK &&
            strcmp(view->mounts[i].target + 1, path) == 0)
            return true;
    return false;
}

static void add_made(struct places *places, const struct view *view, const struct step *step)
{
    struct trap_node node = { .path = step->target };

    if (step->kind == STEP_MAKE_LINK) {
        node.kind = TRAP_LINK;
        node.mode = S_IFLNK | 0777;
        node.link = step->source;
        node.size = strlen(step->source);
    } else if (step->kind == STEP_MAKE_FILE) {
        node.kind = TRAP_PLACE;
        node.mode = S_IFREG | 0644;
        node.is_there = !is_mounted_on(view, step->target);
    } else {
        node.kind = is_mounted_on(view, step->target) ? TRAP_PLACE : TRAP_DIRECTORY;
        node.mode = S_IFDIR | 0755;
        node.size = TRAP_EMPTY;
    }
    if (strcmp(step->target, "dev") != 0)
        add(places, node);
}

/* What is looked for at each start, and what the view would have if the host had it. */
static void add_missing(struct places *places)
{
    for (const char *const *path = quiet_paths; *path; path++)
        add(places, (struct trap_node){ .path = *path + 1, .kind = TRAP_NOTHING });
    for (const struct view_default *row = view_defaults; row->path; row++)
        add(places, (struct trap_node){ .path = row->path + 1, .kind = TRAP_NOTHING });
}

void view_add_places(struct view *view)
{
    struct plan *plan = view->plan;
    struct places places = { .plan = plan };
    struct timespec now = { 0 };

    if (plan->is_root_view || !plan->traps)
        return;
    const size_t n = plan->traps->n;
    const size_t text_length = plan->traps->text_length;
    (void)clock_gettime(CLOCK_REALTIME, &now);
    places.now_ns = (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
    for (size_t i = 0; i < plan->n_steps; i++)
        if (view_is_skeleton(&plan->steps[i]))
            add_made(&places, view, &plan->steps[i]);
    add_missing(&places);
    plan->traps->has_places = !places.is_full;
    if (places.is_full) { /* a name that is left out would be missing in the box: so none is in */
        plan->traps->n = n;
        plan->traps->text_length = text_length;
    }
}
