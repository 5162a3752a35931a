#include "rpc.h"

#include <string.h>

#include "base/json_copy.h"

static void invalid(struct rpc_message *message, enum rpc_code code, const char *problem)
{
    message->kind = RPC_INVALID;
    message->code = code;
    message->problem = problem;
}

static bool is_id(const struct json_value *value)
{
    return value && (value->kind == JSON_TEXT || value->kind == JSON_NUMBER);
}

static void classify_reply(const struct json_value *value, struct rpc_message *out)
{
    const struct json_value *error = json_get(value, "error");

    out->kind = RPC_REPLY;
    out->result = json_get(value, "result");
    if ((out->result != NULL) == (error != NULL))
        invalid(out, RPC_INVALID_REQUEST, "neither a request nor an answer: no 'method'");
    else if (!out->id && !error)
        invalid(out, RPC_INVALID_REQUEST, "an answer needs an 'id'");
}

void rpc_classify(const struct json_value *value, struct rpc_message *out)
{
    const struct json_value *version = json_get(value, "jsonrpc");
    const struct json_value *id = json_get(value, "id");
    const struct json_value *method = json_get(value, "method");

    *out = (struct rpc_message){ .id = is_id(id) ? id : NULL, .params = json_get(value, "params") };
    if (value->kind != JSON_OBJECT)
        return invalid(out, RPC_INVALID_REQUEST, "a message is an object");
    if (!version || version->kind != JSON_TEXT || strcmp(version->text, "2.0") != 0)
        return invalid(out, RPC_INVALID_REQUEST, "'jsonrpc' must be \"2.0\"");
    if (!method)
        return classify_reply(value, out);
    if (method->kind != JSON_TEXT)
        return invalid(out, RPC_INVALID_REQUEST, "'method' must be a text");
    if (id && !out->id)
        return invalid(out, RPC_INVALID_REQUEST, "'id' must be a text or a number");
    out->kind = id ? RPC_REQUEST : RPC_NOTIFICATION;
    out->method = method->text;
    if (out->params && out->params->kind != JSON_OBJECT)
        return invalid(out, RPC_INVALID_PARAMS, "'params' must be an object");
}

bool rpc_same_id(const struct json_value *a, const struct json_value *b)
{
    return a && b && a->kind == b->kind && is_id(a) && strcmp(a->text, b->text) == 0;
}

static void append_text(struct buffer *out, const char *text)
{
    struct json_writer json;

    json_write_init(&json, out, false);
    json_write_text(&json, text);
}

static void append_id(struct buffer *out, const struct json_value *id)
{
    struct json_writer json;

    buffer_append_string(out, "{\"jsonrpc\":\"2.0\",\"id\":");
    json_write_init(&json, out, false);
    if (id)
        json_copy(&json, id);
    else
        json_write_null(&json);
}

void rpc_result_begin(struct buffer *out, const struct json_value *id)
{
    append_id(out, id);
    buffer_append_string(out, ",\"result\":");
}

void rpc_notification_begin(struct buffer *out, const char *method)
{
    buffer_append_string(out, "{\"jsonrpc\":\"2.0\",\"method\":");
    append_text(out, method);
    buffer_append_string(out, ",\"params\":");
}

void rpc_request_begin(struct buffer *out, const char *id, const char *method)
{
    buffer_append_string(out, "{\"jsonrpc\":\"2.0\",\"id\":");
    append_text(out, id);
    buffer_append_string(out, ",\"method\":");
    append_text(out, method);
    buffer_append_string(out, ",\"params\":");
}

void rpc_end(struct buffer *out)
{
    buffer_append_char(out, '}');
}

void rpc_error(struct buffer *out, const struct json_value *id, enum rpc_code code,
               const char *message, const char *data)
{
    append_id(out, id);
    buffer_printf(out, ",\"error\":{\"code\":%d,\"message\":", code);
    append_text(out, message);
    if (data) {
        buffer_append_string(out, ",\"data\":");
        buffer_append_string(out, data);
    }
    buffer_append_string(out, "}}");
}
