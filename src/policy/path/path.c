#include "path.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/error.h"
#include "base/printable.h"

int path_check(const char *what, const char *path, coop_error **err)
{
    if (!path || !*path)
        return fail_kind(err, COOP_ERROR_BAD_POLICY, EINVAL, "the %s is empty", what);
    if (strchr(path, '\n'))
        return fail_kind(err, COOP_ERROR_BAD_POLICY, EINVAL,
                         "the %s has a newline in it, which coop refuses in paths", what);
    if (strlen(path) >= PATH_MAX)
        return fail_kind(err, COOP_ERROR_BAD_POLICY, ENAMETOOLONG, "the %s is longer than %d bytes",
                         what, PATH_MAX - 1);
    return 0;
}

enum dots { DOTS_REFUSED, DOTS_FOLDED, DOTS_STOP_AT_ROOT };

/* The path may be one that a command chose. */
static int refuse(const char *what, const char *path, int errnum, const char *why, coop_error **err)
{
    auto_buffer struct buffer text = { 0 };

    printable_append(&text, path, strlen(path));
    if (text.failed)
        return fail_no_memory(err);
    return fail_kind(err, COOP_ERROR_BAD_POLICY, errnum, "the %s '%s' %s", what, text.data, why);
}

/* Copies the components of `path` to `out`, which is at least as long. */
static int fold(const char *what, const char *path, enum dots dots, char *out, coop_error **err)
{
    size_t length = 0;

    for (const char *p = path; *p;) {
        size_t n = strcspn(p, "/");

        if (n == 2 && p[0] == '.' && p[1] == '.') {
            if (dots == DOTS_REFUSED)
                return refuse(what, path, EINVAL, "has '..' in it: write the path without it", err);
            if (length == 0 && dots == DOTS_FOLDED)
                return refuse(what, path, EACCES,
                              "is outside the sandbox: its '..' leads above '/'", err);
            while (length > 0 && out[--length] != '/')
                ;
        } else if (n > 0 && !(n == 1 && *p == '.')) {
            out[length++] = '/';
            memcpy(out + length, p, n);
            length += n;
        }
        p += n;
        p += *p == '/';
    }
    if (length == 0)
        out[length++] = '/';
    out[length] = '\0';
    return 0;
}

static int normalise(const char *what, const char *path, enum dots dots, char **out,
                     coop_error **err)
{
    int r = path_check(what, path, err);

    if (r < 0)
        return r;
    if (*path != '/')
        return refuse(what, path, EINVAL, "is relative: write it from '/'", err);
    char *normal = malloc(strlen(path) + 2);
    if (!normal)
        return fail_no_memory(err);
    r = fold(what, path, dots, normal, err);
    if (r < 0) {
        free(normal);
        return r;
    }
    *out = normal;
    return 0;
}

int path_normalise(const char *what, const char *path, char **out, coop_error **err)
{
    return normalise(what, path, DOTS_REFUSED, out, err);
}

int path_resolve(const char *what, const char *path, char **out, coop_error **err)
{
    return normalise(what, path, DOTS_FOLDED, out, err);
}

int path_resolve_in_box(const char *what, const char *path, char **out, coop_error **err)
{
    return normalise(what, path, DOTS_STOP_AT_ROOT, out, err);
}

bool path_is_within(const char *path, const char *ancestor)
{
    size_t n = strlen(ancestor);

    if (n == 1)
        return true;
    return strncmp(path, ancestor, n) == 0 && (path[n] == '\0' || path[n] == '/');
}

char *path_join(const char *base, const char *below)
{
    char *joined = NULL;

    if (!*below)
        return strdup(base);
    if (asprintf(&joined, "%s/%s", base[1] ? base : "", below) < 0)
        return NULL;
    return joined;
}

unsigned path_depth(const char *path)
{
    unsigned depth = 0;

    if (path[1] == '\0')
        return 0;
    for (; *path; path++)
        depth += *path == '/';
    return depth;
}
