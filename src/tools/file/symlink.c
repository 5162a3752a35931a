/*
 * symlink.c - a link to something in the view
 *
 * Where it leads is decided by resolving, once, so that a model does not make links that lead nowhere.
 * Nothing depends on it later: whoever follows the link is judged for the place it leads to then.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "base/json/write.h"
#include "base/printable.h"
#include "tools/path/place.h"
#include "tools/tool.h"

/* A relative target begins where the link stands. */
static int check_target(struct places *places, const struct place *place, const char *target,
                        coop_error **err)
{
    auto_buffer struct buffer path = { 0 };
    auto_error coop_error *first = NULL;
    auto_place struct place there = { .fd = -1 };
    const char *slash = strrchr(place->path, '/');

    if (*target != '/')
        buffer_append(&path, place->path, (size_t)(slash - place->path) + 1);
    buffer_append_string(&path, target);
    if (path.failed)
        return fail_no_memory(err);
    int r = place_find(places, path.data, PLACE_READ, &there, &first);
    if (r == -ENOENT)
        r = place_find(places, path.data, PLACE_NAME, &there, err);
    else if (r < 0 && err)
        *err = take_ptr(first);
    return r < 0 ? fail_within(err, r, "the target of the link must be inside") : 0;
}

static void write_reply(struct tool_call *call, const struct place *place, const char *target)
{
    struct json_writer json;

    printable_append(&call->reply->text, place->path, strlen(place->path));
    buffer_append_string(&call->reply->text, " is a link to ");
    printable_append(&call->reply->text, target, strlen(target));
    buffer_append_char(&call->reply->text, '.');
    json_write_init(&json, &call->reply->structured, false);
    json_write_object_begin(&json);
    json_write_key(&json, "path");
    json_write_text(&json, place->path);
    json_write_key(&json, "target");
    json_write_text(&json, target);
    json_write_object_end(&json);
    json_write_finish(&json);
}

int tool_symlink(struct tool_call *call, coop_error **err)
{
    const char *target = tool_text(call, "target");
    auto_place struct place place;
    const char *name = NULL;
    int r = place_find(call->places, tool_text(call, "path"), PLACE_NAME, &place, err);

    if (r == 0 && place.exists)
        r = place_fail(err, EEXIST, place.path, "exists: remove it first, or choose another name");
    if (r == 0)
        r = place_may_make(&place, PLACE_NEW_LINK, err);
    if (r == 0)
        r = check_target(call->places, &place, target, err);
    if (r < 0)
        return r;
    auto_place_lock int lock = place_lock(&place, false, err);
    if (lock < 0)
        return lock;
    r = place_git_new(&place, GIT_SHAPE_LINK, -1, err);
    if (r < 0)
        return r;
    auto_close int parent_fd = place_open_parent(&place, &name, err);
    if (parent_fd < 0)
        return parent_fd;
    if (symlinkat(target, parent_fd, name) < 0)
        return place_fail(err, errno, place.path, "cannot be created: %s", strerror(errno));
    write_reply(call, &place, target);
    return 0;
}
