/*
 * open.c - using what was found
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "base/fd.h"
#include "init/structure_lock.h"
#include "tools/path/private.h"

const char *place_type(mode_t mode)
{
    switch (mode & S_IFMT) {
    case S_IFREG:
        return "file";
    case S_IFDIR:
        return "directory";
    case S_IFLNK:
        return "link";
    case S_IFIFO:
        return "fifo";
    case S_IFSOCK:
        return "socket";
    default:
        return "device";
    }
}

/* The object behind the descriptor itself, whatever its name leads to meanwhile. */
static int reopen(const struct place *place, int flags, coop_error **err)
{
    char link[64];

    (void)snprintf(link, sizeof link, "/proc/self/fd/%d", place->fd);
    int fd = open(link, flags | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (fd < 0 && (errno == EACCES || errno == EPERM))
        return place_fail(err, EACCES, place->path, "may not be %s by the user these tools run as",
                          (flags & O_ACCMODE) == O_RDONLY ? "read" : "written");
    if (fd < 0)
        return place_fail(err, errno, place->path, "cannot be opened: %s", strerror(errno));
    int r = fd_lift(&fd);
    if (r < 0) {
        (void)close(fd);
        return fail(err, -r, "keep a descriptor");
    }
    return fd;
}

static int make(const struct place *place, int flags, mode_t mode, coop_error **err)
{
    int fd = place_roots_open_at(place->root, place->below, flags | O_NOCTTY, mode);

    if (fd == -EEXIST || fd == -ELOOP)
        return place_fail(err, EEXIST, place->path, "was created in the meantime: try again");
    if (fd < 0)
        return place_fail(err, -fd, place->path, "cannot be created: %s", strerror(-fd));
    return fd;
}

int place_open(const struct place *place, int flags, mode_t mode, coop_error **err)
{
    if (!place->exists && (flags & (O_CREAT | O_EXCL)) == (O_CREAT | O_EXCL))
        return make(place, flags, mode, err);
    if (!place->exists)
        return place_fail(err, ENOENT, place->path, "does not exist");
    if (flags & O_PATH) {
        int fd = fcntl(place->fd, F_DUPFD_CLOEXEC, 3);

        return fd < 0 ? fail(err, errno, "keep a descriptor") : fd;
    }
    if (S_ISDIR(place->st.st_mode) && !(flags & O_DIRECTORY))
        return place_fail(err, EISDIR, place->path, "is a directory: list_dir shows what is in it");
    if (!S_ISREG(place->st.st_mode) && !S_ISDIR(place->st.st_mode))
        return place_fail(err, EINVAL, place->path,
                          "is a %s, not a regular file: file tools do not open it",
                          place_type(place->st.st_mode));
    if (!S_ISDIR(place->st.st_mode) && flags & O_DIRECTORY)
        return place_fail(err, ENOTDIR, place->path, "is not a directory");
    return reopen(place, flags & ~(O_CREAT | O_EXCL | O_NOFOLLOW), err);
}

int place_open_parent(const struct place *place, const char **name, coop_error **err)
{
    const char *slash = strrchr(place->below, '/');
    auto_free char *directory =
        slash ? strndup(place->below, (size_t)(slash - place->below)) : strdup("");

    if (!directory)
        return fail_no_memory(err);
    if (!*place->below)
        return place_fail(
            err, EBUSY, place->path,
            "is where something is mounted in the sandbox's view: it cannot be moved, "
            "replaced or removed");
    int fd = place_roots_open_at(place->root, directory, O_PATH | O_DIRECTORY, 0);
    if (fd < 0)
        return place_fail(
            err, fd == -ELOOP ? EBUSY : -fd, place->path,
            "cannot be reached any more: the directories above it are being changed; try again");
    *name = slash ? slash + 1 : place->below;
    return fd;
}

int place_lock(const struct place *place, bool is_alone, coop_error **err)
{
    return place->places->on_host ? PLACE_UNLOCKED : structure_lock_take(is_alone, err);
}

void place_unlock(int *lock)
{
    if (*lock != PLACE_UNLOCKED)
        structure_lock_release(lock);
    *lock = -1;
}

int place_lock_parent(const struct place *place, int parent_fd, coop_error **err)
{
    const char *name = NULL;
    struct stat before;
    struct stat now;
    auto_place_lock int lock = place_lock(place, false, err);
    auto_close int fd = lock < 0 ? -1 : place_open_parent(place, &name, err);

    if (lock < 0 || fd < 0)
        return lock < 0 ? lock : fd;
    if (fstat(parent_fd, &before) < 0 || fstat(fd, &now) < 0)
        return fail(err, errno, "look at the directory of '%s'", place->path);
    if (before.st_dev != now.st_dev || before.st_ino != now.st_ino)
        return place_fail(err, EAGAIN, place->path,
                          "is now in another directory, which was put there in the meantime: "
                          "nothing was written; try again");
    int r = place_git_changed(place, err);
    return r < 0 ? r : take_fd(&lock);
}

int place_beside(const struct place *place, const char *name, struct place *out, coop_error **err)
{
    const char *slash = strrchr(place->path, '/');
    auto_buffer struct buffer path = { 0 };

    *out = (struct place){ .places = place->places,
                           .root = place->root,
                           .root_fd = place->root_fd,
                           .is_writable = place->is_writable,
                           .use = PLACE_NAME,
                           .fd = -1 };
    buffer_append(&path, place->path, (size_t)(slash - place->path) + 1);
    buffer_append_string(&path, name);
    out->path = buffer_take_string(&path);
    if (!out->path)
        return fail_no_memory(err);
    out->below = out->path + (place->below - place->path);
    int r = place_judge(out, err);
    if (r < 0)
        place_done(out);
    return r;
}
