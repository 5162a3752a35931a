#include "sources.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "plan/kernel_files.h"
#include "plan/plan.h"

static void add_place(struct sources *sources, const struct stat *st)
{
    sources->places[sources->n_places++] = (struct source_place){ st->st_dev, st->st_ino };
}

/* Where commands can put links. A mount that is no longer there has none. */
static int find_places(struct sources *sources, coop_error **err)
{
    const coop_policy *policy = sources->policy;
    const int fds[] = { sources->workspace_fd, sources->git_fd };
    struct stat st;

    if (sources->places)
        return 0;
    sources->places = calloc(policy->n_mounts + COUNT(fds) + 1, sizeof *sources->places);
    if (!sources->places)
        return fail_no_memory(err);
    for (size_t i = 0; i < COUNT(fds); i++)
        if (fds[i] >= 0 && fstat(fds[i], &st) == 0)
            add_place(sources, &st);
    for (size_t i = 0; i < policy->n_mounts; i++) {
        const struct policy_mount *mount = &policy->mounts[i];

        if (mount->kind == POLICY_BIND && (!mount->read_only || mount->is_replaceable) &&
            stat(mount->source, &st) == 0)
            add_place(sources, &st);
    }
    if (stat(".", &st) < 0)
        st = (struct stat){ 0 }; /* gone: nothing is opened from there */
    add_place(sources, &st);
    return 0;
}

void sources_done(struct sources *sources)
{
    free(sources->places);
    sources->places = NULL;
    sources->n_places = 0;
}

static int fail_link(const char *what, const char *path, const char *link, coop_error **err)
{
    int r =
        fail_kind(err, COOP_ERROR_BAD_POLICY, ELOOP,
                  "%s '%s' leads through the symbolic link '%s', which a command may have created",
                  what, path, link);

    return fail_hint(err, r,
                     "look where it leads; name that place instead if it is what you want, or "
                     "remove the link");
}

static int fail_open(const char *what, const char *path, int r, coop_error **err)
{
    return fail_as(err, fail(err, -r, "open %s '%s'", what, path), COOP_ERROR_BAD_POLICY);
}

int sources_open(struct sources *sources, const char *what, const char *path, coop_error **err)
{
    char link[PATH_MAX];
    int fd = source_open_straight(path);

    if (fd == -ELOOP) {
        int r = find_places(sources, err);

        if (r < 0)
            return r;
        /* The current directory is the workspace of other runs: what is named relative to it. */
        fd = source_open(path, sources->places, sources->n_places - (*path == '/'), link);
        if (fd < 0 && *link)
            return fail_link(what, path, link, err);
    }
    return fd < 0 ? fail_open(what, path, fd, err) : fd;
}

int sources_find(const char *what, const char *path, const char *base, char **out, coop_error **err)
{
    struct source_place place = { 0 };
    char text[PATH_MAX];
    struct stat st;

    if (stat(base, &st) == 0)
        place = (struct source_place){ st.st_dev, st.st_ino };
    auto_close int fd = source_open(path, &place, 1, text);
    if (fd < 0)
        return *text ? fail_link(what, path, text, err) : fail_open(what, path, fd, err);
    int r = source_name(fd, text);
    if (r < 0)
        return fail(err, -r, "find the path of %s '%s' in '/proc'", what, path);
    *out = strdup(text);
    return *out ? 0 : fail_no_memory(err);
}

int plan_open_source(struct plan *plan, const char *path, coop_error **err)
{
    int fd = sources_open(&plan->sources, "the mount source", path, err);

    if (fd < 0)
        return fd;
    if (plan_hold_fd(plan, fd) < 0) {
        (void)close(fd);
        return fail_no_memory(err);
    }
    int r = kernel_files_refuse(fd, "the mount source", path, err);
    return r < 0 ? r : fd;
}

int plan_source(struct plan *plan, size_t mount, coop_error **err)
{
    const coop_policy *policy = plan->policy;

    if (!plan->source_fds)
        plan->source_fds = plan_memory(plan, policy->n_mounts * sizeof *plan->source_fds);
    if (!plan->source_fds)
        return fail_no_memory(err);
    if (plan->source_fds[mount] == 0) {
        int fd = plan_open_source(plan, policy->mounts[mount].source, err);

        if (fd < 0)
            return fd;
        plan->source_fds[mount] = fd;
    }
    return plan->source_fds[mount];
}
