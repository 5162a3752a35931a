/*
 * view.c - what a command sees, as mounts
 *
 * What every box has by itself (policy/view/defaults.h), the workspace or the part of it that is
 * shown, and what the policy adds. The most specific target wins, and a policy's mount replaces the
 * default one of the same target.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "plan/enforce.h"
#include "plan/protect.h"
#include "plan/root_view.h"
#include "plan/view/private.h"
#include "plan/workspace_check.h"
#include "policy/path/path.h"
#include "policy/view/defaults.h"

struct view_mount *view_add(struct view *view, enum step_kind kind, const char *source,
                            const char *target)
{
    static struct view_mount spill;

    if (view->n == view->capacity) {
        size_t capacity = view->capacity ? 2 * view->capacity : 64;
        struct view_mount *grown = reallocarray(view->mounts, capacity, sizeof *grown);

        if (!grown) {
            view->plan->failed = true;
            return &spill;
        }
        view->mounts = grown;
        view->capacity = capacity;
    }
    struct view_mount *mount = &view->mounts[view->n];
    *mount = (struct view_mount){ .kind = kind,
                                  .source = source,
                                  .target = target,
                                  .order = (unsigned)view->n,
                                  .is_directory = true,
                                  .fd = -1 };
    view->n++;
    return mount;
}

/* The object found now is the one that must be mounted. */
static int note_source(struct view_mount *mount, int fd, coop_error **err)
{
    struct stat st;

    if (fstat(fd, &st) < 0)
        return fail(err, errno, "look at the mount source '%s'", mount->source);
    mount->fd = fd;
    mount->dev = st.st_dev;
    mount->ino = st.st_ino;
    mount->is_directory = S_ISDIR(st.st_mode);
    mount->flags |= STEP_RECHECK;
    return 0;
}

/* A mount that is itself what an allowed command executes: it takes the place of the entry's. */
static bool is_enforced(const struct plan *plan, const char *target)
{
    for (size_t i = 0; plan->enforce && i < plan->enforce->n; i++)
        if (plan->enforce->entries[i].is_mount &&
            strcmp(plan->enforce->entries[i].target, target) == 0)
            return true;
    return false;
}

static int fail_run(coop_error **err, const char *what)
{
    return fail_kind(
        err, COOP_ERROR_BAD_POLICY, EBUSY,
        "the %s '" VIEW_RUN "' is the box's own place: choose one below it, or another", what);
}

/* It is this very object that may be connected to, whatever names it has. */
static int grant_socket(struct view_mount *mount, coop_error **err)
{
    struct stat st;

    if (fstat(mount->fd, &st) < 0)
        return fail(err, errno, "look at the socket '%s'", mount->source);
    if (!S_ISSOCK(st.st_mode))
        return fail_kind(err, COOP_ERROR_BAD_POLICY, ENOTSOCK, "'%s' is no unix socket",
                         mount->source);
    mount->flags |= STEP_SOCKET;
    return 0;
}

static int add_policy_binds(struct view *view, coop_error **err)
{
    const coop_policy *policy = view->plan->policy;

    for (size_t i = 0; i < policy->n_mounts; i++) {
        const struct policy_mount *from = &policy->mounts[i];

        if (from->kind != POLICY_BLOCK && (strcmp(from->target, view->plan->workspace_view) == 0 ||
                                           strcmp(from->target, view->plan->shown.target) == 0))
            return fail_kind(err, COOP_ERROR_BAD_POLICY, EEXIST,
                             "the mount target '%s' is the workspace's own place", from->target);
        if (from->kind != POLICY_BIND)
            continue;
        if (strcmp(from->target, VIEW_RUN) == 0)
            return fail_run(err, "mount target");
        struct view_mount *mount = view_add(view, STEP_BIND, from->source, from->target);
        int fd = plan_source(view->plan, i, err);
        int r = fd < 0 ? fd : note_source(mount, fd, err);
        if (r == 0 && from->is_socket)
            r = grant_socket(mount, err);
        if (r < 0)
            return r;
        if (from->read_only)
            mount->flags |= STEP_READ_ONLY;
        if (is_enforced(view->plan, from->target))
            mount->flags |= STEP_PROGRAMS;
    }
    return 0;
}

static const char *in_workspace(struct plan *plan, const char *path)
{
    return plan_text(plan, "%s/%s", plan->workspace_view[1] ? plan->workspace_view : "", path);
}

static void add_policy_own(struct view *view)
{
    const coop_policy *policy = view->plan->policy;

    for (size_t i = 0; i < policy->n_mounts; i++) {
        const struct policy_mount *from = &policy->mounts[i];
        struct view_mount *mount;

        if (from->kind == POLICY_TMPFS) {
            mount = view_add(view, STEP_TMPFS, NULL, from->target);
            mount->size = from->size ? from->size : policy->limits[COOP_LIMIT_TMP_SIZE];
            mount->flags = from->read_only ? STEP_READ_ONLY : 0;
        } else if (from->kind == POLICY_BLOCK) {
            view_add(view, STEP_HIDE, NULL,
                     *from->target == '/' ? from->target : in_workspace(view->plan, from->target));
        }
    }
}

/* The workspace's git directory, and a link for what it says of the workspace's own place. */
static int add_git(struct view *view, coop_error **err)
{
    const struct plan_git *git = &view->plan->git;
    bool is_free = git->link != NULL;

    if (git->target) {
        struct view_mount *mount = view_add(view, STEP_BIND, git->source, git->target);
        int r = note_source(mount, git->fd, err);

        if (r < 0)
            return r;
        if (view->plan->policy->read_only)
            mount->flags |= STEP_READ_ONLY;
    }
    for (size_t i = 0; is_free && i < view->n; i++)
        is_free = !path_is_within(view->mounts[i].target, git->link);
    for (size_t i = 0; is_free && i < view->plan->policy->n_mounts; i++)
        is_free = !path_is_within(view->plan->policy->mounts[i].target, git->link);
    if (is_free)
        view_add(view, STEP_MAKE_LINK, view->plan->workspace_view, git->link);
    return 0;
}

bool view_has_name(const struct view *view, size_t n_mounts, const char *name)
{
    size_t n = strlen(name);

    for (const struct view_default *row = view_rows(view->plan->policy); row->path;
         row++) /* also what comes later */
        if (row->origin != VIEW_HOST && strncmp(row->path + 1, name, n) == 0 &&
            (row->path[1 + n] == '/' || !row->path[1 + n]))
            return true;
    for (size_t i = 0; i < n_mounts; i++) {
        const char *target = view->mounts[i].target + 1;

        if (strncmp(target, name, n) == 0 && (target[n] == '/' || !target[n]))
            return true;
    }
    for (size_t i = 0; i < view->plan->n_steps; i++) {
        const struct step *step = &view->plan->steps[i];

        if (view_is_skeleton(step) && strncmp(step->target, name, n) == 0 &&
            (step->target[n] == '/' || !step->target[n]))
            return true;
    }
    return false;
}

static int add_project(struct view *view, coop_error **err)
{
    struct plan *plan = view->plan;
    auto_free struct root_entry *entries = NULL;
    struct plan_strings taken = { 0 };
    size_t n = 0;
    int r = plan_root_view_list(plan, &entries, &n, err);

    view->n_of_box = view->n;
    for (size_t i = 0; r == 0 && i < n; i++) {
        if (view_has_name(view, view->n_of_box, entries[i].name))
            plan_strings_add(plan, &taken, entries[i].name, strlen(entries[i].name));
        else
            view_add(view, STEP_SHOW, NULL, plan_text(plan, "/%s", entries[i].name))->is_directory =
                entries[i].is_directory;
    }
    return r == 0 && taken.length > 0 ? workspace_refuse_names(plan->workspace, taken.text, err)
                                      : r;
}

static int add_workspace(struct view *view, coop_error **err)
{
    struct plan *plan = view->plan;

    if (plan->is_root_view)
        return add_project(view, err);
    if (strcmp(plan->shown.target, VIEW_RUN) == 0)
        return fail_run(err, "place of the workspace");
    struct view_mount *shown = view_add(view, STEP_BIND, plan->shown.source, plan->shown.target);
    if (plan->policy->read_only)
        shown->flags = STEP_READ_ONLY;
    return note_source(shown, plan->shown.fd, err);
}

/* Directories of programs that hold the allowed ones only, and what else may be code. */
static int add_enforced(struct view *view, coop_error **err)
{
    static const enum step_kind kinds[] = { [ENFORCE_DIRECTORY] = STEP_PRIVATE,
                                            [ENFORCE_LINK] = STEP_MAKE_LINK,
                                            [ENFORCE_FILE] = STEP_BIND,
                                            [ENFORCE_TREE] = STEP_BIND,
                                            [ENFORCE_PLAIN] = STEP_BIND };
    const struct plan_enforce *enforce = view->plan->enforce;
    int r = 0;

    for (size_t i = 0; enforce && i < enforce->n && r == 0; i++) {
        const struct enforce_entry *entry = &enforce->entries[i];
        const char *source = entry->source;

        if (entry->kind == ENFORCE_DIRECTORY) {
            source = plan_text(view->plan, "../x%zu", i);
            view_make_directory(view->plan, source, 0755);
        }
        struct view_mount *mount = view_add(view, kinds[entry->kind], source, entry->target);
        mount->is_directory = entry->kind != ENFORCE_FILE;
        mount->flags = STEP_READ_ONLY;
        if (entry->kind == ENFORCE_FILE || entry->kind == ENFORCE_TREE)
            mount->flags |= STEP_PROGRAMS;
        if (entry->is_mount) {
            int fd = plan_open_source(view->plan, source, err);

            r = fd < 0 ? fd : note_source(mount, fd, err);
        }
    }
    return r;
}

/* What depends on the policy alone. */
static int add_shared(struct view *view, coop_error **err)
{
    view_add_shared_defaults(view);
    int r = add_enforced(view, err);
    if (r == 0)
        r = add_workspace(view, err);
    if (r == 0)
        r = add_git(view, err);
    return r < 0 ? r : add_policy_binds(view, err);
}

static int build_whole(struct view *view, const struct plan_request *request, coop_error **err)
{
    enum plan_part part = request->part;
    struct plan *plan = view->plan;

    view_add_pool(plan);
    int r = add_shared(view, err);
    if (r < 0)
        return r;
    view_add_own_defaults(view);
    add_policy_own(view);
    r = view_sort(view, err);
    if (r < 0)
        return r;
    if (request->watchfs)
        view_add_watchfs(view);
    r = view_emit(view, part, err);
    if (r < 0)
        return r;
    plan_add(plan, STEP_ENTER_ROOT, PHASE_BOX);
    /* The kernel waits for all processors here; the command's process can use that time. */
    plan_add(plan, STEP_DROP_HOST_ROOT, part == PLAN_TEMPLATE ? PHASE_BOX : PHASE_LAST);
    return 0;
}

static int build_on_template(struct view *view, const struct plan_request *request,
                             coop_error **err)
{
    view_add_pool(view->plan);
    if (request->watchfs && request->template->watchfs)
        view_take_watchfs(view->plan, request->template->watchfs);
    view_emit_watchfs(view->plan);     /* before our own /proc covers what is out of sight */
    plan_protect_emit_all(view->plan); /* likewise */
    view_add_own_defaults(view);
    add_policy_own(view);
    int r = view_sort(view, err);
    if (r == 0)
        view_emit_on_template(view);
    return r;
}

int plan_view(struct plan *plan, const struct plan_request *request, coop_error **err)
{
    struct view view = { .plan = plan, .tmp_fd = request->tmp_fd };

    if (request->watchfs && plan->tier >= COOP_TIER_NAMESPACES)
        plan_watchfs_new(plan);
    int r = request->part == PLAN_ON_TEMPLATE ? build_on_template(&view, request, err)
                                              : build_whole(&view, request, err);

    free(view.mounts);
    plan_watchfs_finish(plan);
    plan_enforce_seal(plan);
    if (r == 0 && request->part != PLAN_TEMPLATE)
        plan_add(plan, STEP_HOSTNAME, PHASE_BOX)->source = plan->policy->hostname;
    return r;
}
