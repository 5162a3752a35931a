/*
 * tools.c - tools/list and tools/call
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "base/json/copy.h"
#include "coop/tools.h"
#include "mcp/alias/alias.h"
#include "mcp/content.h"
#include "mcp/methods.h"
#include "mcp/progress.h"
#include "tools/arguments.h"
#include "tools/rights.h"

/* ---- the list */

static void write_annotations(struct json_writer *json, const coop_tool *tool)
{
    static const struct {
        const char *name;
        unsigned flag;
    } hints[] = {
        { "readOnlyHint", COOP_TOOL_READ_ONLY },
        { "destructiveHint", COOP_TOOL_DESTRUCTIVE },
        { "idempotentHint", COOP_TOOL_IDEMPOTENT },
        { "openWorldHint", COOP_TOOL_OPEN_WORLD },
    };

    json_write_key(json, "annotations");
    json_write_object_begin(json);
    json_write_key(json, "title");
    json_write_text(json, tool->title);
    for (size_t i = 0; i < COUNT(hints); i++) {
        json_write_key(json, hints[i].name);
        json_write_bool(json, tool->flags & hints[i].flag);
    }
    json_write_object_end(json);
}

static void write_tool(struct json_writer *json, const struct revision *revision,
                       const coop_tool *tool)
{
    json_write_object_begin(json);
    json_write_key(json, "name");
    json_write_text(json, tool->name);
    if (revision->has_structure) {
        json_write_key(json, "title");
        json_write_text(json, tool->title);
    }
    json_write_key(json, "description");
    json_write_text(json, tool->description);
    json_write_key(json, "inputSchema");
    json_write_raw(json, tool->input_schema, strlen(tool->input_schema));
    if (revision->has_structure && tool->output_schema) {
        json_write_key(json, "outputSchema");
        json_write_raw(json, tool->output_schema, strlen(tool->output_schema));
    }
    if (revision->has_annotations)
        write_annotations(json, tool);
    json_write_object_end(json);
}

int method_tools_list(struct call *call, struct buffer *out)
{
    auto_toolset struct toolset *toolset = session_toolset(call->session);
    bool has_aliases = call->session->server->options->filesystem_names;
    bool is_wrong = false;
    const char *cursor = call_text(call, "cursor", &is_wrong);
    struct json_writer json;

    /* All fit on one page, so no cursor is of ours. */
    if (is_wrong || cursor)
        return call_fault(call, RPC_INVALID_PARAMS, "'cursor' was not issued by this server");
    json_write_init(&json, out, false);
    json_write_object_begin(&json);
    json_write_key(&json, "tools");
    json_write_array_begin(&json);
    for (size_t i = 0; has_aliases && alias_at(i); i++)
        if (coop_tools_may(toolset->tools, alias_at(i)->counterpart, NULL))
            write_tool(&json, call->revision, &alias_at(i)->face);
    for (size_t i = 0; coop_tool_at(i); i++) {
        const coop_tool *tool = coop_tool_at(i);

        if (coop_tools_may(toolset->tools, tool->name, NULL) &&
            !(has_aliases && alias_replaces(tool->name)))
            write_tool(&json, call->revision, tool);
    }
    json_write_array_end(&json);
    json_write_object_end(&json);
    json_write_finish(&json);
    return 0;
}

/* ---- a call */

static int fault_of(struct call *call, const coop_error *err, int r)
{
    const char *hint = coop_error_hint(err);

    if (r == -ENOMEM)
        return call_no_memory(call);
    return call_fault(call, r == -ENOENT || r == -EINVAL ? RPC_INVALID_PARAMS : RPC_INTERNAL,
                      "%s%s%s", coop_error_message(err), hint ? "; " : "", hint ? hint : "");
}

static int answer(struct call *call, const coop_tool_result *result, struct buffer *out)
{
    struct content content = { .is_error = coop_tool_result_is_error(result) };

    content.text = coop_tool_result_text(result, &content.n_text);
    content.data = coop_tool_result_data(result, &content.n_data, &content.mime_type);
    content.structured = coop_tool_result_structured(result, &content.n_structured);
    content_write(out, call->revision, &content);
    return 0;
}

static int call_tool(struct call *call, const struct toolset *toolset, const char *name,
                     const struct json_value *arguments, const coop_execute_options *options,
                     struct buffer *out)
{
    auto_error coop_error *err = NULL;
    auto_buffer struct buffer text = { 0 };
    coop_tool_result *result = NULL;
    struct json_writer json;

    json_write_init(&json, &text, false);
    if (arguments)
        json_copy(&json, arguments);
    else
        json_write_raw(&json, "{}", 2);
    if (text.failed)
        return call_no_memory(call);
    int r = coop_execute(toolset->tools, name, text.data, text.length, options, &result, &err);
    if (r < 0)
        return fault_of(call, err, r);
    r = answer(call, result, out);
    coop_tool_result_free(result);
    return r;
}

/* ---- an alias */

static int run_alias(const struct alias *alias, const struct json_value *schema,
                     struct alias_call *call, coop_error **err)
{
    const char *why = "";

    if (!coop_tools_may(call->toolset->tools, alias->counterpart, &why))
        return fail_kind(err, COOP_ERROR_DENIED, EACCES, "%s", why);
    int r = arguments_check(alias->face.name, schema, call->arguments, err);
    auto_rights struct rights rights = { 0 };
    if (r == 0)
        r = rights_lower_for(&rights, call->toolset->tools, err);
    return r < 0 ? r : alias->run(call, err);
}

static void alias_failed(struct alias_call *call, const coop_error *err)
{
    const char *hint = coop_error_hint(err);

    buffer_done(&call->data);
    call->text.length = 0;
    buffer_printf(&call->text, "%s%s%s", coop_error_message(err), hint ? "\n" : "",
                  hint ? hint : "");
}

/* {"content": text}, as that server has it; or what stands in "content" anyway, for a picture. */
static void write_alias(struct buffer *out, const struct alias_call *call,
                        const struct revision *revision, bool is_error)
{
    bool has_data = call->data.length > 0;
    auto_buffer struct buffer structured = { 0 };
    struct content content = {
        .text = call->text.data,
        .n_text = call->text.length,
        .data = has_data ? call->data.data : NULL,
        .n_data = call->data.length,
        .mime_type = call->mime_type,
        .uri = call->uri.data,
        .repeats_text = !is_error && !has_data,
        .is_error = is_error,
    };

    if (has_data) {
        content_write(&structured, revision, &content);
        content.structured = structured.data;
        content.n_structured = structured.length;
        out->failed |= structured.failed;
    }
    content_write(out, revision, &content);
}

static int call_alias(struct call *call, const struct toolset *toolset, const struct alias *alias,
                      const struct json_value *arguments, const coop_execute_options *options,
                      struct buffer *out)
{
    static const struct json_value nothing = { .kind = JSON_OBJECT };
    const struct json_document *schemas = call->session->server->alias_schemas;
    auto_error coop_error *err = NULL;
    struct alias_call alias_call = { .toolset = toolset,
                                     .arguments = arguments ? arguments : &nothing,
                                     .options = options,
                                     .text = call->thread->text };
    int r = run_alias(alias, schemas[alias - alias_at(0)].root, &alias_call, &err);

    if (r < 0 && r != -ENOMEM)
        alias_failed(&alias_call, err);
    bool failed =
        r == -ENOMEM || alias_call.text.failed || alias_call.data.failed || alias_call.uri.failed;
    if (!failed)
        write_alias(out, &alias_call, call->revision, r < 0);
    call->thread->text = alias_call.text;
    buffer_done(&alias_call.data);
    buffer_done(&alias_call.uri);
    return failed ? call_no_memory(call) : 0;
}

int method_tools_call(struct call *call, struct buffer *out)
{
    bool has_aliases = call->session->server->options->filesystem_names;
    bool is_wrong = false;
    const char *name = call_text(call, "name", &is_wrong);
    const struct json_value *arguments = json_get(call->rpc.params, "arguments");
    const coop_execute_options options = { .size = sizeof options,
                                           .can_cancel = call->cancel_fd >= 0,
                                           .cancel_fd = call->cancel_fd,
                                           .on_progress =
                                               call->progress.token ? progress_output : NULL,
                                           .context = call };

    if (!name)
        return call_fault(call, RPC_INVALID_PARAMS, "'name' must be the name of a tool");
    if (arguments && arguments->kind == JSON_NULL) /* some clients write it so */
        arguments = NULL;
    if (arguments && arguments->kind != JSON_OBJECT)
        return call_fault(call, RPC_INVALID_PARAMS, "'arguments' must be an object");
    int r = roots_await(call->session, call);
    if (r < 0)
        return r;
    roots_refresh(call->session);
    auto_toolset struct toolset *toolset = session_toolset(call->session);
    const struct alias *alias = has_aliases ? alias_find(name) : NULL;
    if (alias)
        return call_alias(call, toolset, alias, arguments, &options, out);
    return call_tool(call, toolset, name, arguments, &options, out);
}
