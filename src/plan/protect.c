#include "protect.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "plan/protect_binds.h"
#include "plan/protect_config.h"
#include "plan/protect_private.h"
#include "plan/root_view.h"
#include "plan/secret_hide.h"
#include "policy/path/path.h"
#include "policy/protect.h"
#include "protect/scan/scan_private.h"

#define STILL_TRIES 20

/* ---- where trees are seen */

void protect_place_add(struct plan *plan, const struct shown_tree *place)
{
    struct plan_protected *protected = plan->protected;
    struct shown_tree *more =
        reallocarray(protected->places, protected->n_places + 1, sizeof *protected->places);

    if (!more || !place->target) {
        plan->failed = true;
        return;
    }
    protected->places = more;
    protected->places[protected->n_places++] = *place;
}

static void add_place(struct plan *plan, const char *mount, const char *target, const char *below,
                      int root_fd, const struct protect_scan *scan)
{
    protect_place_add(
        plan,
        &(struct shown_tree){
            .mount = mount, .target = target, .below = below, .root_fd = root_fd, .scan = scan });
}

/* The workspace, or a part of it, may be seen through other mounts as well. */
static bool is_directory(int fd)
{
    struct stat st;

    return fstat(fd, &st) < 0 || S_ISDIR(st.st_mode);
}

static int add_other_views(struct plan *plan, coop_error **err)
{
    const coop_policy *policy = plan->policy;
    const struct protect_scan *scan = &plan->protected->workspace;
    char workspace[PATH_MAX] = "";
    char source[PATH_MAX];

    for (size_t i = 0; i < policy->n_mounts; i++) {
        const struct policy_mount *mount = &policy->mounts[i];

        if (mount->kind != POLICY_BIND)
            continue;
        int fd = plan_source(plan, i, err);
        if (fd < 0)
            return fd;
        int r = workspace[0] ? 0 : source_name(plan->workspace_fd, workspace);
        if (r == 0)
            r = source_name(fd, source);
        if (r < 0)
            return fail(err, -r, "find the path of '%s' in '/proc'", mount->source);
        if (path_is_within(workspace, source)) {
            const char *rest = workspace + (strcmp(source, "/") == 0 ? 0 : strlen(source));
            const char *target = plan_text(plan, "%s%s", mount->target, rest);

            if (target && strcmp(target, plan->workspace_view) != 0)
                add_place(plan, mount->target, target, "", plan->workspace_fd, scan);
        } else if (path_is_within(source, workspace) && is_directory(fd)) {
            /* A single file is what the owner named, and nothing more. */
            add_place(plan, mount->target, mount->target,
                      plan_copy(plan, source + strlen(workspace) + 1), plan->workspace_fd, scan);
        }
    }
    return 0;
}

/* ---- what was found, as steps */

static const char *words_of(struct plan *plan, const struct protect_rule *rule)
{
    struct plan_protected *protected = plan->protected;

    if (protected->told != rule) {
        auto_buffer struct buffer origin = { 0 };

        origin_print(&origin, rule->origin);
        protected->told = rule;
        protected->words =
            plan_text(plan, "%s: %s", origin.data ? origin.data : "rule", rule->pattern);
    }
    return protected->words;
}

static struct step *add_step(struct plan *plan, enum step_kind kind, const char *path,
                             const struct protect_found *found)
{
    struct step *step = plan_add(plan, kind, PHASE_BOX);

    step->target = path;
    step->dev = found->st.st_dev;
    step->ino = found->st.st_ino;
    step->mode = found->st.st_mode;
    return step;
}

/* What tells when somebody wants it: 0 where there is no such thing, and an ordinary mask is put. */
static unsigned add_watched(struct plan *plan, const struct shown_tree *place, const char *path,
                            const struct step *step)
{
    bool is_directory = S_ISDIR(step->mode);

    if (!plan->watchfs || !(is_directory || S_ISREG(step->mode)))
        return 0;
    return plan_watchfs_add(
        plan,
        &(struct watchfs_node){
            .path = plan_text(plan, "%s%s%s", place->target + 1, place->target[1] ? "/" : "", path),
            .kind = WATCHFS_MASK,
            .mode = is_directory ? S_IFDIR : S_IFREG | (uint32_t)(step->mode & 0111),
            .size = is_directory ? WATCHFS_EMPTY : step->value,
            .mtime_ns = (int64_t)step->value2,
        });
}

static void add_mask(struct plan *plan, const struct shown_tree *place, const char *path,
                     const struct protect_found *found)
{
    const char *words = words_of(plan, found->rule);
    struct step *step = add_step(plan, STEP_MASK, path, found);

    step->value = (uint64_t)found->st.st_size;
    step->value2 =
        (uint64_t)(found->st.st_mtim.tv_sec * INT64_C(1000000000) + found->st.st_mtim.tv_nsec);
    step->source = words;
    step->length = plan->n_masks++;
    step->node = add_watched(plan, place, path, step);
}

static void add_keep(struct plan *plan, const char *path, const struct protect_found *found)
{
    const char *words = words_of(plan, found->rule);

    add_step(plan, STEP_KEEP, path, found)->source = words;
}

/* As it is, or without the credentials in it; hidden where git itself would not read it. */
static void add_config(struct plan *plan, const struct shown_tree *place, const char *path,
                       const struct protect_found *found)
{
    auto_buffer struct buffer shown = { 0 };
    enum protect_config how = protect_config_show(place->root_fd, found->path, &shown);

    if (how == PROTECT_CONFIG_UNREADABLE) {
        add_mask(plan, place, path, found);
        return;
    }
    if (how == PROTECT_CONFIG_PLAIN) {
        if (!found->is_nested || !plan->protected->has_notify)
            add_keep(plan, path, found);
        return;
    }
    char *copy = shown.failed ? NULL : plan_memory(plan, shown.length + 1);
    if (!copy) {
        plan->failed = true;
        return;
    }
    memcpy(copy, shown.data, shown.length);
    struct step *step = add_step(plan, STEP_COVER, path, found);
    step->source = copy;
    step->length = shown.length;
    step->value = plan->n_masks++;
}

/* Both are relative. */
static bool is_in(const char *path, const char *directory)
{
    size_t n = strlen(directory);

    return strncmp(path, directory, n) == 0 && (path[n] == '/' || !path[n]);
}

/* What is hidden does not come to light because it is all that is shown, nor can what is kept be
 * written. */
static int check_shown(const struct plan *plan, coop_error **err)
{
    const struct protect_scan *scan = &plan->protected->workspace;
    const char *below = plan->shown.below;

    for (size_t i = 0; *below && i < scan->n_found; i++) {
        const struct protect_found *found = &scan->found[i];
        bool is_hidden = found->kind == FOUND_HIDE;

        if (!is_in(below, found->path) ||
            !(is_hidden || (found->kind == FOUND_KEEP && !plan->policy->read_only)))
            continue;
        auto_buffer struct buffer origin = { 0 };
        origin_print(&origin, found->rule->origin);
        int r = fail_kind(err, COOP_ERROR_BAD_POLICY, EACCES,
                          "the workspace is restricted to '%s', which %s (%s: %s)", below,
                          is_hidden ? "is hidden" : "cannot be written",
                          origin.data ? origin.data : "rule", found->rule->pattern);
        return is_hidden ? r : fail_hint(err, r, "make it read-only as well: --read-only");
    }
    return 0;
}

/* The path below the place, NULL: it is not seen there. */
static const char *path_at(const struct shown_tree *place, const struct protect_found *found)
{
    size_t n = strlen(place->below);

    if (n == 0)
        return found->path;
    return strncmp(found->path, place->below, n) == 0 && found->path[n] == '/' ? found->path + n + 1
                                                                               : NULL;
}

/* Whether the policy mounts something else there. */
static bool is_covered(const struct plan *plan, const struct shown_tree *place, const char *path)
{
    const coop_policy *policy = plan->policy;
    char full[2 * PATH_MAX];

    for (size_t i = 0; i < policy->n_mounts; i++) {
        const struct policy_mount *mount = &policy->mounts[i];

        if (mount->kind == POLICY_BLOCK || !path_is_within(mount->target, place->target) ||
            strcmp(mount->target, place->target) == 0)
            continue;
        (void)snprintf(full, sizeof full, "%s/%s", place->target[1] ? place->target : "", path);
        if (path_is_within(full, mount->target))
            return true;
    }
    return false;
}

/* Where a mount shows the workspace too, that has a place of its own. */
static bool is_of_workspace(const struct plan *plan, const struct shown_tree *place,
                            const char *path)
{
    const struct plan_protected *protected = plan->protected;
    size_t n = place->target[1] ? strlen(place->target) : 0;

    for (size_t i = 0; place->is_beside && i < protected->n_places; i++) {
        const struct shown_tree *other = &protected->places[i];

        if (!other->is_beside && strcmp(other->mount, place->mount) == 0 &&
            path_is_within(other->target, place->target) && other->target[n] == '/' &&
            is_in(path, other->target + n + 1))
            return true;
    }
    return false;
}

/*
 * Notify lets nobody write what belongs to a repository inside the tree; without mounts on it, it
 * can still be removed. Its configuration is looked at all the same: there may be something to cover.
 */
static bool is_left_to_door(const struct plan *plan, const struct shown_tree *place,
                            const struct protect_found *found)
{
    return plan->protected->has_notify && !place->is_read_only && found->is_nested &&
           found->kind != FOUND_GIT_CONFIG;
}

/* Stays where it is, and what it is. */
static bool is_held(const struct protect_found *found)
{
    return found->kind == FOUND_GIT_DIRECTORY || found->kind == FOUND_LINK ||
           found->kind == FOUND_KEPT_LINK;
}

static bool is_secret(const struct protect_found *found)
{
    return found->kind == FOUND_HIDE || found->kind == FOUND_LINK;
}

/* Where the workspace is the root, its top level needs no masks to hide, nor to hold links. */
static bool is_beside_root(const struct plan *plan, const struct shown_tree *place,
                           const struct protect_found *found)
{
    if (!plan->is_root_view || place->target[1])
        return false;
    return (is_secret(found) || found->kind == FOUND_KEPT_LINK) && !strchr(found->path, '/');
}

static void emit_found(struct plan *plan, const struct shown_tree *place,
                       const struct protect_found *found, bool is_holding)
{
    const char *path = is_beside_root(plan, place, found) ? NULL : path_at(place, found);

    if (!path || is_held(found) != is_holding || is_left_to_door(plan, place, found) ||
        is_covered(plan, place, path) || is_of_workspace(plan, place, path))
        return;
    path = plan_copy(plan, path);
    switch (found->kind) {
    case FOUND_HIDE:
        add_mask(plan, place, path, found);
        break;
    case FOUND_KEEP:
        add_keep(plan, path, found);
        break;
    case FOUND_GIT_CONFIG:
        add_config(plan, place, path, found);
        break;
    case FOUND_GIT_DIRECTORY:
    case FOUND_LINK:
    case FOUND_KEPT_LINK:
        add_step(plan, STEP_HOLD, path, found);
        break;
    }
}

static void emit_place(struct plan *plan, const struct shown_tree *place)
{
    size_t n = place->scan->n_found;

    if (n == 0)
        return;
    plan_add(plan, STEP_PRISTINE, PHASE_BOX)->target = place->target + 1;
    for (size_t i = 0; i < n; i++)
        emit_found(plan, place, &place->scan->found[i], true);
    plan_add(plan, STEP_FREEZE, PHASE_BOX);
    for (size_t i = 0; i < n; i++)
        emit_found(plan, place, &place->scan->found[i], false);
}

void plan_protect_emit(struct plan *plan, const char *mount_target)
{
    const struct plan_protected *protected = plan->protected;

    for (size_t i = 0; protected && i < protected->n_places; i++)
        if (strcmp(protected->places[i].mount, mount_target) == 0)
            emit_place(plan, &protected->places[i]);
}

void plan_protect_emit_all(struct plan *plan)
{
    const struct plan_protected *protected = plan->protected;

    for (size_t i = 0; protected && i < protected->n_places; i++)
        emit_place(plan, &protected->places[i]);
}

/* ---- git: what is hidden and not tracked must not stand in the way of `git add -A` */

/* The part of the path below the innermost repository that it lies in: .git, or a .bare that a .git
 * names, is beside the files. A bare repository is beside nothing of its own. */
static const char *path_in_repository(const struct protect_scan *scan, const char *path)
{
    size_t longest = 0;

    for (size_t i = 0; i < scan->n_git_directories; i++) {
        const char *slash = strrchr(scan->git_directories[i], '/');
        size_t n = slash && slash[1] == '.' ? (size_t)(slash - scan->git_directories[i]) : 0;

        if (n > longest && strncmp(path, scan->git_directories[i], n) == 0 && path[n] == '/')
            longest = n;
    }
    return longest ? path + longest + 1 : path;
}

static void append_excluded(struct buffer *out, const char *path)
{
    if (strchr(path, '\n'))
        return;
    buffer_append_char(out, '/');
    for (; *path; path++) {
        if (strchr("\\*?[!# ", *path))
            buffer_append_char(out, '\\');
        buffer_append_char(out, *path);
    }
    buffer_append_char(out, '\n');
}

static void exclude_hidden(struct plan *plan)
{
    const struct protect_scan *scan = &plan->protected->workspace;
    auto_buffer struct buffer text = { 0 };

    for (size_t i = 0; i < scan->n_found; i++)
        if (scan->found[i].kind == FOUND_HIDE &&
            (!*plan->shown.below || is_in(scan->found[i].path, plan->shown.below)))
            append_excluded(&text, path_in_repository(scan, scan->found[i].path));
    if (text.length > 0 && !text.failed)
        plan->git_excludes = plan_copy(plan, text.data);
    plan->failed |= text.failed;
}

/* ---- what is not there yet */

/* How much of both paths is the same directories; they stand in the order of the tree. */
static size_t common_directories(const char *path, const char *last)
{
    size_t n = 1;

    for (size_t i = 1; path[i] && path[i] == last[i]; i++)
        if (path[i] == '/')
            n = i + 1;
    return n;
}

/* A directory that were moved away with something hidden in it could be read in the next box. */
static void hold_hidden(struct plan *plan, const struct shown_tree *place, const char *root)
{
    const char *last = "/";

    for (size_t i = 0; i < place->scan->n_found; i++) {
        const struct protect_found *found = &place->scan->found[i];

        if (!is_secret(found) && found->rule != &scan_way_rule)
            continue;
        const char *path = plan_text(plan, "%s/%s", root[1] ? root : "", found->path);
        if (!path)
            return;
        for (const char *p = path + common_directories(path, last); (p = strchr(p, '/')); p++)
            plan_strings_add(plan, &plan->held, path, (size_t)(p - path));
        last = path;
    }
}

/* A part of the workspace that is seen elsewhere: the same rules, also where it is seen only there. */
static void add_alias(struct plan *plan, const struct shown_tree *place)
{
    const char *view = plan->workspace_view[1] ? plan->workspace_view : "";
    const char *canonical = plan_text(plan, "%s/%s", view, place->below);

    plan_alias_add(plan, place->target, canonical);
    if (canonical && *plan->shown.below && !path_is_within(canonical, plan->shown.target))
        plan_write_root(plan, canonical, -1);
}

struct home_mount {
    struct plan *plan;
    const struct policy_mount *mount;
    size_t n;
};

static bool has_place(const struct plan *plan, const char *target)
{
    for (size_t i = 0; i < plan->protected->n_places; i++)
        if (strcmp(plan->protected->places[i].target, target) == 0)
            return true;
    return false;
}

/* As at the top of a workspace: what a login runs is not made, whether it is there or not. */
static int add_home(void *context, const char *rest)
{
    static const struct protect_scan nothing;
    struct home_mount *home = context;
    const char *target = home->mount->target;
    const char *root = plan_text(home->plan, "%s%s", target[1] || !*rest ? target : "", rest);

    home->n++;
    if (root && !has_place(home->plan, root))
        protect_write_rules(home->plan, home->plan->protected->rules, &nothing, root, -1);
    return 0;
}

/* Directories above what is hidden in it: moved away, they would take it along. */
static void hold_blocks(struct plan *plan, const struct policy_mount *mount)
{
    size_t n = strlen(mount->target);

    for (size_t i = 0; i < plan->policy->n_mounts; i++) {
        const struct policy_mount *block = &plan->policy->mounts[i];

        if (block == mount || !path_is_within(block->target, mount->target) || !block->target[n])
            continue;
        for (const char *p = block->target + n + 1; (p = strchr(p, '/')); p++)
            plan_strings_add(plan, &plan->held, block->target, (size_t)(p - block->target));
    }
}

/* Homes, and files of coop's own, that can be written through mounts beside the workspace. */
static void add_homes(struct plan *plan)
{
    for (size_t i = 0; i < plan->policy->n_mounts; i++) {
        const struct policy_mount *mount = &plan->policy->mounts[i];
        char source[PATH_MAX];

        if (mount->kind != POLICY_BIND || mount->read_only || !realpath(mount->source, source))
            continue;
        struct home_mount home = { plan, mount, 0 };
        if (secret_each_home(source, add_home, &home) < 0)
            plan->failed = true;
        if (!protect_write_rules_own(plan, mount) && home.n == 0)
            continue;
        plan_write_root(plan, mount->target, -1); /* the backstop is around them too */
        hold_blocks(plan, mount);
    }
}

static void add_write_rule(struct plan *plan)
{
    struct plan_protected *protected = plan->protected;

    for (size_t i = 0; i < protected->n_places; i++) {
        const struct shown_tree *place = &protected->places[i];
        bool is_own = i == 0; /* the workspace, or what is shown of it */

        if (place->is_read_only)
            continue;

        if (place->scan == &protected->git)
            protect_write_rules_in_git(plan, place->target, place->root_fd);
        else if (is_own || !*place->below)
            protect_write_rules(plan, protected->rules, place->scan,
                                is_own ? plan->workspace_view : place->target, place->root_fd);
        else
            add_alias(plan, place);
        if (is_own || !*place->below)
            hold_hidden(plan, place, is_own ? plan->workspace_view : place->target);
        /* Around a root the backstop is too: all of the mount is notify's. */
        if (strcmp(place->mount, place->target) != 0)
            plan_write_root(plan, place->mount, -1);
    }
    protect_write_rules_mounts(plan);
    add_homes(plan);
}

/* ---- looking */

/* Where the owner's other programs keep what can be lost. */
const char *protect_cache_directory(struct plan *plan)
{
    const char *cache = getenv("XDG_CACHE_HOME");
    const char *home = getenv("HOME");

    if (cache && *cache == '/')
        return plan_text(plan, "%s/coop", cache);
    return home && *home == '/' ? plan_text(plan, "%s/.cache/coop", home) : NULL;
}

static int look_plainly(struct plan *plan, coop_error **err)
{
    struct plan_protected *protected = plan->protected;
    struct protect_scan_options options = { .cache_directory = protect_cache_directory(plan) };
    int r =
        protect_scan(plan->workspace_fd, protected->rules, &options, &protected->workspace, err);

    if (r < 0 || !plan->git.target || !protect_has_defaults(protected->rules))
        return r;
    options.is_git_directory = true;
    return protect_scan(plan->git.fd, protected->rules, &options, &protected->git, err);
}

static void forget_look(struct plan_protected *protected)
{
    protect_scan_done(&protected->workspace);
    protect_scan_done(&protected->git);
}

static bool is_still(int root_fd, const struct protect_scan *scan)
{
    auto_free bool *verified = calloc(scan->records.n + 1, sizeof *verified);

    return verified && entries_verify(root_fd, &scan->records, verified);
}

/* Nothing has changed for a while, nor while we looked. */
static bool all_is_still(const struct plan *plan)
{
    return is_still(plan->workspace_fd, &plan->protected->workspace) &&
           (!plan->git.target || is_still(plan->git.fd, &plan->protected->git));
}

/* Where the kernel watches no more: until nothing has changed from one look to the next. */
static int look_until_still(struct plan *plan, int errnum, coop_error **err)
{
    for (int i = 0; i < STILL_TRIES; i++) {
        int r = look_plainly(plan, err);

        if (r < 0 || all_is_still(plan))
            return r;
        forget_look(plan->protected);
    }
    int r = fail_kind(err, COOP_ERROR_SETUP, EBUSY,
                      "look through the workspace: others may change it, and it cannot be watched "
                      "(%s)",
                      strerror(errnum));
    /* The kernel has one word for no more descriptors and no more instances of inotify. */
    return fail_hint(err, r,
                     errnum == EMFILE ? "raise the limit of open files (ulimit -n), or "
                                        "/proc/sys/fs/inotify/max_user_instances"
                                      : "raise /proc/sys/fs/inotify/max_user_watches, or run "
                                        "again when they are done");
}

static int look_once(struct plan *plan, coop_error **err)
{
    auto_error coop_error *watching = NULL;

    /* Watching is dear: the kernel takes 20 ms to end it. */
    int r = look_plainly(plan, err);
    if (r < 0 || !plan->is_shared)
        return r;
    plan->is_still = all_is_still(plan);
    if (plan->is_still)
        return 0;
    forget_look(plan->protected);
    r = protect_watch_look(plan, &watching);
    if (r == -ENOSPC || r == -EMFILE) {
        forget_look(plan->protected);
        return look_until_still(plan, -r, err);
    }
    if (r < 0 && err)
        *err = take_ptr(watching);
    return r;
}

/* Where a directory turns out to ignore case, the rules must too, everywhere. */
static int look(struct plan *plan, coop_error **err)
{
    struct plan_protected *protected = plan->protected;
    int r = look_once(plan, err);

    if (r == 0 && !protect_ignores_case(protected->rules) &&
        (protected->workspace.ignores_case || protected->git.ignores_case)) {
        forget_look(protected);
        protect_ignore_case(protected->rules);
        r = look_once(plan, err);
    }
    plan->ignores_case = protect_ignores_case(protected->rules);
    return r;
}

static int find_places(struct plan *plan, coop_error **err)
{
    struct plan_protected *protected = plan->protected;
    int r = look(plan, err);

    if (r < 0)
        return fail_as(err, r, COOP_ERROR_SETUP);
    r = check_shown(plan, err);
    if (r < 0)
        return r;
    add_place(plan, plan->shown.target, plan->shown.target, plan->shown.below, plan->workspace_fd,
              &protected->workspace);
    if (plan->git.target)
        add_place(plan, plan->git.target, plan->git.target, "", plan->git.fd, &protected->git);
    r = add_other_views(plan, err);
    return r < 0 ? r : protect_binds(plan, err);
}

int plan_protect(struct plan *plan, const struct plan_request *request, coop_error **err)
{
    struct protect *rules = NULL;
    int r = protect_new(plan->policy, &rules, err);

    if (r < 0 || !rules)
        return r;
    plan->is_shared = request->is_shared && !request->is_for_reading &&
                      request->is_shared(request->context, plan->workspace_fd);
    struct plan_protected *protected = calloc(1, sizeof *protected);
    if (!protected) {
        protect_free(rules);
        return fail_no_memory(err);
    }
    plan->protected = protected;
    protected->rules = rules;
    r = protect_take_blocks(rules, plan->policy, plan->workspace_view, err);
    if (r < 0)
        return r;
    r = find_places(plan, err);
    if (r == 0 && !protect_ignores_case(rules) && protect_binds_ignore_case(protected)) {
        forget_look(protected);
        protect_binds_done(protected);
        protected->n_places = 0;
        protect_ignore_case(rules);
        r = find_places(plan, err);
    }
    if (r < 0)
        return r;
    if (plan->tier == COOP_TIER_FULL) /* without the backstop, notify would promise too much */
        add_write_rule(plan);
    protected->has_notify = plan->n_write_rules > 0;
    if (protected->workspace.is_work_tree)
        exclude_hidden(plan);
    plan->n_mask_inodes =
        2 * protected->n_places *
        (protected->workspace.n_found + protected->git.n_found + protect_binds_n_found(protected));
    return 0;
}

void plan_protect_each_hidden(const struct plan *plan,
                              void (*each)(void *context, const char *name), void *context)
{
    const struct protect_scan *scan = plan->protected ? &plan->protected->workspace : NULL;

    for (size_t i = 0; scan && i < scan->n_found; i++)
        if (is_secret(&scan->found[i]) && !strchr(scan->found[i].path, '/'))
            each(context, scan->found[i].path);
}

void plan_protect_done(struct plan *plan)
{
    struct plan_protected *protected = take_ptr(plan->protected);

    if (!protected)
        return;
    protect_scan_done(&protected->workspace);
    protect_scan_done(&protected->git);
    protect_binds_done(protected);
    protect_free(protected->rules);
    free(protected->places);
    free(protected);
}
