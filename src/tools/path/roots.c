/*
 * roots.c - the mounts of the view, each opened once
 *
 * The workspace, the binds of the policy, the host's programs (beneath the host's root, but only
 * where the view says so) and the box's /tmp. The rest of a box is made for each command, and ends
 * with it: no tool can reach it.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "base/fd.h"
#include "base/printable.h"
#include "init/structure_lock.h"
#include "plan/workspace_check.h"
#include "policy/path/path.h"
#include "policy/secret_places.h"
#include "survey/git_layout.h"
#include "sys/kernel.h"
#include "sys/raw.h"
#include "tools/path/private.h"

#define TRIES 64 /* of openat2(), while somebody renames */

int place_fail(coop_error **err, int errnum, const char *path, const char *format, ...)
{
    auto_buffer struct buffer name = { 0 };
    auto_buffer struct buffer text = { 0 };
    va_list args;

    printable_append(&name, path, strlen(path));
    va_start(args, format);
    buffer_vprintf(&text, format, args);
    va_end(args);
    if (name.failed || text.failed)
        return fail_no_memory(err);
    return fail_kind(err,
                     errnum == EACCES || errnum == EBUSY ? COOP_ERROR_DENIED : COOP_ERROR_SYSTEM,
                     errnum, "'%s' %s", name.data ? name.data : "", text.data ? text.data : "");
}

int place_roots_open_at(const struct place_root *root, const char *below, int flags, mode_t mode)
{
    const struct kernel_open_how how = {
        .flags = (uint64_t)(unsigned)flags | O_NOFOLLOW | O_CLOEXEC,
        .mode = mode,
        .resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS | RESOLVE_NO_SYMLINKS,
    };
    long fd = -EAGAIN;

    if (!root->is_directory) {
        if (*below)
            return -ENOTDIR;
        fd = fcntl(root->fd, F_DUPFD_CLOEXEC, 3);
        return fd < 0 ? -errno : (int)fd;
    }
    for (int i = 0; i < TRIES && (fd == -EAGAIN || fd == -EINTR); i++)
        fd = raw(NR_OPENAT2, root->fd, *below ? below : ".", &how, sizeof how);
    if (fd < 0 || fd > 2)
        return (int)fd;
    int low = (int)fd;
    int r = fd_lift(&low);
    if (r < 0)
        (void)close(low);
    return r < 0 ? r : low;
}

/* ---- opening */

static char *name_of(int fd)
{
    char link[64];
    char path[PATH_MAX];

    (void)snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t n = readlink(link, path, sizeof path - 1);
    if (n <= 0)
        return NULL;
    path[n] = '\0';
    return strdup(path);
}

static int open_root(struct place_root *root, struct sources *sources, const char *what,
                     const char *source, coop_error **err)
{
    struct stat st;
    int fd = sources_open(sources, what, source, err);

    if (fd < 0)
        return fd;
    if (fstat(fd, &st) < 0) {
        int r = fail(err, errno, "look at %s '%s'", what, source);

        close_fd(&fd);
        return r;
    }
    fd_settle(&fd);
    root->fd = fd;
    root->is_directory = S_ISDIR(st.st_mode);
    root->host = name_of(fd);
    if (!root->host)
        return fail(err, errno, "find the path of '%s' in '/proc'", source);
    return 0;
}

/* The rules of the workspace hold wherever it, or a part of it, is seen. A single file is what the
 * owner named, and nothing more. */
static bool is_of_workspace(const struct places *places, const struct place_root *root)
{
    const char *workspace = places->workspace.host;

    return root->is_directory &&
           (path_is_within(root->host, workspace) || path_is_within(workspace, root->host));
}

/* As plan/protect_binds.c. */
static bool is_searched(const struct places *places, const struct place_root *root)
{
    return root->is_directory && !root->mount->is_store && !secret_is_system(root->host) &&
           !path_is_within(root->host, places->workspace.host);
}

static int open_binds(struct places *places, struct sources *sources, coop_error **err)
{
    const coop_policy *policy = places->policy;

    places->binds = calloc(policy->n_mounts + 1, sizeof *places->binds);
    places->trees = calloc(policy->n_mounts + 1, sizeof *places->trees);
    if (places->trees)
        places->trees[places->n_trees++].fd = places->workspace.fd;
    if (!places->binds || !places->trees)
        return fail_no_memory(err);
    for (size_t i = 0; i < policy->n_mounts; i++) {
        const struct policy_mount *mount = &policy->mounts[i];
        struct place_root *root = &places->binds[places->n_binds];

        if (mount->kind != POLICY_BIND)
            continue;
        root->fd = -1;
        root->mount = mount;
        places->n_binds++;
        int r = open_root(root, sources, "the mount source", mount->source, err);
        if (r < 0)
            return r;
        root->is_writable = !mount->read_only;
        if (is_searched(places, root)) {
            root->tree = &places->trees[places->n_trees++];
            *root->tree = (struct place_tree){ .fd = root->fd, .is_beside = true };
        }
        root->is_protected = root->tree || is_of_workspace(places, root);
        root->has_inner = true;
    }
    return 0;
}

/* As plan/workspace.c: a git directory elsewhere may want the workspace at its own path, and other
 * worktrees know the workspace by it. */
static int choose_view(struct places *places, const struct places_options *options,
                       coop_error **err)
{
    const char *view = options->view;
    struct git_layout layout = { 0 };

    git_layout_find(places->workspace.fd, &layout);
    close_fd(&layout.fd);
    if (!view && !places->policy->root && layout.is_outside && layout.needs_same_path)
        view = places->workspace.host;
    if (!view && places->policy->same_path && !places->policy->root)
        view = places->workspace.host;
    if (!view)
        view = view_of_workspace(places->policy, places->workspace.host);
    places->view = strdup(view);
    if ((layout.has_worktrees || layout.is_outside) && places->view &&
        strcmp(view, places->workspace.host) != 0 && !places->policy->root) {
        places->link = strdup(places->workspace.host);
        if (!places->link)
            return fail_no_memory(err);
    }
    return places->view ? 0 : fail_no_memory(err);
}

static int choose_directory(struct places *places, const char *asked, coop_error **err)
{
    const char *view = places->view ? places->view : "/";

    if (!asked && !places->on_host) /* the policy's is a path of the box */
        asked = places->policy->directory;
    places->directory = !asked          ? strdup(view)
                        : *asked == '/' ? strdup(asked)
                                        : path_join(view, asked);
    return places->directory ? 0 : fail_no_memory(err);
}

static int copy_roots(struct places *places, const char *const *roots, coop_error **err)
{
    size_t n = 0;

    while (roots && roots[n])
        n++;
    if (!roots)
        return 0;
    places->roots = calloc(n + 1, sizeof *places->roots);
    if (!places->roots)
        return fail_no_memory(err);
    for (size_t i = 0; i < n; i++) {
        char *real = realpath(roots[i], NULL);

        if (real) /* in one that is not there, nothing is */
            places->roots[places->n_roots++] = real;
        else if (errno == ENOMEM)
            return fail_no_memory(err);
    }
    return 0;
}

/* For the root of the host, whose path has no links. */
static int open_host(struct place_root *root, coop_error **err)
{
    struct sources sources = { .workspace_fd = -1, .git_fd = -1 };

    return open_root(root, &sources, "the root", "/", err);
}

static int open_in_box(struct places *places, const struct places_options *options,
                       coop_error **err)
{
    struct sources sources = { .policy = places->policy, .workspace_fd = -1, .git_fd = -1 };
    int r = open_root(&places->workspace, &sources, "the workspace", options->workspace, err);

    sources_done(&sources);
    if (r == 0 && !places->workspace.is_directory)
        r = place_fail(err, ENOTDIR, options->workspace, "is not a directory");
    if (r == 0)
        r = workspace_check(places->policy, places->workspace.fd, places->workspace.host, err);
    if (r == 0)
        r = workspace_check_index(places->policy, places->workspace.fd, places->workspace.host,
                                  err);
    if (r < 0)
        return r;
    sources.workspace_fd = places->workspace.fd;
    r = open_host(&places->tools, err);
    if (r == 0)
        r = open_binds(places, &sources, err);
    sources_done(&sources);
    return r;
}

static int open_on_host(struct places *places, const struct places_options *options,
                        coop_error **err)
{
    int r = open_host(&places->tools, err);

    places->tools.is_writable = !places->policy || !places->policy->read_only;
    places->view = strdup(options->workspace);
    if (r == 0 && !places->view)
        r = fail_no_memory(err);
    return r < 0 ? r : choose_directory(places, options->directory, err);
}

/* Directories that these tools may write stay where they are as long. */
static int mark_roots(struct places *places, coop_error **err)
{
    places->marks.fds = calloc(places->n_binds + 1, sizeof *places->marks.fds);
    if (!places->marks.fds)
        return fail_no_memory(err);
    for (size_t i = 0; i <= places->n_binds; i++) {
        const struct place_root *root = i > 0 ? &places->binds[i - 1] : &places->workspace;
        int fd = !root->is_writable || !root->is_directory ? -EACCES : root_mark(root->fd, ".");

        if (fd >= 0)
            places->marks.fds[places->marks.n++] = fd;
        else if (fd != -EACCES)
            return fail(err, -fd, "mark '%s' as a directory of these tools", root->host);
    }
    return 0;
}

static int open_roots(struct places *places, const struct places_options *options, coop_error **err)
{
    places->workspace.fd = places->tools.fd = places->tmp.fd = -1;
    int r = copy_roots(places, options->roots, err);
    if (r == 0 && places->on_host)
        return open_on_host(places, options, err);
    if (r == 0)
        r = open_in_box(places, options, err);
    if (r == 0)
        r = choose_view(places, options, err);
    if (r == 0)
        r = choose_directory(places, options->directory, err);
    if (r < 0)
        return r;
    places->index = view_index_new(places->policy, places->view);
    if (!places->index)
        return fail_no_memory(err);
    places->workspace.is_writable = !places->policy->read_only;
    places->workspace.is_protected = true;
    places->workspace.has_inner = places->policy->n_mounts > 0 || places->view[1] == '\0';
    places->tools.has_inner = true;
    if (options->tmp_fd >= 0)
        places->tmp = (struct place_root){ .fd = options->tmp_fd,
                                           .is_directory = true,
                                           .is_writable = true,
                                           .has_inner = places->policy->n_mounts > 0 };
    return mark_roots(places, err);
}

/* Opened and marked in one step: nobody moves them in between. */
int place_roots_open(struct places *places, const struct places_options *options, coop_error **err)
{
    auto_structure_lock int lock = places->on_host ? -1 : structure_lock_take(false, err);

    return lock < 0 && !places->on_host ? lock : open_roots(places, options, err);
}

void place_roots_done(struct places *places)
{
    for (size_t i = 0; i < places->n_binds; i++) {
        close_fd(&places->binds[i].fd);
        free(places->binds[i].host);
    }
    for (size_t i = 0; i < places->n_roots; i++)
        free(places->roots[i]);
    root_marks_done(&places->marks);
    close_fd(&places->workspace.fd);
    close_fd(&places->tools.fd);
    free(places->workspace.host);
    free(places->tools.host);
    free(places->binds);
    free(places->trees);
    free(places->roots);
    view_index_free(places->index);
    free(places->view);
    free(places->directory);
    free(places->link);
}

/* ---- looking up */

bool places_are_stale(const struct places *places)
{
    const struct place_root *workspace = &places->workspace;
    struct stat was;
    struct stat now;

    return workspace->fd >= 0 && fstat(workspace->fd, &was) == 0 &&
           lstat(workspace->host, &now) == 0 &&
           (was.st_dev != now.st_dev || was.st_ino != now.st_ino);
}

static const struct place_root *root_of(const struct places *places, const struct view_place *place)
{
    for (size_t i = 0; i < places->n_binds; i++)
        if (places->binds[i].mount == place->mount)
            return &places->binds[i];
    return NULL;
}

static void print_host(const struct place_root *root, const char *below, char out[2 * PATH_MAX])
{
    (void)snprintf(out, 2 * PATH_MAX, "%s%s%s", root->host[1] || !*below ? root->host : "",
                   *below ? "/" : "", below);
}

char *place_host(const struct place *place)
{
    char host[2 * PATH_MAX];

    if (!place->root->host)
        return NULL;
    print_host(place->root, place->below, host);
    return strdup(host);
}

/* Where tools are limited to some directories, what leads there can still be passed. */
static bool is_in_roots(const struct places *places, const struct place_root *root,
                        const char *below)
{
    char host[2 * PATH_MAX];

    if (!places->roots || !root->host)
        return true;
    print_host(root, below, host);
    for (size_t i = 0; i < places->n_roots; i++)
        if (path_is_within(host, places->roots[i]) || path_is_within(places->roots[i], host))
            return true;
    return false;
}

bool place_roots_holds_limit(const struct places *places, const struct place_root *root,
                             const char *below)
{
    char host[2 * PATH_MAX];

    if (!places->roots || !root->host)
        return false;
    print_host(root, below, host);
    for (size_t i = 0; i < places->n_roots; i++)
        if (path_is_within(places->roots[i], host))
            return true;
    return false;
}

const struct place_root *place_roots_find(const struct places *places, const char *path,
                                          const char **below)
{
    const struct place_root *root = NULL;

    if (places->on_host) {
        *below = path + 1;
        return is_in_roots(places, &places->tools, *below) ? &places->tools : NULL;
    }
    struct view_place place = view_find(places->index, path);
    *below = place.below;
    switch (place.what) {
    case VIEW_IS_WORKSPACE:
        root = &places->workspace;
        break;
    case VIEW_IS_BIND:
        root = root_of(places, &place);
        break;
    case VIEW_IS_TOOLS:
        *below = path + 1;
        root = &places->tools;
        break;
    case VIEW_IS_OWN:
        if (places->tmp.fd >= 0 && path_is_within(path, "/tmp")) {
            *below = path + 4 + (path[4] == '/');
            root = &places->tmp;
        }
        break;
    case VIEW_IS_TMPFS:
    case VIEW_IS_BLOCK:
    case VIEW_NOTHING:
        break;
    }
    return root && is_in_roots(places, root, *below) ? root : NULL;
}

bool place_roots_is_nothing(const struct places *places, const char *path)
{
    return !places->on_host && view_find(places->index, path).what == VIEW_NOTHING;
}

const char *place_roots_link(const struct places *places, const char *path)
{
    if (places->on_host)
        return NULL;
    if (strcmp(path, "/var/tmp") == 0 && view_find(places->index, path).what == VIEW_IS_OWN)
        return "/tmp";
    if (places->link && strcmp(path, places->link) == 0 && place_roots_is_nothing(places, path))
        return places->view;
    return NULL;
}

bool place_roots_is_target(const struct places *places, const char *path)
{
    struct view_place place;

    if (places->on_host)
        return false;
    place = view_find(places->index, path);
    return (place.mount || place.what == VIEW_IS_WORKSPACE) && !*place.below;
}

bool place_roots_holds(const struct places *places, const char *path)
{
    for (size_t i = 0; !places->on_host && i < view_n_targets(places->index); i++)
        if (path_is_within(view_target(places->index, i), path))
            return true;
    return false;
}

int place_roots_refuse(const struct places *places, const char *path, coop_error **err)
{
    if (places->on_host)
        return place_fail(err, EACCES, path,
                          "is outside the directories these tools are limited to");
    struct view_place place = view_find(places->index, path);
    switch (place.what) {
    case VIEW_IS_BLOCK:
        return place_fail(err, EACCES, path,
                          "is hidden by the policy (blocked_paths '%s'): do without it",
                          place.mount->target);
    case VIEW_IS_TMPFS:
        return place_fail(err, EACCES, path,
                          "is in '%s', which is private to each command and ends with it: use "
                          "bash, or a path in '%s'",
                          place.mount->target, places->view);
    case VIEW_IS_OWN:
        return place_fail(err, EACCES, path,
                          "is created separately for each command: use bash, or a path in '%s'",
                          places->view);
    case VIEW_IS_WORKSPACE:
    case VIEW_IS_BIND:
    case VIEW_IS_TOOLS:
        return place_fail(err, EACCES, path,
                          "is outside the directories these tools are limited to");
    case VIEW_NOTHING:
        break;
    }
    const char *left = places->policy->restrict_to;
    if (left && path_is_within(path, places->view))
        return place_fail(err, EACCES, path,
                          "is outside the directories these tools are limited to: only '%s%s' of "
                          "the workspace is available",
                          places->view[1] ? places->view : "", left);
    return place_fail(err, EACCES, path,
                      "is not in the sandbox's view: the project's files are in '%s'",
                      places->view);
}
