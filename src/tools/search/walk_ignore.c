#include "walk_ignore.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/fd.h"
#include "sys/kernel.h"

/* Through no link; the descriptor, or -errno. */
static int open_beneath(int directory_fd, const char *path, int flags)
{
    const struct kernel_open_how how = {
        .flags = (uint64_t)flags | O_CLOEXEC | O_NONBLOCK | O_NOCTTY,
        .resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS | RESOLVE_NO_SYMLINKS,
    };
    const struct kernel_open_how how_path = { .flags = O_PATH | O_CLOEXEC, .resolve = how.resolve };
    int fd =
        (int)syscall(NR_OPENAT2, directory_fd, path, flags & O_PATH ? &how_path : &how, sizeof how);

    if (fd < 0)
        return -errno;
    int r = fd_lift(&fd);
    if (r < 0)
        (void)close(fd);
    return r < 0 ? r : fd;
}

/* As much of it as counts; -1: it is no file that can be read. */
static ssize_t read_file(int directory_fd, const char *name, char *bytes)
{
    auto_close int fd = open_beneath(directory_fd, name, O_RDONLY);
    struct stat st;

    if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
        return -1;
    return fd_read_start(fd, bytes, WALK_IGNORE_MAX);
}

int walk_ignore_load(struct walk_ignore *ignore, int directory_fd, const char *name,
                     size_t path_length)
{
    auto_free char *bytes = malloc(WALK_IGNORE_MAX);

    if (!bytes)
        return -ENOMEM;
    ssize_t n = read_file(directory_fd, name, bytes);
    if (n <= 0)
        return 0;
    void *more = reallocarray(ignore->own, ignore->n_own + 1, sizeof *ignore->own);
    if (!more)
        return -ENOMEM;
    ignore->own = more;
    struct gitignore *rules = gitignore_new(bytes, (size_t)n, path_length, ignore->rules);
    if (!rules)
        return -ENOMEM;
    ignore->own[ignore->n_own++] = rules;
    ignore->rules = rules;
    return 0;
}

void walk_ignore_done(struct walk_ignore *ignore)
{
    while (ignore->n_own > 0)
        gitignore_free(ignore->own[--ignore->n_own]);
    free(ignore->own);
    *ignore = (struct walk_ignore){ 0 };
}

/* Whether the directory at path[0..n) of the mount has a `.git`. */
static bool is_repository(const struct place *place, size_t n)
{
    char path[4096 + sizeof "/.git"];

    if (n > 4096)
        return false;
    memcpy(path, place->below, n);
    (void)strcpy(path + n, n > 0 ? "/.git" : ".git");
    auto_close int fd = open_beneath(place->root_fd, path, O_PATH);
    return fd >= 0;
}

static int load_at(struct walk_ignore *ignore, const struct place *place, size_t n, bool is_top)
{
    auto_free char *path = n > 0 ? strndup(place->below, n) : strdup(".");

    if (!path)
        return -ENOMEM;
    auto_close int fd = open_beneath(place->root_fd, path, O_PATH);
    if (fd < 0)
        return 0;
    size_t length = n > 0 ? n + 1 : 0;
    int r = is_top ? walk_ignore_load(ignore, fd, WALK_IGNORE_EXCLUDE, length) : 0;
    return r < 0 ? r : walk_ignore_load(ignore, fd, WALK_IGNORE_FILE, length);
}

int walk_ignore_load_above(struct walk_ignore *ignore, const struct place *place)
{
    const char *below = place->below;
    size_t n = strlen(below);
    size_t top = 0;
    bool is_top_found = false;

    /* the nearest directory above that is a repository */
    for (size_t at = n; at > 0 && !is_top_found;) {
        while (at > 0 && below[at - 1] != '/')
            at--;
        at -= at > 0; /* the '/' */
        is_top_found = is_repository(place, at);
        top = is_top_found ? at : 0;
    }
    if (n == 0)
        return 0;
    int r = load_at(ignore, place, top, is_top_found);
    for (size_t at = top > 0 ? top + 1 : 0; at < n && r == 0; at++) {
        if (below[at] == '/')
            r = load_at(ignore, place, at, false);
    }
    return r;
}
