#include "protect_binds.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "policy/path/path.h"
#include "policy/secret_places.h"

#define WRITABLE_MAX 128 /* each brings its own rules to notify */

/* A tree that was searched, perhaps for several mounts. */
struct bind_tree {
    struct bind_tree *next;
    dev_t dev;
    ino_t ino;
    struct protect_scan scan;
};

/* ---- one tree */

static const struct protect_scan *find_scan(const struct plan_protected *protected,
                                            const struct stat *st)
{
    for (const struct bind_tree *tree = protected->binds; tree; tree = tree->next)
        if (tree->dev == st->st_dev && tree->ino == st->st_ino)
            return &tree->scan;
    return NULL;
}

static int search(struct plan *plan, const char *source, int fd, const struct protect_scan **out,
                  coop_error **err)
{
    struct plan_protected *protected = plan->protected;
    const struct protect_scan_options options = {
        .cache_directory = protect_cache_directory(plan),
        .is_beside = true,
    };
    struct stat st;

    if (fstat(fd, &st) < 0)
        return fail(err, errno, "look at the mount source '%s'", source);
    *out = find_scan(protected, &st);
    if (*out)
        return 0;
    struct bind_tree *tree = calloc(1, sizeof *tree);
    if (!tree)
        return fail_no_memory(err);
    tree->dev = st.st_dev;
    tree->ino = st.st_ino;
    tree->next = protected->binds;
    protected->binds = tree;
    int r = protect_scan(fd, protected->rules, &options, &tree->scan, err);
    if (r < 0) {
        r = fail_within(err, r, "search the mount source '%s' for protected names", source);
        return fail_hint(err, r, "mount a smaller directory, or show all of it with --no-protect");
    }
    *out = &tree->scan;
    return 0;
}

static int add_tree(struct plan *plan, const struct policy_mount *mount, const char *source, int fd,
                    coop_error **err)
{
    const struct protect_scan *scan = NULL;
    int r = search(plan, source, fd, &scan, err);

    if (r == 0)
        protect_place_add(plan, &(struct shown_tree){ .mount = mount->target,
                                                      .target = mount->target,
                                                      .below = "",
                                                      .root_fd = fd,
                                                      .scan = scan,
                                                      .is_beside = true,
                                                      .is_read_only = mount->read_only });
    return r;
}

/* ---- mounts */

static int add_bind(struct plan *plan, size_t i, const char *workspace, coop_error **err)
{
    const struct policy_mount *mount = &plan->policy->mounts[i];
    char source[PATH_MAX];
    struct stat st;
    int fd = plan_source(plan, i, err);

    if (fd < 0)
        return fd;
    int r = source_name(fd, source);
    if (r < 0)
        return fail(err, -r, "find the path of '%s' in '/proc'", mount->source);
    if (fstat(fd, &st) < 0)
        return fail(err, errno, "look at the mount source '%s'", mount->source);
    /* Parts of the workspace have its rules. */
    if (!S_ISDIR(st.st_mode) || path_is_within(source, workspace) || secret_is_system(source))
        return 0;
    return add_tree(plan, mount, source, fd, err);
}

int protect_binds(struct plan *plan, coop_error **err)
{
    const coop_policy *policy = plan->policy;
    char workspace[PATH_MAX];
    size_t n_writable = 0;
    int r = source_name(plan->workspace_fd, workspace);

    if (r < 0)
        return fail(err, -r, "find the path of the workspace in '/proc'");
    for (size_t i = 0; r == 0 && i < policy->n_mounts; i++) {
        const struct policy_mount *mount = &policy->mounts[i];
        size_t n_places = plan->protected->n_places;

        if (mount->kind != POLICY_BIND || mount->is_store)
            continue;
        r = add_bind(plan, i, workspace, err);
        n_writable += mount->read_only ? 0 : plan->protected->n_places - n_places;
    }
    if (r == 0 && n_writable > WRITABLE_MAX)
        r = fail_kind(err, COOP_ERROR_BAD_POLICY, E2BIG,
                      "%zu writable mounts of directories are more than %d", n_writable,
                      WRITABLE_MAX);
    return r;
}

/* ---- all of them */

bool protect_binds_ignore_case(const struct plan_protected *protected)
{
    for (const struct bind_tree *tree = protected->binds; tree; tree = tree->next)
        if (tree->scan.ignores_case)
            return true;
    return false;
}

size_t protect_binds_n_found(const struct plan_protected *protected)
{
    size_t n = 0;

    for (const struct bind_tree *tree = protected->binds; tree; tree = tree->next)
        n += tree->scan.n_found;
    return n;
}

void protect_binds_done(struct plan_protected *protected)
{
    while (protected->binds) {
        struct bind_tree *tree = protected->binds;

        protected->binds = tree->next;
        protect_scan_done(&tree->scan);
        free(tree);
    }
}
