#include "find.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "init/notify/target.h"
#include "sys/kernel.h"
#include "sys/raw.h"

#define MAX_LINKS 40

static bool path_of(long fd, char out[NOTIFY_FIND_MAX])
{
    char own[64];

    (void)notify_append_number(notify_append(own, "/proc/self/fd/"), (unsigned long)fd);
    long n = raw(SYS_readlinkat, AT_FDCWD, own, out, NOTIFY_FIND_MAX - 1);
    if (n <= 0)
        return false;
    out[n] = '\0';
    return true;
}

bool notify_find_append(char path[NOTIFY_FIND_MAX], const char *name)
{
    size_t n = strlen(path);

    if (n + strlen(name) + 2 > NOTIFY_FIND_MAX)
        return false;
    if (n == 0 || path[n - 1] != '/')
        path[n++] = '/';
    (void)notify_append(path + n, name);
    return true;
}

static void drop_last(char *path)
{
    size_t n = strlen(path);

    while (n > 0 && path[n - 1] != '/')
        n--;
    path[n > 0 ? n - 1 : 0] = '\0';
}

/* Puts the text of a link in front of what is left; false: it is too long. */
static bool follow_link(char *rest, const char *link, size_t n, char *done)
{
    size_t left = strlen(rest);

    if (n + left + 2 > NOTIFY_FIND_MAX)
        return false;
    for (size_t i = left + 1; i-- > 0;)
        rest[n + 1 + i] = rest[i];
    memcpy(rest, link, n);
    rest[n] = '/';
    if (*link == '/')
        *done = '\0';
    else
        drop_last(done);
    return true;
}

/* Name by name, as the kernel does it. */
void notify_find_expand(char path[NOTIFY_FIND_MAX], struct notify_find_room *room,
                        long (*read_link)(const char *path, char *out, size_t size))
{
    char *rest = room->rest;
    char *link = room->link;
    bool is_missing = false;
    unsigned n_links = 0;

    (void)notify_append(rest, path);
    path[0] = '\0';
    while (*rest) {
        char name[256];
        size_t at = strspn(rest, "/");
        size_t n = strcspn(rest + at, "/");

        if (n >= sizeof name)
            return;
        memcpy(name, rest + at, n);
        name[n] = '\0';
        char *from = rest + at + n;
        (void)notify_append(rest, from); /* overlaps, to the left */
        if (n == 0 || strcmp(name, ".") == 0)
            continue;
        if (strcmp(name, "..") == 0) {
            drop_last(path);
            continue;
        }
        if (!notify_find_append(path, name))
            return;
        if (is_missing)
            continue;
        long r = read_link(path, link, sizeof room->link - 1);
        if (r > 0 && (++n_links > MAX_LINKS || !follow_link(rest, link, (size_t)r, path)))
            return;
        is_missing = r < 0 && r != -EINVAL;
    }
    if (!*path)
        (void)notify_append(path, "/");
}

/* By openat2(2), as all that init and its children look up: init/watchfs/serve.h knows them by that. */
long notify_find_link(const char *path, uint64_t resolve, char *out, size_t size)
{
    struct kernel_open_how how = { .flags = O_PATH | O_NOFOLLOW | O_CLOEXEC, .resolve = resolve };
    long fd = raw(NR_OPENAT2, AT_FDCWD, path, &how, sizeof how);

    if (fd < 0)
        return fd;
    long n = raw(SYS_readlinkat, fd, "", out, size);
    (void)raw(SYS_close, fd);
    return n == -ENOENT ? -EINVAL : n; /* so it says of what is no link */
}

static long read_link_of(const char *path, char *out, size_t size)
{
    return notify_find_link(path, RESOLVE_NO_MAGICLINKS, out, size);
}

static void expand(char path[NOTIFY_FIND_MAX])
{
    static struct notify_find_room room;

    notify_find_expand(path, &room, read_link_of);
}

long notify_find(const struct seccomp_notif *asked, int directory, const char *text, bool follow,
                 char out[NOTIFY_FIND_MAX])
{
    struct kernel_open_how how = { .flags =
                                       O_PATH | O_CLOEXEC | (uint64_t)(follow ? 0 : O_NOFOLLOW),
                                   .resolve = RESOLVE_NO_MAGICLINKS };
    long start = *text == '/' ? AT_FDCWD : target_start(asked, directory);

    *out = '\0';
    if (start < 0 && start != AT_FDCWD)
        return start;
    long fd = raw(NR_OPENAT2, start, text, &how, sizeof how);
    if (fd == -ENOTDIR)
        fd = -ENOENT; /* the box has a file where the host may have a directory */
    if (fd >= 0) {
        if (!path_of(fd, out))
            *out = '\0';
    } else if (start == AT_FDCWD || path_of(start, out)) {
        if (!notify_find_append(out, text))
            *out = '\0';
        expand(out);
    }
    if (start >= 0)
        (void)raw(SYS_close, start);
    return fd;
}

bool notify_find_split(const char *text, char above[NOTIFY_FIND_MAX], char name[256])
{
    size_t n = strlen(text);

    while (n > 1 && text[n - 1] == '/')
        n--;
    size_t at = n;
    while (at > 0 && text[at - 1] != '/')
        at--;
    if (n - at == 0 || n - at >= 256 || at >= NOTIFY_FIND_MAX)
        return false;
    memcpy(name, text + at, n - at);
    name[n - at] = '\0';
    if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
        return false;
    memcpy(above, text, at);
    above[at] = '\0';
    if (at == 0)
        (void)notify_append(above, ".");
    return true;
}
