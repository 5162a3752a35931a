#include "canonical.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LINKS_MAX 40 /* as the kernel */

/* `n` bytes of a path that does not exist: where its link leads, before the rest. */
static int follow(char path[PATH_MAX], size_t n)
{
    char whole[3 * PATH_MAX];
    char link[PATH_MAX];
    char text[PATH_MAX];

    (void)snprintf(link, sizeof link, "%.*s", (int)n, path);
    ssize_t length = readlink(link, text, sizeof text - 1);
    if (length <= 0)
        return 0;
    text[length] = '\0';
    const char *slash = strrchr(link, '/');
    int before = *text == '/' ? 0 : (int)(slash - link) + 1;
    int total = snprintf(whole, sizeof whole, "%.*s%s%s", before, link, text, path + n);
    if (total >= PATH_MAX)
        return -ENAMETOOLONG;
    memcpy(path, whole, (size_t)total + 1);
    return 1;
}

/* The length of the part that exists. *out_next: of the part with one name more. */
static int find_end(const char *path, char out[PATH_MAX], size_t *out_n, size_t *out_next)
{
    char part[PATH_MAX];

    memcpy(part, path, strlen(path) + 1);
    *out_next = strlen(part);
    while (!realpath(part, out)) {
        if (errno != ENOENT && errno != ENOTDIR && errno != EACCES)
            return -errno;
        *out_next = strlen(part);
        char *slash = strrchr(part, '/');
        if (!slash || !part[1])
            return -ENOENT;
        slash[slash == part] = '\0';
    }
    *out_n = strlen(part);
    return 0;
}

int path_canonical(const char *path, char out[PATH_MAX])
{
    char now[PATH_MAX];
    size_t n = 0;
    size_t next = 0;

    if (*path != '/')
        return -EINVAL;
    if (strlen(path) >= sizeof now)
        return -ENAMETOOLONG;
    memcpy(now, path, strlen(path) + 1);
    for (int i = 0; i < LINKS_MAX; i++) {
        int r = find_end(now, out, &n, &next);

        if (r == 0 && now[n])
            r = follow(now, next);
        if (r < 0)
            return r;
        if (r == 1)
            continue;
        const char *rest = now + n + strspn(now + n, "/");
        size_t length = strlen(out);
        if (length + 1 + strlen(rest) >= PATH_MAX)
            return -ENAMETOOLONG;
        if (*rest)
            (void)snprintf(out + length, PATH_MAX - length, "%s%s", out[1] ? "/" : "", rest);
        return 0;
    }
    return -ELOOP;
}
