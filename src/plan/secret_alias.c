#include "secret_alias.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "policy/path/path.h"

int secret_mounts_read(struct secret_mounts *out, coop_error **err)
{
    size_t capacity = 0;

    *out = (struct secret_mounts){ .text = probe_mounts_read() };
    if (!out->text)
        return fail(err, errno, "read '/proc/self/mountinfo'");
    struct probe_mount mount;
    for (char *cursor = out->text; probe_mounts_next(&cursor, &mount);) {
        if (out->n == capacity) {
            capacity = capacity ? 2 * capacity : 64;
            struct probe_mount *more = reallocarray(out->items, capacity, sizeof *more);

            if (!more) {
                secret_mounts_done(out);
                return fail_no_memory(err);
            }
            out->items = more;
        }
        out->items[out->n++] = mount;
    }
    return 0;
}

void secret_mounts_done(struct secret_mounts *mounts)
{
    free(mounts->items);
    free(mounts->text);
    *mounts = (struct secret_mounts){ 0 };
}

/* What is left of a path behind one that it is within: "" or "/...". */
static const char *rest_of(const char *path, const char *ancestor)
{
    return path + (ancestor[1] ? strlen(ancestor) : 0);
}

/* The one that the path lies in: the innermost, the latest of equals. */
static const struct probe_mount *mount_of(const struct secret_mounts *mounts, const char *real)
{
    const struct probe_mount *found = NULL;

    for (size_t i = 0; i < mounts->n; i++) {
        const struct probe_mount *mount = &mounts->items[i];

        if (path_is_within(real, mount->target) &&
            (!found || strlen(mount->target) >= strlen(found->target)))
            found = mount;
    }
    return found;
}

/* False: nobody can get at it by that path, for something else is mounted there. */
static bool is_same(const char *path, const struct stat *st)
{
    struct stat other;

    return stat(path, &other) == 0 && other.st_dev == st->st_dev && other.st_ino == st->st_ino;
}

int secret_each_alias(const struct secret_mounts *mounts, const char *real,
                      int (*each)(void *context, const char *path), void *context)
{
    const struct probe_mount *own = mount_of(mounts, real);
    char inner[2 * PATH_MAX]; /* its path in its file system */
    char alias[2 * PATH_MAX];
    struct stat st;
    int r = 0;

    if (!own)
        return 0;
    bool exists = stat(real, &st) == 0;
    const char *rest = rest_of(real, own->target);
    (void)snprintf(inner, sizeof inner, "%s%s", own->root[1] || !*rest ? own->root : "", rest);
    for (size_t i = 0; r == 0 && i < mounts->n; i++) {
        const struct probe_mount *other = &mounts->items[i];
        bool is_above = path_is_within(inner, other->root);

        if (other == own || strcmp(other->device, own->device) != 0 ||
            !(is_above || path_is_within(other->root, inner)))
            continue;
        rest = is_above ? rest_of(inner, other->root) : "";
        if (strcmp(rest, "/") == 0)
            rest = "";
        int n = snprintf(alias, sizeof alias, "%s%s",
                         other->target[1] || !*rest ? other->target : "", rest);
        if (n > 0 && n < PATH_MAX && strcmp(alias, real) != 0 &&
            (!exists || !is_above || is_same(alias, &st)))
            r = each(context, alias);
    }
    return r;
}
