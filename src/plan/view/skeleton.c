/*
 * skeleton.c - what is made for a box rather than mounted, and the defaults that every box has
 *
 * The skeleton is a directory in the box's own memory that becomes its root. Beside it lie the private
 * directories; together they have one budget.
 */
#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "net/inside/gate_inside.h"
#include "plan/view/private.h"
#include "policy/path/path.h"
#include "policy/view/defaults.h"

void view_make_directory(struct plan *plan, const char *target, mode_t mode)
{
    struct step *step = plan_add(plan, STEP_MAKE_DIRECTORY, PHASE_BOX);

    step->target = target;
    step->mode = mode;
}

void view_make_link(struct plan *plan, const char *target, const char *text)
{
    struct step *step = plan_add(plan, STEP_MAKE_LINK, PHASE_BOX);

    step->target = target;
    step->source = text;
}

void view_make_file(struct plan *plan, const char *target, const char *data)
{
    struct step *step = plan_add(plan, STEP_MAKE_FILE, PHASE_BOX);

    step->target = target;
    step->mode = 0644;
    step->source = data;
    step->length = data ? strlen(data) : 0;
}

bool view_is_skeleton(const struct step *step)
{
    return (step->kind == STEP_MAKE_DIRECTORY || step->kind == STEP_MAKE_LINK ||
            step->kind == STEP_MAKE_FILE) &&
           strncmp(step->target, "../", 3) != 0;
}

/* ---- files whose content is made up: the host's tell about its users */

static const char *user_name(const struct plan *plan)
{
    const char *name = getenv("USER");
    size_t n = name ? strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_-") : 0;

    if (plan->inside_uid == 0)
        return "root";
    return n > 0 && n < 32 && name[n] == '\0' && strcmp(name, "root") != 0 ? name : "user";
}

static const char *passwd(struct plan *plan)
{
    const char *home = plan->workspace_view;

    if (plan->inside_uid == 0)
        return plan_text(plan,
                         "root:x:0:0:root:%s:/bin/sh\n"
                         "nobody:x:65534:65534:nobody:/:/bin/false\n",
                         home);
    return plan_text(plan,
                     "root:x:0:0:root:/:/bin/sh\n"
                     "nobody:x:65534:65534:nobody:/:/bin/false\n"
                     "%s:x:%u:%u::%s:/bin/sh\n",
                     user_name(plan), plan->inside_uid, plan->inside_gid, home);
}

static const char *group(struct plan *plan)
{
    if (plan->inside_uid == 0 || plan->inside_gid == 0)
        return "root:x:0:\nnogroup:x:65534:\n";
    return plan_text(plan, "root:x:0:\nnogroup:x:65534:\n%s:x:%u:\n", user_name(plan),
                     plan->inside_gid);
}

static const char *name_services(struct plan *plan)
{
    (void)plan;
    return "passwd: files\ngroup: files\nhosts: files dns\n";
}

static const char *hosts(struct plan *plan)
{
    return plan_text(plan, "127.0.0.1 localhost %s\n::1 localhost ip6-localhost\n",
                     plan->policy->hostname);
}

static const char *resolver(struct plan *plan)
{
    return plan_network_resolver(plan);
}

static const struct {
    const char *path;
    const char *(*text)(struct plan *plan);
} contents[] = {
    { "/etc/passwd", passwd },
    { "/etc/group", group },
    { "/etc/nsswitch.conf", name_services },
    { "/etc/hosts", hosts },
    { "/etc/resolv.conf", resolver },
};

static void make_known_file(struct plan *plan, const char *path)
{
    for (size_t i = 0; i < COUNT(contents); i++)
        if (strcmp(contents[i].path, path) == 0) {
            view_make_file(plan, path + 1, contents[i].text(plan));
            return;
        }
    assert(!"a row of view_defaults without a content here");
}

/* ---- the rows of the table */

static bool is_at_or_below(const char *path, const char *directory)
{
    size_t n = strlen(directory);

    return strncmp(path, directory, n) == 0 && (!path[n] || path[n] == '/');
}

/* Somebody asked for the workspace, or for something of the host, to be there or above. */
static bool is_replaced(const struct plan *plan, const char *path)
{
    if (plan->shown.target && is_at_or_below(path, plan->shown.target))
        return true;
    for (size_t i = 0; i < plan->policy->n_mounts; i++) {
        const struct policy_mount *mount = &plan->policy->mounts[i];

        if (mount->kind == POLICY_BIND && is_at_or_below(path, mount->target))
            return true;
    }
    return false;
}

/* Mounted, or its link copied. What the host does not have is left out. */
static void add_host_entry(struct view *view, const struct view_default *row)
{
    const char *path = row->path;
    char text[1024];
    ssize_t n =
        readlink(path, text, sizeof text - 1); /* tells absent, link and other in one call */

    if (n < 0 && errno != EINVAL)
        return;
    if (n > 0) {
        text[n] = '\0';
        /* Links into what the view shows stay links; others are followed once, at the mount. */
        if (strncmp(text, "usr/", 4) == 0 || strncmp(text, "/usr/", 5) == 0 ||
            strncmp(text, "../usr/", 7) == 0) {
            view_make_link(view->plan, path + 1, plan_copy(view->plan, text));
            return;
        }
        if (access(path, F_OK) < 0)
            return;
    }
    struct view_mount *mount = view_add(view, STEP_BIND, path, path);
    mount->is_directory = row->is_directory;
    mount->flags = STEP_READ_ONLY;
    mount->by_seal = true;
}

static void add_device(struct view *view, const struct view_default *row)
{
    struct view_mount *mount = view_add(view, STEP_BIND, row->path, row->path);

    mount->flags = STEP_DEVICE;
    mount->dev = makedev(row->device[0], row->device[1]);
    mount->is_directory = false;
}

/* A link could not hold it: /var/tmp is then a directory, with nothing else in it. */
static bool holds_workspace(const struct plan *plan, const char *path)
{
    return (plan->workspace_view && path_is_within(plan->workspace_view, path)) ||
           (plan->shown.target && path_is_within(plan->shown.target, path)) ||
           (plan->git.target && path_is_within(plan->git.target, path));
}

void view_add_shared_defaults(struct view *view)
{
    struct plan *plan = view->plan;

    for (const struct view_default *row = view_rows(plan->policy); row->path; row++) {
        if (!view_default_is_shown(row, plan->policy->network))
            continue;
        switch (row->origin) {
        case VIEW_DIRECTORY:
            view_make_directory(plan, row->path + 1, 0755);
            break;
        case VIEW_FILE:
            make_known_file(plan, row->path);
            break;
        case VIEW_SYMLINK:
            if (!holds_workspace(plan, row->path))
                view_make_link(plan, row->path + 1, row->text);
            break;
        case VIEW_HOST:
            if (!is_replaced(plan, row->path))
                add_host_entry(view, row);
            break;
        case VIEW_DEVICE:
            add_device(view, row);
            break;
        case VIEW_POOL:
        case VIEW_PROCESSES:
        case VIEW_TERMINALS:
        case VIEW_HIDDEN:
            break; /* each box's own */
        }
    }
}

/* All boxes of a sandbox may have one /tmp. */
static void add_common_tmp(struct view *view, const char *path)
{
    struct view_mount *tmp = view_add(view, STEP_BIND, "the /tmp of all boxes", path);

    tmp->flags = STEP_TREE_FD;
    tmp->fd = *view->tmp_fd;
}

void view_add_own_defaults(struct view *view)
{
    for (const struct view_default *row = view_rows(view->plan->policy); row->path; row++) {
        if (row->origin == VIEW_POOL && is_replaced(view->plan, row->path))
            continue;
        if (row->origin == VIEW_POOL && strcmp(row->path, "/tmp") == 0)
            view->plan->has_own_tmp = true;
        if (row->origin == VIEW_PROCESSES)
            view_add(view, STEP_PROC, NULL, row->path)->flags = STEP_READ_ONLY;
        else if (row->origin == VIEW_TERMINALS)
            view_add(view, STEP_TERMINALS, NULL, row->path);
        else if (row->origin == VIEW_POOL && view->tmp_fd && strcmp(row->path, "/tmp") == 0)
            add_common_tmp(view, row->path);
        else if (row->origin == VIEW_POOL)
            view_add(view, STEP_PRIVATE, row->text, row->path);
        else if (row->origin == VIEW_HIDDEN && (access(row->path, F_OK) == 0 || errno != ENOENT))
            view_add(view, STEP_HIDE, NULL, row->path);
    }
}

bool view_has_run(const struct plan *plan)
{
    const struct view_default *row =
        view_default_at(view_rows(plan->policy), VIEW_RUN, plan->policy->network);

    return row && row->origin == VIEW_POOL;
}

void view_add_pool(struct plan *plan)
{
    struct step *pool = plan_add(plan, STEP_POOL, PHASE_BOX);
    uint64_t size = plan->policy->limits[COOP_LIMIT_TMP_SIZE];

    pool->value = size;
    /* A file of one page each, and never so few that an ordinary build runs out. */
    pool->value2 = size == COOP_LIMIT_NONE ? 0 : size / 4096 < 16384 ? 16384 : size / 4096;
    pool->value2 += pool->value2 ? plan->n_mask_inodes : 0;
    for (const struct view_default *row = view_rows(plan->policy); row->path; row++)
        if (row->origin == VIEW_POOL)
            view_make_directory(plan, row->text, row->mode);
    if (view_has_run(plan))
        view_make_directory(plan, "../u/shm", 01777);
    if (plan->watchfs) {
        view_make_directory(plan, "../" WATCHFS_LOWER, 0755);
        view_make_directory(plan, "../" WATCHFS_WORK, 0700);
    }
    if (!view_has_run(plan))
        plan->git_excludes = NULL;
    if (plan->git_excludes && !plan->is_root_view)
        view_make_file(plan, "../u/coop-git-exclude", plan->git_excludes);
}
