/*
 * emit.c - the mounts of a view, in order, as steps
 *
 * Sorted so that each mount comes after the one it lies in. Mount points are made only in file systems
 * of our own: where one would have to be made in a directory of the host, the mount is refused.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "plan/protect.h"
#include "plan/root_view.h"
#include "plan/view/private.h"
#include "policy/path/path.h"

/* Order of a walk through the tree: '/' before every other byte, so that /a/b precedes /a-b. */
static int compare_mounts(const void *a, const void *b)
{
    const struct view_mount *x = a;
    const struct view_mount *y = b;
    const unsigned char *p = (const unsigned char *)x->target;
    const unsigned char *q = (const unsigned char *)y->target;

    while (*p && *p == *q)
        p++, q++;
    if (*p == *q)
        return x->order < y->order ? -1 : 1;
    if (!*p || !*q)
        return *p ? 1 : -1;
    if (*p == '/' || *q == '/')
        return *p == '/' ? -1 : 1;
    return *p < *q ? -1 : 1;
}

static bool has(const struct view_mount *mount, unsigned trait)
{
    return step_rows[mount->kind].traits & trait;
}

/* Of several mounts with one target the policy's own wins; hiding comes on top of either. */
static void drop_replaced(struct view *view)
{
    size_t kept = 0;

    for (size_t i = 0; i < view->n; i++) {
        struct view_mount *mount = &view->mounts[i];
        bool replaced = i + 1 < view->n && !has(mount, TRAIT_OVER) &&
                        !has(&view->mounts[i + 1], TRAIT_OVER) &&
                        strcmp(mount->target, view->mounts[i + 1].target) == 0;

        if (!replaced)
            view->mounts[kept++] = *mount;
    }
    view->n = kept;
}

/* Makes the directories of the skeleton that lead to `target`, those not made for the one before. */
static void make_parents(struct view *view, const char *target)
{
    const char *last = view->last_made;
    size_t same = 0;

    for (size_t i = 0;; i++) {
        bool end_of_last = last[i] == '\0' || last[i] == '/';

        if ((target[i] == '/' || target[i] == '\0') && end_of_last && i > 0)
            same = i;
        if (target[i] == '\0' || target[i] != last[i])
            break;
    }
    for (const char *p = target + same + 1; (p = strchr(p, '/')); p++)
        view_make_directory(view->plan,
                            plan_text(view->plan, "%.*s", (int)(p - target - 1), target + 1), 0755);
    view->last_made = target;
}

/* The mount point for `mount`, which lies in `container` (NULL: in our own root). */
static int make_mount_point(struct view *view, const struct view_mount *mount,
                            const struct view_mount *container, coop_error **err)
{
    struct plan *plan = view->plan;
    const char *place;

    if (has(mount, TRAIT_OVER) || mount->kind == STEP_SHOW ||
        (container && has(container, TRAIT_OF_HOST))) {
        /* The mount point must be there already; the step itself says so if it is not. */
        (void)err;
        return 0;
    }
    if (!container) {
        make_parents(view, mount->target);
        place = mount->target + 1;
    } else if (has(container, TRAIT_IN_POOL)) {
        const char *rest = mount->target + strlen(container->target) + 1;
        const char *pool = container->source;

        for (const char *p = rest; (p = strchr(p, '/')); p++)
            view_make_directory(plan, plan_text(plan, "%s/%.*s", pool, (int)(p - rest), rest),
                                0755);
        place = plan_text(plan, "%s/%s", pool, rest);
    } else {
        return fail_kind(err, COOP_ERROR_BAD_POLICY, EINVAL,
                         "the mount target '%s' lies in '%s', where coop cannot make it",
                         mount->target, container->target);
    }
    if (mount->kind == STEP_MAKE_LINK)
        view_make_link(plan, place, mount->source);
    else if (mount->is_directory)
        view_make_directory(plan, place, 0755);
    else
        view_make_file(plan, place, NULL);
    return 0;
}

static void emit_mount(struct plan *plan, const struct view_mount *mount)
{
    struct step *step = plan_add(plan, mount->kind, PHASE_BOX);

    step->source = mount->source;
    step->target = mount->target + 1;
    step->flags = mount->flags | (mount->by_seal ? STEP_SEALED_LATER : 0);
    step->fd = mount->fd;
    step->dev = mount->dev;
    step->ino = mount->ino;
    step->value = mount->size;
    if (mount->kind == STEP_HIDE)
        step->node = view_watch_hidden(plan, mount->target);
    else if (mount->kind == STEP_PRIVATE && strcmp(mount->target, "/tmp") == 0)
        step->node = view_watch_beneath(plan, mount->target);
}

static int emit_mount_points(struct view *view, coop_error **err)
{
    const struct view_mount *stack[PLAN_MAX_NESTING];
    size_t depth = 0;

    view->last_made = "";
    for (size_t i = 0; i < view->n; i++) {
        const struct view_mount *mount = &view->mounts[i];

        while (depth > 0 && !path_is_within(mount->target, stack[depth - 1]->target))
            depth--;
        int r = make_mount_point(view, mount, depth ? stack[depth - 1] : NULL, err);
        if (r < 0)
            return r;
        if (depth == PLAN_MAX_NESTING)
            return fail_kind(err, COOP_ERROR_BAD_POLICY, EINVAL,
                             "the mount target '%s' lies in more than %d others", mount->target,
                             PLAN_MAX_NESTING);
        if (!has(mount, TRAIT_OVER) && mount->kind != STEP_MAKE_LINK)
            stack[depth++] = mount;
    }
    return 0;
}

/* What of the box is not the project's: all that has a place in the skeleton, and what is mounted
 * or hidden over an entry. */
static void note_outside(struct view *view)
{
    struct plan *plan = view->plan;
    const char *entry = NULL;

    for (size_t i = 0; i < plan->n_steps; i++) {
        const struct step *step = &plan->steps[i];

        if (view_is_skeleton(step)) {
            const char *path = plan_text(plan, "/%s", step->target);

            if (path)
                plan_strings_add(plan, &plan->outside, path, 1 + strcspn(path + 1, "/"));
        }
    }
    for (size_t i = 0; i < view->n; i++) {
        const struct view_mount *mount = &view->mounts[i];
        const char *target = mount->target;

        if (mount->kind == STEP_SHOW)
            entry = target;
        else if (!entry || !path_is_within(target, entry))
            plan_strings_add(plan, &plan->outside, target, 1 + strcspn(target + 1, "/"));
        else if (mount->kind != STEP_HIDE || strcmp(target, entry) == 0)
            plan_strings_add(plan, &plan->outside, target, strlen(target));
    }
}

/* The project, before /proc covers the place that it is kept at; its entries; what is protected. */
static void emit_root_view(struct view *view)
{
    struct plan *plan = view->plan;

    note_outside(view);
    if (view_has_run(plan)) {
        plan_root_view_exclude(plan);
        view_make_file(plan, "../u/coop-git-exclude", plan->git_excludes);
    }
    plan_root_view_take(plan);
    for (size_t i = 0; i < view->n; i++) {
        struct view_mount *mount = &view->mounts[i];

        if (mount->kind != STEP_SHOW)
            continue;
        if (plan_root_view_hides(plan, mount->target + 1))
            mount->flags |= STEP_HIDDEN;
        emit_mount(plan, mount);
    }
    plan_protect_emit(plan, "/");
}

/*
 * First every mount point, then the root and what of it is watched, then the host's own read-only
 * directories, which one recursive call seals together with the root; then everything else, outer before
 * inner.
 */
int view_emit(struct view *view, enum plan_part part, coop_error **err)
{
    struct plan *plan = view->plan;
    int r = emit_mount_points(view, err);

    if (r < 0)
        return r;
    view_add_places(view);
    plan_add(plan, STEP_ROOT, PHASE_BOX);
    if (part == PLAN_WHOLE)
        view_emit_watchfs(plan);
    for (size_t i = 0; i < view->n; i++)
        if (view->mounts[i].by_seal)
            emit_mount(plan, &view->mounts[i]);
    plan_add(plan, STEP_SEAL_ROOT, PHASE_BOX);
    if (plan->is_root_view)
        emit_root_view(view);
    for (size_t i = 0; i < view->n; i++) {
        struct view_mount *mount = &view->mounts[i];

        /* A template needs a /proc that hides nothing and can be written to, or the kernel would
         * let no box mount its own over it. It is of a pid namespace in which nobody lives. */
        if (part == PLAN_TEMPLATE && mount->kind == STEP_PROC)
            mount->flags = 0;
        if (mount->by_seal || mount->kind == STEP_MAKE_LINK || mount->kind == STEP_SHOW ||
            (part == PLAN_TEMPLATE && !has(mount, TRAIT_TEMPLATE)))
            continue;
        emit_mount(plan, mount);
        if (mount->kind == STEP_BIND)
            plan_protect_emit(plan, mount->target);
    }
    return 0;
}

void view_emit_on_template(struct view *view)
{
    for (size_t i = 0; i < view->n; i++)
        emit_mount(view->plan, &view->mounts[i]);
}

int view_sort(struct view *view, coop_error **err)
{
    if (view->plan->failed)
        return fail_no_memory(err);
    qsort(view->mounts, view->n, sizeof *view->mounts, compare_mounts);
    drop_replaced(view);
    return 0;
}
