/*
 * remove.c - a file, or a directory with everything in it
 *
 * Down into a directory by its name, up again by ".." after a look whether that is still where one came
 * from: one descriptor however deep the tree is, and no link is ever followed.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "base/json/write.h"
#include "base/printable.h"
#include "tools/path/place.h"
#include "tools/tool.h"

/* A directory that was entered. */
struct level {
    dev_t dev;
    ino_t ino;
    size_t name; /* where its name begins in the names */
};

struct removal {
    struct tool_call *call;
    const struct place *place;
    DIR *directory; /* where we are */
    struct buffer names, levels;
    size_t n_removed;
};

static void removal_done(struct removal *removal)
{
    if (removal->directory)
        (void)closedir(removal->directory);
    buffer_done(&removal->names);
    buffer_done(&removal->levels);
}

static int stop(const struct removal *removal, int errnum, const char *name, coop_error **err)
{
    auto_buffer struct buffer shown = { 0 };

    printable_append(&shown, name, strlen(name));
    return place_fail(
        err, errnum, removal->place->path,
        "was removed only in part: '%s' in it cannot be removed (%s), %zu others were",
        shown.data ? shown.data : "", strerror(errnum), removal->n_removed);
}

/* Takes the descriptor. */
static int enter(struct removal *removal, int fd, const char *name, coop_error **err)
{
    struct level level = { .name = removal->names.length };
    struct stat st;

    if (fstat(fd, &st) < 0) {
        (void)close(fd);
        return stop(removal, errno, name, err);
    }
    DIR *directory = fdopendir(fd);
    if (!directory) {
        (void)close(fd);
        return fail_no_memory(err);
    }
    if (removal->directory)
        (void)closedir(removal->directory);
    removal->directory = directory;
    level.dev = st.st_dev;
    level.ino = st.st_ino;
    buffer_append(&removal->levels, &level, sizeof level);
    buffer_append(&removal->names, name, strlen(name) + 1);
    return removal->levels.failed || removal->names.failed ? fail_no_memory(err) : 0;
}

static struct level *last_level(const struct removal *removal)
{
    return (struct level *)(void *)(removal->levels.data + removal->levels.length) - 1;
}

/* Out of a directory that is empty now, and takes it away. 1: that was the first. */
static int leave(struct removal *removal, coop_error **err)
{
    const struct level left = *last_level(removal);
    struct stat st;

    removal->levels.length -= sizeof left;
    if (removal->levels.length == 0)
        return 1;
    const char *name = removal->names.data + left.name;
    const struct level *level = last_level(removal);
    int fd =
        openat(dirfd(removal->directory), "..", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return stop(removal, errno, name, err);
    if (fstat(fd, &st) < 0 || st.st_dev != level->dev || st.st_ino != level->ino) {
        (void)close(fd);
        return stop(removal, EBUSY, name, err); /* somebody moved it */
    }
    if (unlinkat(fd, name, AT_REMOVEDIR) < 0 && errno != ENOENT) {
        int error = errno;

        (void)close(fd);
        return stop(removal, error, name, err);
    }
    removal->n_removed++;
    removal->names.length = left.name;
    (void)closedir(removal->directory);
    removal->directory = fdopendir(fd);
    if (!removal->directory) {
        (void)close(fd);
        return fail_no_memory(err);
    }
    return 0;
}

/* One name of the directory we are in. 1: it was a directory, which was entered. */
static int remove_entry(struct removal *removal, const char *name, coop_error **err)
{
    int fd = dirfd(removal->directory);

    if (unlinkat(fd, name, 0) == 0) {
        removal->n_removed++;
        return 0;
    }
    if (errno == ENOENT)
        return 0;
    if (errno != EISDIR && errno != EPERM)
        return stop(removal, errno, name, err);
    int error = errno;
    int below = openat(fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (below < 0)
        return stop(removal, errno == ENOTDIR || errno == ELOOP ? error : errno, name, err);
    int r = enter(removal, below, name, err);
    return r < 0 ? r : 1;
}

static int remove_entries(struct removal *removal, coop_error **err)
{
    const struct dirent *entry;
    int r = 0;

    if (!removal->directory)
        return fail_no_memory(err);
    while (r == 0 && (errno = 0, entry = readdir(removal->directory))) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        char name[sizeof entry->d_name];
        memcpy(name, entry->d_name, strlen(entry->d_name) + 1);
        r = remove_entry(removal, name, err);
    }
    if (r == 0 && errno)
        return stop(removal, errno, ".", err);
    return r;
}

static int remove_tree(struct removal *removal, coop_error **err)
{
    int fd = place_open(removal->place, O_RDONLY | O_DIRECTORY, 0, err);
    int r = fd < 0 ? fd : enter(removal, fd, "", err);

    while (r == 0) {
        if (tool_is_cancelled(removal->call))
            return fail_kind(err, COOP_ERROR_CANCELLED, ECANCELED,
                             "the call was cancelled after %zu entries were removed",
                             removal->n_removed);
        r = remove_entries(removal, err);
        if (r == 0)
            r = leave(removal, err);
        else if (r == 1)
            r = 0;
    }
    return r < 0 ? r : 0;
}

static int remove_place(struct removal *removal, bool is_recursive, coop_error **err)
{
    const struct place *place = removal->place;
    bool is_directory = S_ISDIR(place->st.st_mode);
    const char *name = NULL;
    struct stat st;
    auto_close int parent_fd = place_open_parent(place, &name, err);

    if (parent_fd < 0)
        return parent_fd;
    if (is_directory && is_recursive) {
        int r = remove_tree(removal, err);

        if (r < 0)
            return r;
    }
    if (fstatat(parent_fd, name, &st, AT_SYMLINK_NOFOLLOW) < 0 || st.st_dev != place->st.st_dev ||
        st.st_ino != place->st.st_ino)
        return place_fail(err, EAGAIN, place->path,
                          "was replaced in the meantime: look at it and try again");
    if (unlinkat(parent_fd, name, is_directory ? AT_REMOVEDIR : 0) < 0)
        return errno == ENOTEMPTY && !is_recursive
                   ? place_fail(err, ENOTEMPTY, place->path,
                                "is a directory that is not empty: set recursive to remove it with "
                                "everything in it")
                   : place_fail(err, errno, place->path, "cannot be removed: %s", strerror(errno));
    removal->n_removed++;
    return 0;
}

int tool_remove(struct tool_call *call, coop_error **err)
{
    auto_place struct place place;
    __attribute__((cleanup(removal_done))) struct removal removal = { .call = call,
                                                                      .place = &place };
    struct json_writer json;
    int r = place_find(call->places, tool_text(call, "path"), PLACE_NAME, &place, err);

    if (r == 0 && !place.exists)
        r = place_fail(err, ENOENT, place.path, "does not exist");
    if (r == 0)
        r = place_may_remove(&place, err);
    if (r == 0)
        r = remove_place(&removal, tool_flag(call, "recursive", false), err);
    if (r < 0)
        return r;
    buffer_append_string(&call->reply->text, "Removed ");
    printable_append(&call->reply->text, place.path, strlen(place.path));
    if (removal.n_removed > 1)
        buffer_printf(&call->reply->text, ", %zu entries in all", removal.n_removed);
    buffer_append_char(&call->reply->text, '.');
    json_write_init(&json, &call->reply->structured, false);
    json_write_object_begin(&json);
    json_write_key(&json, "path");
    json_write_text(&json, place.path);
    json_write_key(&json, "removed");
    json_write_uint(&json, removal.n_removed);
    json_write_object_end(&json);
    json_write_finish(&json);
    return 0;
}
