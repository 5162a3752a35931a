#include "workspace_check.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "base/printable.h"
#include "policy/view/defaults.h"
#include "survey/git_index.h"

#define HOMES     "/home"
#define DEPTH_MAX 128 /* directories from a home up to the root */

/* ---- names of a root */

static int refuse_names(const char *path, const char *names, const char *why, coop_error **err)
{
    auto_buffer struct buffer text = { 0 };

    for (const char *p = names; *p; p += strlen(p) + 1) {
        buffer_append_string(&text, p == names ? "" : ", ");
        printable_append(&text, p, strlen(p));
    }
    if (text.failed)
        return fail_no_memory(err);
    int r =
        fail_kind(err, COOP_ERROR_BAD_POLICY, EEXIST,
                  "the directory '%s' cannot be the root, because %s: %s", path, why, text.data);
    return fail_hint(err, r, "show it as the workspace instead: --workspace, or sandbox.workspace");
}

int workspace_refuse_names(const char *path, const char *names, coop_error **err)
{
    return refuse_names(path, names, "the box has its own", err);
}

static bool is_taken_before(const struct view_default *rows, const struct view_default *row,
                            size_t n)
{
    for (const struct view_default *other = rows; other != row; other++)
        if (strncmp(other->path, row->path, n) == 0 && (!other->path[n] || other->path[n] == '/'))
            return true;
    return false;
}

static int check_names(const coop_policy *policy, int fd, const char *path, coop_error **err)
{
    auto_buffer struct buffer names = { 0 };

    const struct view_default *const rows = view_rows(policy);

    for (const struct view_default *row = rows; row->path; row++) {
        size_t n = 1 + strcspn(row->path + 1, "/");
        char name[64];

        if (is_taken_before(rows, row, n) || n > sizeof name)
            continue;
        memcpy(name, row->path + 1, n - 1);
        name[n - 1] = '\0';
        if (faccessat(fd, name, F_OK, AT_SYMLINK_NOFOLLOW) == 0)
            buffer_append(&names, name, n);
    }
    buffer_append_char(&names, '\0');
    if (names.failed)
        return fail_no_memory(err);
    return names.length > 1 ? workspace_refuse_names(path, names.data, err) : 0;
}

struct taken {
    const struct view_default *rows;
    struct buffer names;
};

static void note_taken(void *context, const char *name, size_t n)
{
    struct taken *taken = context;
    char path[NAME_MAX + 2];

    path[0] = '/';
    memcpy(path + 1, name, n);
    path[n + 1] = '\0';
    if (view_default_takes(taken->rows, path))
        buffer_append(&taken->names, path + 1, n + 1);
}

int workspace_check_index(const coop_policy *policy, int fd, const char *path, coop_error **err)
{
    struct taken taken = { view_rows(policy), { 0 } };

    if (!policy->root || policy->restrict_to)
        return 0;
    int r = git_index_names(fd, note_taken, &taken);
    auto_buffer struct buffer names = taken.names;

    buffer_append_char(&names, '\0');
    if (names.failed || r == -ENOMEM)
        return fail_no_memory(err);
    if (r < 0)
        return fail(err, -r, "read git's index of '%s'", path);
    return names.length > 1
               ? refuse_names(path, names.data,
                              "git has recorded files under names that the box has itself, and "
                              "would take them for removed",
                              err)
               : 0;
}

/* ---- whole homes */

static bool is_same(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/* Whether `home` is the directory, or lies below it, whatever names lead there. */
static bool holds(const struct stat *directory, const char *home)
{
    struct stat st;
    struct stat above;
    int fd = home && *home == '/' ? open(home, O_PATH | O_DIRECTORY | O_CLOEXEC) : -1;
    bool is_held = false;

    for (int depth = 0; fd >= 0 && !is_held && depth < DEPTH_MAX; depth++) {
        is_held = fstat(fd, &st) == 0 && is_same(directory, &st);
        int up = is_held ? -1 : openat(fd, "..", O_PATH | O_DIRECTORY | O_CLOEXEC);

        (void)close(fd);
        fd = up;
        if (fd >= 0 && (fstat(fd, &above) < 0 || is_same(&above, &st))) { /* that was the root */
            (void)close(fd);
            fd = -1;
        }
    }
    if (fd >= 0)
        (void)close(fd);
    return is_held;
}

/* Somebody's home, where homes are. */
static bool is_in_homes(int fd)
{
    struct stat homes;
    struct stat above;

    return stat(HOMES, &homes) == 0 && fstatat(fd, "..", &above, 0) == 0 && is_same(&homes, &above);
}

/* NULL: it is not. */
static const char *wide_name(int fd)
{
    const char *home = getenv("HOME");
    struct stat st;

    if (fstat(fd, &st) < 0)
        return NULL;
    if (holds(&st, home))
        return "holds your whole home directory";
    if (holds(&st, HOMES))
        return "holds the home directories";
    return holds(&st, "/root") || is_in_homes(fd) ? "is a whole home directory" : NULL;
}

/* What is not shown does not count. */
static int check_wide(const coop_policy *policy, int fd, const char *path, coop_error **err)
{
    const char *below = policy->restrict_to ? policy->restrict_to + 1 : "";
    auto_close int part =
        *below ? openat(fd, below, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC) : -1;
    const char *what = *below && part < 0 ? NULL : wide_name(*below ? part : fd);

    if (!what)
        return 0;
    int r =
        fail_kind(err, COOP_ERROR_BAD_POLICY, EPERM, "the %s '%s' %s, with its keys and settings",
                  policy->root ? "directory" : "workspace", path, what);
    return fail_hint(err, r, "name a project's directory, or say --yes-whole-home");
}

/* ---- both */

int workspace_check(const coop_policy *policy, int fd, const char *path, coop_error **err)
{
    int r = policy->whole_home ? 0 : check_wide(policy, fd, path, err);

    return r < 0 || !policy->root || policy->restrict_to ? r : check_names(policy, fd, path, err);
}

int workspace_check_policy(const coop_policy *policy, const char *workspace, coop_error **err)
{
    const char *path = policy->root ? policy->root : policy->workspace;

    path = path ? path : workspace ? workspace : ".";
    auto_close int fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    int r = fd < 0 ? 0 : workspace_check(policy, fd, path, err);
    return fd < 0 || r < 0 ? r : workspace_check_index(policy, fd, path, err);
}
