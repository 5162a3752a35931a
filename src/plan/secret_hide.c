#include "secret_hide.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "plan/secret_alias.h"
#include "policy/path/canonical.h"
#include "policy/path/path.h"
#include "policy/protect.h"
#include "policy/secret_places.h"
#include "sys/source.h"

#define HOMES     "/home"
#define HOMES_MAX 4096

/* A directory of the host that the box shows. */
struct hide_view {
    char *real;
    const char *target; /* NULL: the workspace, whose blocks are relative */
    bool is_workspace;
    bool is_writable; /* a mount: the workspace has rules of its own */
    bool is_store;    /* of memory: coop's own, shown one by one */
};

struct hiding {
    coop_policy *policy;
    struct hide_view *views;
    size_t n_views;
    struct source_places writable;
    struct secret_mounts mounts;
    bool is_own; /* what is being hidden is coop's */
    coop_error **err;
};

static void done(struct hiding *hiding)
{
    for (size_t i = 0; i < hiding->n_views; i++)
        free(hiding->views[i].real);
    free(hiding->views);
    free(hiding->writable.items);
    secret_mounts_done(&hiding->mounts);
}

/* What of the host is shown. What cannot be found is for the plan to complain about. */
static int find_views(struct hiding *hiding, const char *workspace)
{
    const coop_policy *policy = hiding->policy;
    const char *own = policy->root        ? policy->root
                      : policy->workspace ? policy->workspace
                      : workspace         ? workspace
                                          : ".";

    hiding->views = calloc(policy->n_mounts + 1, sizeof *hiding->views);
    if (!hiding->views)
        return fail_no_memory(hiding->err);
    hiding->views[0].is_workspace = true;
    hiding->views[0].real = realpath(own, NULL);
    hiding->n_views = 1;
    for (size_t i = 0; i < policy->n_mounts; i++) {
        const struct policy_mount *mount = &policy->mounts[i];
        char *real = mount->kind == POLICY_BIND ? realpath(mount->source, NULL) : NULL;

        if (real)
            hiding->views[hiding->n_views++] = (struct hide_view){ .real = real,
                                                                   .target = mount->target,
                                                                   .is_writable = !mount->read_only,
                                                                   .is_store = mount->is_store };
    }
    return 0;
}

static int find_writable(struct hiding *hiding)
{
    struct source_places *places = &hiding->writable;
    struct stat st;

    places->items = calloc(hiding->n_views + 1, sizeof *places->items);
    if (!places->items)
        return fail_no_memory(hiding->err);
    for (size_t i = 0; i < hiding->n_views; i++) {
        const struct hide_view *view = &hiding->views[i];
        bool is_writable = view->is_workspace ? !hiding->policy->read_only : view->is_writable;

        if (is_writable && view->real && stat(view->real, &st) == 0)
            places->items[places->n++] = (struct source_place){ st.st_dev, st.st_ino };
    }
    return 0;
}

/* ---- one secret */

/* Blocked already, or something else is mounted there. */
static bool is_there(const coop_policy *policy, const char *target)
{
    for (size_t i = 0; i < policy->n_mounts; i++)
        if (strcmp(policy->mounts[i].target, target) == 0)
            return true;
    return false;
}

static int refuse_own(struct hiding *hiding, const struct hide_view *view, const char *path)
{
    int r = fail_kind(hiding->err, COOP_ERROR_BAD_POLICY, EPERM,
                      "the %s '%s' would show a box coop's own files in '%s'",
                      view->is_workspace ? "workspace" : "mount source", view->real, path);

    return fail_hint(hiding->err, r, "no box may see them: show something else");
}

/* What is hidden is empty in the box, so there is nothing in it to mount on. */
static int check_inside(const struct hiding *hiding, const char *target)
{
    for (size_t i = 0; i < hiding->policy->n_mounts; i++) {
        const struct policy_mount *mount = &hiding->policy->mounts[i];

        if (mount->kind == POLICY_BLOCK || !path_is_within(mount->target, target))
            continue;
        int r = fail_kind(hiding->err, COOP_ERROR_BAD_POLICY, EINVAL,
                          "the mount at '%s' lies in '%s', which is hidden because secrets are "
                          "kept there",
                          mount->target, target);
        return fail_hint(hiding->err, r, "mount it elsewhere: --ro %s:/PLACE",
                         mount->source ? mount->source : "SOURCE");
    }
    return 0;
}

static int block(struct hiding *hiding, const struct hide_view *view, const char *rest, bool is_own)
{
    auto_free char *target = NULL;
    int n = view->is_workspace
                ? asprintf(&target, "%s%s", hiding->policy->root ? "/" : "", rest)
                : asprintf(&target, "%s/%s", view->target[1] ? view->target : "", rest);

    if (n < 0) {
        target = NULL;
        return fail_no_memory(hiding->err);
    }
    if (is_there(hiding->policy, target))
        return 0;
    int r = *target == '/' ? check_inside(hiding, target) : 0;
    if (r == 0)
        r = coop_policy_add_block(hiding->policy, target, hiding->err);
    if (r < 0)
        return r;
    struct policy_mount *last = &hiding->policy->mounts[hiding->policy->n_mounts - 1];
    last->is_secret = true;
    last->is_own = is_own;
    return policy_note_origin(hiding->policy, (struct origin){ "built in", 0, 0 }, hiding->err);
}

/* Memory stores lie in coop's own directories and are shown one by one; and an empty directory is what
 * programs see that are asked for their manifest (supervise/manifest_ask.c). */
static bool is_for_boxes(const struct hide_view *view, const char *own)
{
    return view->is_store ||
           (view->is_workspace && strcmp(view->real + strlen(own), "/manifests/empty") == 0);
}

static int hide_at(void *context, const char *real)
{
    struct hiding *hiding = context;
    bool is_own = hiding->is_own;
    int r = 0;

    for (size_t i = 0; r == 0 && i < hiding->n_views; i++) {
        const struct hide_view *view = &hiding->views[i];

        if (!view->real)
            continue;
        if (path_is_within(view->real, real)) {
            r = is_own && !is_for_boxes(view, real) ? refuse_own(hiding, view, real) : 0;
        } else if (path_is_within(real, view->real)) {
            r = block(hiding, view, real + strlen(view->real) + (view->real[1] != '\0'), is_own);
        }
    }
    return r;
}

/* At every path that the host's mounts give it. */
static int hide_real(struct hiding *hiding, const char *real, bool is_own)
{
    hiding->is_own = is_own;
    int r = hide_at(hiding, real);

    return r < 0 ? r : secret_each_alias(&hiding->mounts, real, hide_at, hiding);
}

static int hide_path(struct hiding *hiding, const char *path, bool exists)
{
    char real[PATH_MAX];
    bool is_found = exists ? realpath(path, real) != NULL : path_canonical(path, real) == 0;

    return is_found && !hiding->policy->no_protect_defaults ? hide_real(hiding, real, false) : 0;
}

/* ---- coop's own files */

/* A link cannot be hidden: whoever changes it chooses what coop obeys. */
static int check_links(struct hiding *hiding, const char *path)
{
    char link[PATH_MAX];
    int fd = source_open(path, hiding->writable.items, hiding->writable.n, link);

    close_fd(&fd); /* only where links lead is asked */
    if (!*link)
        return 0;
    int r = fail_kind(hiding->err, COOP_ERROR_BAD_POLICY, ELOOP,
                      "coop's own '%s' is found through the symbolic link '%s', which a box could "
                      "change",
                      path, link);
    return fail_hint(hiding->err, r,
                     "let the box write a directory without that link, or replace the link by what "
                     "it leads to");
}

static int hide_own_path(struct hiding *hiding, const char *path)
{
    char real[PATH_MAX];
    int r = check_links(hiding, path);

    if (r < 0)
        return r;
    r = path_canonical(path, real);
    return r < 0 ? fail(hiding->err, -r, "hide coop's own '%s'", path)
                 : hide_real(hiding, real, true);
}

/* What coop reads and writes in its own directories, and may lie elsewhere behind a link. The link
 * itself is hidden with its directory. */
static int hide_linked(struct hiding *hiding, const char *directory)
{
    static const char *const names[] = { "coop.toml", "allowed", "audit", "memory" };
    char real[PATH_MAX];
    char link[PATH_MAX];
    int r = 0;

    auto_close int fd = open(directory, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0 || source_name(fd, real) < 0)
        return 0;
    for (size_t i = 0; r == 0 && i < COUNT(names); i++) {
        auto_free char *path = NULL;
        ssize_t n = readlinkat(fd, names[i], link, sizeof link - 1);

        if (n <= 0)
            continue;
        link[n] = '\0';
        path = *link == '/' ? strdup(link) : path_join(real, link);
        r = path ? hide_own_path(hiding, path) : fail_no_memory(hiding->err);
    }
    return r;
}

/* There or not: what a box makes, the next run would obey. */
static int hide_own_directory(struct hiding *hiding, const char *path)
{
    int r = hide_own_path(hiding, path);

    return r < 0 ? r : hide_linked(hiding, path);
}

/* ---- all of them */

static bool is_shown(const struct hiding *hiding, const char *real)
{
    for (size_t i = 0; i < hiding->n_views; i++)
        if (hiding->views[i].real && path_is_within(real, hiding->views[i].real))
            return true;
    return false;
}

/* The directory of a place in a home, as it was looked for last: several stand in each. */
struct looked {
    const char *path; /* of one place in it; NULL: none yet */
    size_t length;
    bool is_there;
};

static bool exists_below(int fd, const char *path, struct looked *looked)
{
    const char *slash = strrchr(path, '/');
    size_t length = slash ? (size_t)(slash - path) : 0;
    char directory[256];
    struct stat st;

    if (length > 0 && length < sizeof directory) {
        if (!looked->path || looked->length != length || strncmp(looked->path, path, length) != 0) {
            memcpy(directory, path, length);
            directory[length] = '\0';
            *looked = (struct looked){ path, length, fstatat(fd, directory, &st, 0) == 0 };
        }
        if (!looked->is_there)
            return false;
    }
    return fstatat(fd, path, &st, AT_SYMLINK_NOFOLLOW) == 0;
}

/* Most are not there, and one look says so. Where the home is shown they are blocked all the same: they
 * may be there when the next box starts. */
static int hide_below(struct hiding *hiding, const char *home)
{
    char real[PATH_MAX];
    char path[PATH_MAX];
    struct looked looked = { 0 };
    int r = 0;
    auto_close int fd = open(home, O_PATH | O_DIRECTORY | O_CLOEXEC);
    bool is_whole = fd >= 0 && realpath(home, real) && is_shown(hiding, real);

    /* Who cannot look into it reads and makes nothing in it, and neither does a box of theirs. */
    if (fd >= 0 && !is_whole && faccessat(fd, ".", X_OK, AT_EACCESS) < 0 && errno == EACCES)
        return 0;
    for (size_t i = 0; r == 0 && i < secret_n_places; i++) {
        const struct secret_place *place = &secret_places[i];
        bool exists = fd >= 0 && *place->path != '/' && exists_below(fd, place->path, &looked);

        if (*place->path == '/' || (!exists && !is_whole && !place->is_own))
            continue;
        int n = snprintf(path, sizeof path, "%s/%s", home[1] ? home : "", place->path);
        if (n < 0 || (size_t)n >= sizeof path)
            r = fail(hiding->err, ENAMETOOLONG, "hide '%s' in '%s'", place->path, home);
        else
            r = place->is_own ? hide_own_directory(hiding, path) : hide_path(hiding, path, exists);
    }
    return r;
}

static void close_directory(DIR **directory)
{
    if (*directory)
        (void)closedir(*directory);
}

/* The names of a directory that the last name of `pattern` matches. */
static int hide_names(struct hiding *hiding, const char *pattern)
{
    char path[PATH_MAX];
    const char *last = strrchr(pattern, '/') + 1;
    int r = 0;

    (void)snprintf(path, sizeof path, "%.*s", (int)(last - pattern), pattern);
    __attribute__((cleanup(close_directory))) DIR *directory = opendir(path);
    for (const struct dirent *entry; r == 0 && directory && (entry = readdir(directory));)
        if (fnmatch(last, entry->d_name, 0) == 0) {
            (void)snprintf(path, sizeof path, "%.*s%s", (int)(last - pattern), pattern,
                           entry->d_name);
            r = hide_path(hiding, path, true);
        }
    return r;
}

static int hide_of_host(struct hiding *hiding)
{
    int r = 0;

    for (size_t i = 0; r == 0 && i < secret_n_places; i++) {
        const struct secret_place *place = &secret_places[i];

        if (*place->path == '/')
            r = place->is_own              ? hide_own_directory(hiding, place->path)
                : strchr(place->path, '*') ? hide_names(hiding, place->path)
                                           : hide_path(hiding, place->path, true);
    }
    return r;
}

/* Coop's own, where the environment or the configuration says that they are. */
static int hide_own(struct hiding *hiding)
{
    static const char *const variables[] = { "XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_DATA_HOME",
                                             "XDG_CACHE_HOME" };
    char path[PATH_MAX];
    int r = 0;

    for (size_t i = 0; r == 0 && i < COUNT(variables); i++) {
        const char *base = getenv(variables[i]);

        if (!base || *base != '/')
            continue;
        int n = snprintf(path, sizeof path, "%s/coop", base[1] ? base : "");
        if (n > 0 && (size_t)n < sizeof path)
            r = hide_own_directory(hiding, path);
    }
    if (r == 0 && hiding->policy->memory && *hiding->policy->memory == '/')
        r = hide_own_path(hiding, hiding->policy->memory);
    return r;
}

static int is_near_view(void *context, const char *path)
{
    const struct hiding *hiding = context;

    for (size_t i = 0; i < hiding->n_views; i++)
        if (hiding->views[i].real && (path_is_within(path, hiding->views[i].real) ||
                                      path_is_within(hiding->views[i].real, path)))
            return 1;
    return 0;
}

/* Other people's homes matter only where a mount shows where homes are. */
static bool shows_homes(struct hiding *hiding)
{
    return is_near_view(hiding, HOMES) ||
           secret_each_alias(&hiding->mounts, HOMES, is_near_view, hiding);
}

/* -E2BIG: there are too many. */
static int each_of_others(int (*each)(void *context, const char *home), void *context)
{
    char path[PATH_MAX];
    int r = 0;
    size_t n = 0;
    __attribute__((cleanup(close_directory))) DIR *homes = opendir(HOMES);

    for (const struct dirent *entry; r == 0 && homes && (entry = readdir(homes));) {
        if (*entry->d_name == '.')
            continue;
        (void)snprintf(path, sizeof path, HOMES "/%s", entry->d_name);
        r = ++n > HOMES_MAX ? -E2BIG : each(context, path);
    }
    return r;
}

/* ---- what a login runs, where a home can be written */

static int keep(struct hiding *hiding, const struct hide_view *view, const char *path)
{
    auto_free char *target = NULL;
    char real[PATH_MAX];

    /* Where it lies, which may be behind a link. */
    if (!realpath(path, real) || !path_is_within(real, view->real))
        return 0;
    if (asprintf(&target, "%s%s", view->target[1] ? view->target : "",
                 real + (view->real[1] ? strlen(view->real) : 0)) < 0) {
        target = NULL;
        return fail_no_memory(hiding->err);
    }
    if (is_there(hiding->policy, target))
        return 0;
    int r = coop_policy_add_bind(hiding->policy, real, target, true, hiding->err);
    return r < 0 ? r
                 : policy_note_origin(hiding->policy, (struct origin){ "built in", 0, 0 },
                                      hiding->err);
}

/* What there is. Notify lets nobody make the rest: plan/protect.c. */
static int keep_below(struct hiding *hiding, const struct hide_view *view, const char *home)
{
    char path[PATH_MAX];
    int r = 0;

    for (size_t i = 0; r == 0 && i < protect_n_defaults; i++) {
        const struct protect_rule *rule = &protect_defaults[i];

        if (rule->action != COOP_PROTECT_KEEP || rule->conditions || strchr(rule->pattern, '*'))
            continue;
        int n = snprintf(path, sizeof path, "%s/%s", home[1] ? home : "", rule->pattern);
        if (n > 0 && (size_t)n < sizeof path)
            r = keep(hiding, view, path);
    }
    return r;
}

static int keep_in_views(struct hiding *hiding, const char *home)
{
    char real[PATH_MAX];
    int r = 0;

    if (hiding->policy->no_protect_defaults || !realpath(home, real))
        return 0;
    for (size_t i = 0; r == 0 && i < hiding->n_views; i++)
        if (hiding->views[i].is_writable && path_is_within(real, hiding->views[i].real))
            r = keep_below(hiding, &hiding->views[i], real);
    return r;
}

/* ---- all homes */

static int hide_in_home(void *context, const char *home)
{
    struct hiding *hiding = context;
    int r = hide_below(hiding, home);

    return r < 0 ? r : keep_in_views(hiding, home);
}

/* By all its paths: what is not there yet, and what a login runs, is found by the path that is shown. */
static int hide_in_aliases(void *context, const char *home)
{
    struct hiding *hiding = context;
    char real[PATH_MAX];
    int r = hide_in_home(hiding, home);

    return r < 0 || !realpath(home, real)
               ? r
               : secret_each_alias(&hiding->mounts, real, hide_in_home, hiding);
}

static int hide_in_homes(struct hiding *hiding)
{
    const char *home = getenv("HOME");
    int r = home && *home == '/' ? hide_in_aliases(hiding, home) : 0;

    if (r == 0)
        r = hide_in_aliases(hiding, "/root");
    if (r == 0 && shows_homes(hiding))
        r = each_of_others(hide_in_aliases, hiding);
    return r == -E2BIG ? fail(hiding->err, E2BIG,
                              "hide the secrets of more than %d home directories", HOMES_MAX)
                       : r;
}

struct homes_in {
    const char *real;
    const struct secret_mounts *mounts;
    int (*each)(void *context, const char *rest);
    void *context;
};

static int tell_if_within(void *context, const char *real)
{
    const struct homes_in *in = context;

    return path_is_within(real, in->real)
               ? in->each(in->context, real + (in->real[1] ? strlen(in->real) : 0))
               : 0;
}

static int tell_home(void *context, const char *home)
{
    const struct homes_in *in = context;
    char real[PATH_MAX];

    if (!realpath(home, real))
        return 0;
    int r = tell_if_within(context, real);
    return r ? r : secret_each_alias(in->mounts, real, tell_if_within, context);
}

int secret_each_home(const char *real, int (*each)(void *context, const char *rest), void *context)
{
    struct secret_mounts mounts;
    struct homes_in in = { real, &mounts, each, context };
    const char *home = getenv("HOME");
    int r = secret_mounts_read(&mounts, NULL);

    if (r < 0)
        return r;
    r = home && *home == '/' ? tell_home(&in, home) : 0;

    if (r == 0)
        r = tell_home(&in, "/root");
    if (r == 0 && (path_is_within(HOMES, real) || path_is_within(real, HOMES)))
        r = each_of_others(tell_home, &in);
    secret_mounts_done(&mounts);
    return r;
}

const char *secret_below_home(const char *real)
{
    const char *home = getenv("HOME");
    char own[PATH_MAX];
    size_t n = 0;

    if (home && *home == '/' && realpath(home, own) && path_is_within(real, own))
        n = strlen(own);
    else if (path_is_within(real, "/root"))
        n = 5;
    else if (path_is_within(real, HOMES) && real[strlen(HOMES)])
        n = strlen(HOMES) + 1 + strcspn(real + strlen(HOMES) + 1, "/");
    return n == 0 ? NULL : real[n] == '/' ? real + n + 1 : real + n;
}

int secret_hide(coop_policy *policy, const char *workspace, coop_error **err)
{
    struct hiding hiding = { .policy = policy, .err = err };

    if (policy->mode == COOP_MODE_DISABLED)
        return 0;
    int r = secret_mounts_read(&hiding.mounts, err);
    if (r == 0)
        r = find_views(&hiding, workspace);
    if (r == 0)
        r = find_writable(&hiding);
    if (r == 0)
        r = hide_in_homes(&hiding);
    if (r == 0)
        r = hide_own(&hiding);
    if (r == 0)
        r = hide_of_host(&hiding);
    done(&hiding);
    return r;
}

/* ---- warning */

bool secret_is_wide(const struct policy_mount *mount, const char **what)
{
    const char *home = getenv("HOME");
    char real[PATH_MAX];
    char real_home[PATH_MAX] = "";

    if (mount->kind != POLICY_BIND || !realpath(mount->source, real))
        return false;
    if (home && *home == '/' && !realpath(home, real_home))
        real_home[0] = '\0';
    *what = strcmp(real, "/etc") == 0 ? "the host's settings"
            : path_is_within(HOMES, real) || path_is_within("/root", real) ||
                    (real_home[0] && path_is_within(real_home, real))
                ? "a whole home directory"
                : NULL;
    return *what != NULL;
}
