#include "rpc.h"

#include <string.h>

#include "base/json/copy.h"

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
        invalid(out, RPC_INVALID_REQUEST, "neither a request nor a response: no 'method'");
    else if (!out->id && !error)
        invalid(out, RPC_INVALID_REQUEST, "a response needs an 'id'");
}

void rpc_classify(const struct json_value *value, struct rpc_message *out)
{
    const struct json_value *version = json_get(value, "jsonrpc");
    const struct json_value *id = json_get(value, "id");
    const struct json_value *method = json_get(value, "method");

    *out = (struct rpc_message){ .id = is_id(id) ? id : NULL, .params = json_get(value, "params") };
    if (value->kind != JSON_OBJECT)
        return invalid(out, RPC_INVALID_REQUEST, "a message must be an object");
    if (!version || version->kind != JSON_TEXT || strcmp(version->text, "2.0") != 0)
        return invalid(out, RPC_INVALID_REQUEST, "'jsonrpc' must be \"2.0\"");
    if (!method)
        return classify_reply(value, out);
    if (method->kind != JSON_TEXT)
        return invalid(out, RPC_INVALID_REQUEST, "'method' must be a string");
    if (id && !out->id)
        return invalid(out, RPC_INVALID_REQUEST, "'id' must be a string or a number");
    out->kind = id ? RPC_REQUEST : RPC_NOTIFICATION;
    out->method = method->text;
    if (out->params && out->params->kind != JSON_OBJECT)
        return invalid(out, RPC_INVALID_PARAMS, "'params' must be an object");
}

/* ---- what cannot be read */

/* Behind the text that begins here; NULL: it has no end. */
static const char *skip_text(const char *at, const char *end)
{
    for (at++; at < end && *at != '"'; at++)
        at += *at == '\\';
    return at < end ? at + 1 : NULL;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/* One member of the outermost object, or what closes it; its value goes on to the comma or bracket of
 * the same depth. NULL: brackets and quotes do not match. */
static const char *skip_value(const char *at, const char *end)
{
    for (unsigned depth = 0; at && at < end;) {
        char c = *at;

        if (depth == 0 && (c == ',' || c == '}'))
            return at;
        if ((c == '}' || c == ']') && depth-- == 0)
            return NULL;
        depth += c == '{' || c == '[';
        at = c == '"' ? skip_text(at, end) : at + 1;
    }
    return NULL;
}

static const char *skip_blanks(const char *at, const char *end)
{
    while (at && at < end && is_blank(*at))
        at++;
    return at;
}

struct member {
    const char *name, *name_end, *value, *value_end;
};

static bool next_member(const char **at, const char *end, struct member *out)
{
    out->name = skip_blanks(*at + 1, end); /* behind '{' or ',' */
    if (out->name == end || *out->name != '"')
        return false;
    out->name_end = skip_text(out->name, end);
    out->value = skip_blanks(out->name_end, end);
    if (!out->value || out->value == end || *out->value++ != ':')
        return false;
    *at = out->value_end = skip_value(out->value, end);
    return *at != NULL;
}

static bool is_called(const struct member *member, const char *name)
{
    size_t n = strlen(name);

    return (size_t)(member->name_end - member->name) == n + 2 &&
           memcmp(member->name + 1, name, n) == 0;
}

void rpc_find_id(const char *text, size_t n, struct json_document *out)
{
    const char *end = text + n;
    const char *at = skip_blanks(text, end);
    struct member member;
    struct member id = { 0 };
    unsigned n_ids = 0;
    bool has_method = false;

    *out = (struct json_document){ 0 };
    if (at == end || *at != '{')
        return;
    do {
        if (!next_member(&at, end, &member))
            return;
        has_method |= is_called(&member, "method");
        if (is_called(&member, "id")) {
            id = member;
            n_ids++;
        }
    } while (*at == ',');
    if (n_ids != 1 || !has_method || skip_blanks(at + 1, end) != end)
        return;
    if (json_read(id.value, (size_t)(id.value_end - id.value), out, NULL) == 0 && !is_id(out->root))
        json_document_done(out);
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
