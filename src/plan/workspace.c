/*
 * workspace.c - the one directory a command may change, and who the command is on the host
 *
 * An ordinary user's box runs as that user. Root's box never runs as root of the host: it runs as
 * the owner of the workspace, so that files made inside belong to the owner. Where the owner is
 * root, it runs as an unprivileged user, and the workspace is mounted with its owner mapped to that
 * user: files made inside belong to root on the host, like the directory they are in.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "base/fd.h"
#include "plan/kernel_files.h"
#include "plan/plan.h"
#include "plan/workspace_check.h"
#include "policy/path/path.h"
#include "policy/view/defaults.h"
#include "policy/view/place.h"
#include "survey/git_layout.h"
#include "sys/kernel.h"
#include "sys/raw.h"

static int bad_workspace(coop_error **err, int errnum, const char *path, const char *why)
{
    int r = fail_kind(err, COOP_ERROR_BAD_POLICY, errnum, "the workspace '%s' %s", path, why);

    return fail_hint(err, r, "name a directory with --workspace DIR");
}

/* The kernel's own name of the directory behind `fd`: absolute and without links. */
static int name_of(int fd, char out[PATH_MAX], coop_error **err)
{
    char link[64];

    (void)snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t n = readlink(link, out, PATH_MAX - 1);
    if (n < 0)
        return fail(err, errno, "find the path of the workspace in '/proc'");
    out[n] = '\0';
    return 0;
}

static void choose_identity(struct plan *plan, const struct host *host, const struct stat *st)
{
    plan->workspace_uid = st->st_uid;
    plan->workspace_gid = st->st_gid;
    plan->outside_uid = host->uid;
    plan->outside_gid = host->gid;
    if (!host->is_root)
        return;
    plan->map_owners = true;
    plan->outside_uid = st->st_uid ? st->st_uid : PLAN_UNPRIVILEGED_ID;
    plan->outside_gid = st->st_gid ? st->st_gid : PLAN_UNPRIVILEGED_ID;
}

/* The default: the current directory, which may be gone, or out of reach. */
static int name_current(char out[PATH_MAX], coop_error **err)
{
    if (!getcwd(out, PATH_MAX)) {
        int r = fail(err, errno, "find the current directory, which would be the workspace '.'%s",
                     errno == ENOENT ? " (deleted)" : "");

        return fail_hint(err, fail_as(err, r, COOP_ERROR_BAD_POLICY),
                         "name a directory with --workspace DIR");
    }
    return strchr(out, '\n') ? bad_workspace(err, EINVAL, ".", "has a newline in its path") : 0;
}

static bool is_root_directory(const struct stat *st)
{
    struct stat root;

    return stat("/", &root) == 0 && root.st_dev == st->st_dev && root.st_ino == st->st_ino;
}

static int open_workspace(struct plan *plan, const char *asked, coop_error **err)
{
    plan->sources = (struct sources){ .policy = plan->policy, .workspace_fd = -1, .git_fd = -1 };
    int fd = sources_open(&plan->sources, "the workspace", asked, err);

    if (fd == -ENOENT)
        return bad_workspace(err, ENOENT, asked, "does not exist");
    if (fd < 0)
        return fd;
    if (plan_hold_fd(plan, fd) < 0) {
        (void)close(fd);
        return fail_no_memory(err);
    }
    sources_done(&plan->sources); /* from here on the workspace is one of the places */
    plan->sources.workspace_fd = fd;
    return fd;
}

/* Where it stands on the host; only where somebody will see it, since the kernel takes its time. */
static int name_workspace(struct plan *plan, int fd, const char *asked, coop_error **err)
{
    char path[PATH_MAX];
    int r = name_of(fd, path, err);

    if (r < 0)
        return r;
    if (strchr(path, '\n'))
        return bad_workspace(err, EINVAL, asked, "has a newline in its path");
    plan->workspace = plan_copy(plan, path);
    return 0;
}

static void choose_directory(struct plan *plan, const struct plan_request *request)
{
    const char *directory = request->directory ? request->directory : plan->policy->directory;

    if (!directory)
        plan->directory = plan->workspace_view;
    else if (*directory == '/')
        plan->directory = plan_copy(plan, directory);
    else
        plan->directory = plan_text(plan, "%s/%s",
                                    plan->workspace_view[1] ? plan->workspace_view : "", directory);
}

/*
 * The part of the workspace that is shown. Whoever may write in the workspace could put a link in the
 * place of any part of the path, so none is followed, and what was found is what will be mounted.
 */
static int open_beneath(int fd, const char *below)
{
    const struct kernel_open_how how = {
        .flags = O_PATH | O_DIRECTORY | O_CLOEXEC,
        .resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS,
    };
    long r;

    do /* a rename anywhere on the host may ask for another try */
        r = raw(NR_OPENAT2, fd, below, &how, sizeof how);
    while (r == -EAGAIN);
    return (int)r;
}

static int restrict_workspace(struct plan *plan, coop_error **err)
{
    const char *below = plan->policy->restrict_to + 1;
    int fd = open_beneath(plan->workspace_fd, below);

    if (fd < 0) {
        const char *why = fd == -ENOENT    ? "does not exist in it"
                          : fd == -ELOOP   ? "is or leads through a symbolic link"
                          : fd == -ENOTDIR ? "is not a directory"
                                           : "cannot be opened";
        int r = fail_kind(err, COOP_ERROR_BAD_POLICY, -fd,
                          "the workspace '%s' is restricted to '%s', which %s", plan->workspace,
                          below, why);

        return fail_hint(err, r, "name a directory of the workspace with --restrict DIR");
    }
    int r = fd_lift(&fd);
    if (r < 0 || plan_hold_fd(plan, fd) < 0) {
        (void)close(fd);
        return fail_no_memory(err);
    }
    const char *view = plan->workspace_view[1] ? plan->workspace_view : "";
    plan->shown = (struct plan_shown){ .source = plan_text(plan, "%s/%s", plan->workspace, below),
                                       .target = plan_text(plan, "%s/%s", view, below),
                                       .below = below,
                                       .fd = fd };
    if (plan->policy->root &&
        view_default_takes(view_rows(plan->policy), plan->policy->restrict_to))
        return fail_kind(err, COOP_ERROR_BAD_POLICY, EINVAL,
                         "the root '%s' is restricted to '%s', but the box has its own there",
                         plan->workspace, plan->policy->restrict_to);
    return 0;
}

static int choose_shown(struct plan *plan, coop_error **err)
{
    plan->shown =
        (struct plan_shown){ plan->workspace, plan->workspace_view, "", plan->workspace_fd };
    return plan->policy->restrict_to ? restrict_workspace(plan, err) : 0;
}

/* Nothing else of the view is there or around it: a link could not be made, or would be made elsewhere. */
static bool is_free(const coop_policy *policy, const char *path)
{
    for (size_t i = 0; i < policy->n_mounts; i++)
        if (path_is_within(path, policy->mounts[i].target))
            return false;
    return view_default(policy, path) == VIEW_NOTHING;
}

/* For commands that name files as the host has them. */
static void link_own_path(struct plan *plan)
{
    char own[PATH_MAX];

    if (plan->policy->links_own_path && !plan->policy->root &&
        name_of(plan->workspace_fd, own, NULL) == 0 && is_free(plan->policy, own))
        plan->git.link = plan_copy(plan, own);
}

/* A git directory elsewhere comes along; some only work where the workspace is on the host. */
static int find_git(struct plan *plan, bool *same_path, coop_error **err)
{
    struct git_layout layout;

    git_layout_find(plan->workspace_fd, &layout);
    if (layout.has_worktrees && !*same_path)
        plan->git.link = plan_copy(plan, layout.workspace);
    else if (!*same_path)
        link_own_path(plan);
    if (!layout.is_outside)
        return plan->failed ? fail_no_memory(err) : 0;
    plan->git.fd = plan->sources.git_fd = layout.fd;
    if (plan_hold_fd(plan, layout.fd) < 0) {
        (void)close(layout.fd);
        return fail_no_memory(err);
    }
    plan->git.source = plan_copy(plan, layout.source);
    plan->git.target = plan_copy(plan, layout.target);
    if (!*same_path)
        plan->git.link = layout.needs_same_path ? "/work" : plan_copy(plan, layout.workspace);
    *same_path = *same_path || layout.needs_same_path;
    return plan->failed ? fail_no_memory(err) : 0;
}

int plan_workspace(struct plan *plan, const struct host *host, const struct plan_request *request,
                   coop_error **err)
{
    char current[PATH_MAX];
    const char *asked = plan->policy->root ? plan->policy->root : plan->policy->workspace;
    bool same_path = plan->policy->same_path || plan->tier < COOP_TIER_NAMESPACES;
    bool is_root = plan->policy->root && plan->tier >= COOP_TIER_NAMESPACES;
    struct stat st;

    plan->is_root_view = is_root && !plan->policy->restrict_to;
    if (plan->policy->root && plan->tier == COOP_TIER_LANDLOCK)
        return fail_kind(
            err, COOP_ERROR_NOT_AVAILABLE, ENOTSUP,
            "the directory '%s' cannot be the root: this host refuses the namespaces that it needs",
            asked);
    if (!asked) {
        int r = name_current(current, err);

        if (r < 0)
            return r;
        asked = plan_copy(plan, current);
        if (!asked)
            return fail_no_memory(err);
    }
    int fd = open_workspace(plan, asked, err);
    if (fd < 0)
        return fd;
    if (fstat(fd, &st) < 0)
        return fail(err, errno, "look at the workspace '%s'", asked);
    if (!S_ISDIR(st.st_mode))
        return bad_workspace(err, ENOTDIR, asked, "is not a directory");
    if (is_root_directory(&st))
        return bad_workspace(err, EINVAL, asked, "is '/', the whole host");
    if (plan->tier > COOP_TIER_NONE) {
        int r = kernel_files_refuse(fd, "the workspace", asked, err);

        if (r == 0)
            r = workspace_check(plan->policy, fd, asked, err);
        if (r == 0)
            r = workspace_check_index(plan->policy, fd, asked, err);
        if (r < 0)
            return r;
    }
    choose_identity(plan, host, &st);
    plan->workspace_fd = fd;
    plan->workspace = asked;
    if (plan->tier >= COOP_TIER_NAMESPACES && !plan->policy->restrict_to) {
        int r = find_git(plan, &same_path, err);

        if (r < 0)
            return r;
    }
    if (plan->is_root_view && plan->git.link && strcmp(plan->git.link, "/work") == 0)
        plan->git.link = NULL; /* that is for a workspace that moved to its own path */
    if (same_path || request->is_for_reading) {
        int r = name_workspace(plan, fd, asked, err);

        if (r < 0)
            return r;
    }
    plan->workspace_view = is_root ? "/" : same_path ? plan->workspace : "/work";
    if (plan->git.link && !is_root && path_is_within(plan->git.link, plan->workspace_view))
        plan->git.link = NULL; /* it would be made in the workspace itself */
    int r = choose_shown(plan, err);
    if (r < 0)
        return r;
    choose_directory(plan, request);
    return plan->failed ? fail_no_memory(err) : 0;
}
