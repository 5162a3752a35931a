#include "source.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/fd.h"
#include "sys/kernel.h"
#include "sys/raw.h"

#define LINKS_MAX 40 /* as the kernel */
#define TRIES     64 /* of openat2(), while somebody renames */

/* How far a path has been followed. */
struct walk {
    const struct source_place *places;
    size_t n_places;
    int fd;              /* of the directory so far */
    bool is_inside;      /* a place, or below one */
    unsigned depth;      /* so far below the outermost place */
    unsigned n_links;    /* followed */
    char rest[PATH_MAX]; /* of the path */
};

static int lift(int fd)
{
    int r = fd < 0 ? 0 : fd_lift(&fd);

    if (r == 0)
        return fd;
    (void)close(fd);
    return r;
}

int source_open_straight(const char *path)
{
    const struct kernel_open_how how = {
        .flags = O_PATH | O_CLOEXEC,
        .resolve = RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS,
    };
    long fd = -EAGAIN;

    for (int i = 0; i < TRIES && fd == -EAGAIN; i++)
        fd = raw(NR_OPENAT2, AT_FDCWD, path, &how, sizeof how);
    return lift((int)fd);
}

int source_name(int fd, char out[PATH_MAX])
{
    char link[64];

    (void)snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t n = readlink(link, out, PATH_MAX - 1);
    if (n < 0)
        return -errno;
    out[n] = '\0';
    return 0;
}

static bool is_place(const struct stat *st, const struct source_place *places, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (places[i].dev == st->st_dev && places[i].ino == st->st_ino)
            return true;
    return false;
}

/* Takes `fd`, which the walk has come to. */
static int arrive(struct walk *walk, int fd)
{
    struct stat st;

    close_fd(&walk->fd);
    walk->fd = fd;
    if (walk->is_inside)
        return 0;
    if (fstat(fd, &st) < 0)
        return -errno;
    walk->is_inside = is_place(&st, walk->places, walk->n_places);
    walk->depth = 0;
    return 0;
}

static int go_to_root(struct walk *walk)
{
    int fd = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);

    walk->is_inside = false;
    return fd < 0 ? -errno : arrive(walk, fd);
}

static int go_up(struct walk *walk)
{
    int fd = openat(walk->fd, "..", O_PATH | O_DIRECTORY | O_CLOEXEC);

    if (fd < 0)
        return -errno;
    if (walk->depth == 0)
        walk->is_inside = false;
    else
        walk->depth--;
    return arrive(walk, fd);
}

/* What a link says comes before the rest of the path. */
static int follow(struct walk *walk, int link_fd)
{
    char text[PATH_MAX];
    char whole[2 * PATH_MAX];
    ssize_t n = readlinkat(link_fd, "", text, sizeof text - 1);

    if (n < 0)
        return -errno;
    text[n] = '\0';
    if (++walk->n_links > LINKS_MAX)
        return -ELOOP;
    int length = snprintf(whole, sizeof whole, "%s/%s", text, walk->rest);
    if (n == 0 || length >= (int)sizeof walk->rest)
        return n == 0 ? -ENOENT : -ENAMETOOLONG;
    memcpy(walk->rest, whole, (size_t)length + 1);
    return *text == '/' ? go_to_root(walk) : 0;
}

static int go_down(struct walk *walk, const char *name, char out_link[PATH_MAX])
{
    auto_close int fd = openat(walk->fd, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    struct stat st;

    if (fd < 0 || fstat(fd, &st) < 0)
        return -errno;
    if (!S_ISLNK(st.st_mode)) {
        walk->depth++;
        return arrive(walk, take_fd(&fd));
    }
    if (!walk->is_inside)
        return follow(walk, fd);
    if (source_name(fd, out_link) < 0) /* of the link itself */
        (void)snprintf(out_link, PATH_MAX, "%s", name);
    return -ELOOP;
}

/* Takes the next component off the rest; false: there is none. */
static bool next(struct walk *walk, char out[NAME_MAX + 1], int *r)
{
    const char *from = walk->rest + strspn(walk->rest, "/");
    size_t n = strcspn(from, "/");

    if (n == 0)
        return false;
    if (n > NAME_MAX) {
        *r = -ENAMETOOLONG;
        return false;
    }
    memcpy(out, from, n);
    out[n] = '\0';
    memmove(walk->rest, from + n, strlen(from + n) + 1);
    return true;
}

static int start(struct walk *walk, const char *path)
{
    char current[PATH_MAX] = "";
    int length;

    if (*path != '/' && !getcwd(current, sizeof current))
        return -errno;
    if (!*path || (*path != '/' && *current != '/'))
        return -ENOENT;
    length = snprintf(walk->rest, sizeof walk->rest, "%s/%s", current, path);
    return length >= (int)sizeof walk->rest ? -ENAMETOOLONG : go_to_root(walk);
}

static int walk_path(struct walk *walk, const char *path, char out_link[PATH_MAX])
{
    char name[NAME_MAX + 1];
    int r = start(walk, path);

    while (r == 0 && next(walk, name, &r))
        if (strcmp(name, "..") == 0)
            r = go_up(walk);
        else if (strcmp(name, ".") != 0)
            r = go_down(walk, name, out_link);
    return r;
}

int source_open(const char *path, const struct source_place *places, size_t n,
                char out_link[PATH_MAX])
{
    struct walk walk = { .places = places, .n_places = n, .fd = -1 };
    int fd = source_open_straight(path);

    out_link[0] = '\0';
    if (fd != -ELOOP)
        return fd;
    int r = walk_path(&walk, path, out_link);
    fd = take_fd(&walk.fd);
    if (r == 0)
        return lift(fd);
    if (fd >= 0)
        (void)close(fd);
    return r;
}

bool source_is_below(const char *path, const struct source_place *places, size_t n)
{
    char directory[PATH_MAX];
    const char *slash = strrchr(path, '/');
    struct stat here;
    struct stat above;

    if (!slash || slash - path >= (ptrdiff_t)sizeof directory)
        return true;
    memcpy(directory, path, (size_t)(slash - path) + 1);
    directory[slash == path ? 1 : slash - path] = '\0';
    auto_close int fd = open(directory, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &here) < 0)
        return true;
    while (!is_place(&here, places, n)) {
        int up = openat(fd, "..", O_PATH | O_DIRECTORY | O_CLOEXEC);

        if (up < 0)
            return true;
        close_fd(&fd);
        fd = up;
        if (fstat(fd, &above) < 0)
            return true;
        if (above.st_dev == here.st_dev && above.st_ino == here.st_ino)
            return false; /* the root */
        here = above;
    }
    return true;
}
