#include "make_dir.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "base/json/write.h"
#include "tools/tool.h"

/* 0; 1: it was there. */
static int make_one(struct places *places, const char *path, char **out_path, coop_error **err)
{
    auto_place struct place place;
    const char *name = NULL;
    int r = place_find(places, path, PLACE_NAME, &place, err);

    if (r < 0)
        return r;
    if (out_path)
        *out_path = strdup(place.path);
    if (place.exists && S_ISDIR(place.st.st_mode))
        return 1;
    if (place.exists)
        return place_fail(err, EEXIST, place.path, "exists, and is not a directory");
    r = place_may_make(&place, PLACE_NEW_DIRECTORY, err);
    if (r < 0)
        return r;
    auto_place_lock int lock = place_lock(&place, git_shape_is_key(place.path), err);
    if (lock < 0)
        return lock;
    r = place_git_new(&place, GIT_SHAPE_DIRECTORY, -1, err);
    if (r < 0)
        return r;
    auto_close int parent_fd = place_open_parent(&place, &name, err);
    if (parent_fd < 0)
        return parent_fd;
    if (mkdirat(parent_fd, name, 0777) == 0)
        return 0;
    return errno == EEXIST
               ? place_fail(err, EEXIST, place.path,
                            "was created in the meantime: look at it and try again")
               : place_fail(err, errno, place.path, "cannot be created: %s", strerror(errno));
}

int make_dir_parents(struct places *places, const char *path, coop_error **err)
{
    auto_free char *above = strdup(path);
    int r = 0;

    if (!above)
        return fail_no_memory(err);
    for (char *p = above + (*above == '/'); r >= 0 && (p = strchr(p, '/')); p++) {
        auto_place struct place place = { .fd = -1 };
        auto_error coop_error *ignored = NULL;

        *p = '\0';
        r = *above ? place_find(places, above, PLACE_READ, &place, &ignored) : 0;
        if (r == -ENOENT) {
            r = make_one(places, above, NULL, err);
        } else if (r == -EACCES) {
            r = 0; /* on the way to a mount, perhaps; the path itself decides */
        } else if (r < 0 && err) {
            *err = take_ptr(ignored);
        }
        *p = '/';
    }
    return r < 0 ? r : 0;
}

int tool_make_dir(struct tool_call *call, coop_error **err)
{
    const char *path = tool_text(call, "path");
    auto_free char *made = NULL;
    struct json_writer json;
    int r = 0;

    if (tool_flag(call, "parents", false))
        r = make_dir_parents(call->places, path, err);
    if (r == 0)
        r = make_one(call->places, path, &made, err);
    if (r < 0)
        return r;
    if (!made)
        return fail_no_memory(err);
    if (r == 1 && !tool_flag(call, "parents", false))
        return place_fail(err, EEXIST, made, "already exists");
    buffer_printf(&call->reply->text, "%s%s.", made, r == 1 ? " was there already" : " is made");
    json_write_init(&json, &call->reply->structured, false);
    json_write_object_begin(&json);
    json_write_key(&json, "path");
    json_write_text(&json, made);
    json_write_key(&json, "created");
    json_write_bool(&json, r == 0);
    json_write_object_end(&json);
    json_write_finish(&json);
    return 0;
}
