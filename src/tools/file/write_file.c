/*
 * write_file.c - a whole file
 */
#include <errno.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "base/json/write.h"
#include "tools/file/make_dir.h"
#include "tools/file/replace.h"
#include "tools/path/place.h"
#include "tools/tool.h"

int tool_write_file(struct tool_call *call, coop_error **err)
{
    const char *path = tool_text(call, "path");
    const char *content = tool_text(call, "content");
    size_t n = strlen(content);
    auto_place struct place place = { .fd = -1 };
    struct json_writer json;
    int r = 0;

    if (tool_flag(call, "create_parents", false))
        r = make_dir_parents(call->places, path, err);
    if (r == 0)
        r = place_find(call->places, path, PLACE_CHANGE, &place, err);
    if (r == -ENOENT && !tool_flag(call, "create_parents", false))
        return fail_within(err, r, "set create_parents to create missing directories");
    if (r == 0 && path[strlen(path) - 1] == '/')
        r = place_fail(err, EISDIR, path, "names a directory: add the name of a file");
    if (r == 0)
        r = file_replace(&place, content, n, err);
    if (r < 0)
        return r;
    buffer_printf(&call->reply->text, "%s %s, %zu bytes.", place.exists ? "Wrote" : "Made",
                  place.path, n);
    json_write_init(&json, &call->reply->structured, false);
    json_write_object_begin(&json);
    json_write_key(&json, "path");
    json_write_text(&json, place.path);
    json_write_key(&json, "bytes");
    json_write_uint(&json, n);
    json_write_key(&json, "created");
    json_write_bool(&json, !place.exists);
    json_write_object_end(&json);
    json_write_finish(&json);
    return 0;
}
