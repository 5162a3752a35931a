/*
 * change.c - aliases that stand for one of coop's own tools
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "base/json/copy.h"
#include "mcp/alias/private.h"

int alias_execute(const struct alias_call *call, const char *tool, const struct buffer *arguments,
                  struct json_document *out, coop_error **err)
{
    coop_tool_result *result = NULL;
    size_t n = 0;

    if (arguments->failed)
        return fail_no_memory(err);
    int r = coop_execute(call->toolset->tools, tool, arguments->data, arguments->length,
                         call->options, &result, err);
    if (r < 0)
        return r;
    if (coop_tool_result_is_error(result)) {
        const char *text = coop_tool_result_text(result, &n);

        r = fail_kind(err, COOP_ERROR_DENIED, EACCES, "%.*s", (int)n, text);
    } else if (out) {
        const char *text = coop_tool_result_structured(result, &n);

        r = json_read(text ? text : "{}", text ? n : 2, out, err);
    }
    coop_tool_result_free(result);
    return r;
}

struct member {
    const char *name;  /* of coop's argument */
    const char *alias; /* of the alias's; NULL: it is a flag that is set */
    bool is_path;
};

/* Arguments by the names of coop's tools. */
static void translate(struct buffer *out, const struct alias_call *call,
                      const struct member *members, size_t n)
{
    struct json_writer json;

    json_write_init(&json, out, false);
    json_write_object_begin(&json);
    for (size_t i = 0; i < n; i++) {
        json_write_key(&json, members[i].name);
        if (!members[i].alias) {
            json_write_bool(&json, true);
            continue;
        }
        const char *text = alias_text(call, members[i].alias);
        auto_free char *path = members[i].is_path ? alias_path(text) : NULL;
        json_write_text(&json, path ? path : text);
    }
    json_write_object_end(&json);
    json_write_finish(&json);
}

int alias_write(struct alias_call *call, coop_error **err)
{
    static const struct member members[] = { { "path", "path", true },
                                             { "content", "content", false } };
    auto_buffer struct buffer arguments = { 0 };

    translate(&arguments, call, members, COUNT(members));
    int r = alias_execute(call, "write_file", &arguments, NULL, err);
    if (r == 0)
        buffer_printf(&call->text, "Successfully wrote to %s", alias_text(call, "path"));
    return r;
}

int alias_make_directory(struct alias_call *call, coop_error **err)
{
    static const struct member members[] = { { "path", "path", true }, { "parents", NULL, false } };
    auto_buffer struct buffer arguments = { 0 };

    translate(&arguments, call, members, COUNT(members));
    int r = alias_execute(call, "make_dir", &arguments, NULL, err);
    if (r == 0)
        buffer_printf(&call->text, "Successfully created directory %s", alias_text(call, "path"));
    return r;
}

int alias_move(struct alias_call *call, coop_error **err)
{
    static const struct member members[] = { { "source", "source", true },
                                             { "destination", "destination", true } };
    auto_buffer struct buffer arguments = { 0 };

    translate(&arguments, call, members, COUNT(members));
    int r = alias_execute(call, "move", &arguments, NULL, err);
    if (r == 0)
        buffer_printf(&call->text, "Successfully moved %s to %s", alias_text(call, "source"),
                      alias_text(call, "destination"));
    return r;
}

int alias_allowed(struct alias_call *call, coop_error **err)
{
    (void)err;
    buffer_append_string(&call->text, "Allowed directories:");
    for (size_t i = 0; call->toolset->views[i]; i++)
        buffer_printf(&call->text, "\n%s", call->toolset->views[i]);
    return 0;
}
