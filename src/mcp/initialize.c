/*
 * initialize.c - the first request: which revision is spoken, and what the server can do
 */
#include <stdio.h>

#include "base/cleanup.h"
#include "coop/tools.h"
#include "coop/version.h"
#include "mcp/methods.h"

/* For the model: what it would otherwise find out by failing. */
static void write_instructions(struct json_writer *json, const struct session *session)
{
    const coop_tools *tools = session->toolset->tools;
    const char *user = coop_tools_user(tools);
    auto_buffer struct buffer text = { 0 };

    buffer_printf(&text, "The workspace is %s; relative paths start there.",
                  coop_tools_workspace(tools));
    if (coop_tools_on_host(tools))
        buffer_append_string(&text, " The tools act on the host itself, without a sandbox.");
    else
        buffer_append_string(&text,
                             " Commands and file tools share one view and one policy: you can "
                             "change the workspace and /tmp; everything else is read-only or "
                             "hidden. A refusal names the rule and says what to do instead.");
    if (coop_tools_memory(tools))
        buffer_printf(&text, " Files to keep between sessions are in %s.",
                      coop_tools_memory(tools));
    if (session->server->options->read_only)
        buffer_append_string(&text, " The workspace is read-only.");
    if (session->server->options->identity)
        buffer_printf(&text, " You act for %s, level %s.", user ? user : "somebody unknown",
                      coop_tools_level(tools));
    json_write_key(json, "instructions");
    json_write_string(json, text.data, text.length);
}

static void write_result(struct buffer *out, const struct session *session)
{
    struct json_writer json;

    json_write_init(&json, out, false);
    json_write_object_begin(&json);
    json_write_key(&json, "protocolVersion");
    json_write_text(&json, session->revision->name);
    json_write_key(&json, "capabilities");
    json_write_object_begin(&json);
    /* The client's roots change both lists. */
    static const struct {
        const char *name;
        bool changes;
    } capabilities[] = { { "tools", true }, { "resources", true }, { "logging", false } };
    for (size_t i = 0; i < COUNT(capabilities); i++) {
        json_write_key(&json, capabilities[i].name);
        json_write_object_begin(&json);
        if (capabilities[i].changes) {
            json_write_key(&json, "listChanged");
            json_write_bool(&json, true);
        }
        json_write_object_end(&json);
    }
    json_write_object_end(&json);
    json_write_key(&json, "serverInfo");
    json_write_object_begin(&json);
    json_write_key(&json, "name");
    json_write_text(&json, "coop");
    if (session->revision->has_structure) {
        json_write_key(&json, "title");
        json_write_text(&json, "coop: files, commands and git under one policy");
    }
    json_write_key(&json, "version");
    json_write_text(&json, coop_version());
    json_write_object_end(&json);
    write_instructions(&json, session);
    json_write_object_end(&json);
    json_write_finish(&json);
}

int method_initialize(struct call *call, struct buffer *out)
{
    struct session *session = call->session;
    bool is_wrong = false;
    const char *asked = call_text(call, "protocolVersion", &is_wrong);
    const struct json_value *capabilities = json_get(call->rpc.params, "capabilities");
    const struct json_value *roots = json_get(capabilities, "roots");

    if (!asked)
        return call_fault(call, RPC_INVALID_PARAMS, "'protocolVersion' must be a string");
    if (!capabilities || capabilities->kind != JSON_OBJECT)
        return call_fault(call, RPC_INVALID_PARAMS, "'capabilities' must be an object");
    const struct revision *revision = revision_find(asked);
    (void)pthread_mutex_lock(&session->lock);
    bool is_first = !session->revision;
    if (is_first) {
        session->revision = revision ? revision : revision_newest;
        session->roots.can_ask = roots && roots->kind == JSON_OBJECT;
        write_result(out, session);
    }
    (void)pthread_mutex_unlock(&session->lock);
    return is_first ? 0 : call_fault(call, RPC_INVALID_REQUEST, "initialized already");
}
