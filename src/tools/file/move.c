/*
 * move.c - another name for a file or a directory
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "base/json/write.h"
#include "base/printable.h"
#include "tools/path/place.h"
#include "tools/tool.h"

static int fail_move(int errnum, const struct place *from, const struct place *to, coop_error **err)
{
    switch (errnum) {
    case EEXIST:
        return place_fail(err, EEXIST, to->path,
                          "exists: set overwrite to replace it, or choose another name");
    case EXDEV:
        return place_fail(err, EXDEV, from->path,
                          "and its destination are in different mounts: use 'mv' in bash, which "
                          "copies");
    case EINVAL:
        return place_fail(err, EINVAL, from->path, "cannot be moved into itself");
    case ENOTEMPTY:
        return place_fail(err, ENOTEMPTY, to->path, "is a directory that is not empty");
    default:
        return place_fail(err, errnum, from->path, "cannot be moved: %s", strerror(errnum));
    }
}

static int rename_places(const struct place *from, const struct place *to, bool overwrites,
                         coop_error **err)
{
    const char *from_name = NULL;
    const char *to_name = NULL;
    struct stat st;
    auto_place_lock int lock = place_lock(from, S_ISDIR(from->st.st_mode), err);
    if (lock < 0)
        return lock;
    auto_close int from_fd = place_open_parent(from, &from_name, err);
    auto_close int to_fd = from_fd < 0 ? -1 : place_open_parent(to, &to_name, err);

    if (from_fd < 0 || to_fd < 0)
        return from_fd < 0 ? from_fd : to_fd;
    /* What was judged is what moves: by its name, so it is looked at once more. */
    if (fstatat(from_fd, from_name, &st, AT_SYMLINK_NOFOLLOW) < 0 || st.st_dev != from->st.st_dev ||
        st.st_ino != from->st.st_ino)
        return place_fail(err, EAGAIN, from->path,
                          "was replaced in the meantime: look at it and try again");
    int r = place_may_still_move(from, to, err);
    if (r < 0)
        return r;
    bool replaces = overwrites && to->exists;
    if (syscall(SYS_renameat2, from_fd, from_name, to_fd, to_name,
                replaces ? 0 : RENAME_NOREPLACE) == 0)
        return 0;
    return fail_move(errno, from, to, err);
}

static void write_reply(struct tool_call *call, const struct place *from, const struct place *to)
{
    struct json_writer json;

    buffer_append_string(&call->reply->text, "Moved ");
    printable_append(&call->reply->text, from->path, strlen(from->path));
    buffer_append_string(&call->reply->text, " to ");
    printable_append(&call->reply->text, to->path, strlen(to->path));
    buffer_append_string(&call->reply->text, to->exists ? ", which was replaced." : ".");
    json_write_init(&json, &call->reply->structured, false);
    json_write_object_begin(&json);
    json_write_key(&json, "source");
    json_write_text(&json, from->path);
    json_write_key(&json, "destination");
    json_write_text(&json, to->path);
    json_write_key(&json, "replaced");
    json_write_bool(&json, to->exists);
    json_write_object_end(&json);
    json_write_finish(&json);
}

int tool_move(struct tool_call *call, coop_error **err)
{
    bool overwrites = tool_flag(call, "overwrite", false);
    auto_place struct place from;
    auto_place struct place to = { .fd = -1 };
    int r = place_find(call->places, tool_text(call, "source"), PLACE_NAME, &from, err);

    if (r == 0 && !from.exists)
        r = place_fail(err, ENOENT, from.path, "does not exist");
    if (r == 0)
        r = place_find(call->places, tool_text(call, "destination"), PLACE_NAME, &to, err);
    if (r == 0 && to.exists && S_ISDIR(to.st.st_mode) && !S_ISDIR(from.st.st_mode))
        r = place_fail(err, EISDIR, to.path,
                       "is a directory: give the full new path, including the name");
    if (r == 0 && to.exists && !overwrites)
        r = fail_move(EEXIST, &from, &to, err);
    if (r == 0)
        r = place_may_move(&from, &to, err);
    if (r == 0)
        r = rename_places(&from, &to, overwrites, err);
    if (r == 0)
        write_reply(call, &from, &to);
    return r;
}
