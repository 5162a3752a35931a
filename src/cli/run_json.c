#include "base/json_write.h"
#include "cli/run.h"

void run_json_error(struct buffer *out, const coop_error *err, int status, const char *asked)
{
    struct json_writer json;
    bool is_denied = coop_error_get_kind(err) == COOP_ERROR_DENIED;
    bool is_exec = is_denied || coop_error_get_kind(err) == COOP_ERROR_EXEC;

    json_write_init(&json, out, true);
    json_write_object_begin(&json);
    json_write_key(&json, "version");
    json_write_uint(&json, 1);
    json_write_key(&json, "exit_code");
    json_write_null(&json);
    json_write_key(&json, "signal");
    json_write_null(&json);
    json_write_key(&json, "status");
    json_write_int(&json, status);
    json_write_key(&json, "error");
    json_write_object_begin(&json);
    json_write_key(&json, "kind");
    json_write_text(&json, coop_error_kind_name(coop_error_get_kind(err)));
    json_write_key(&json, "errno");
    json_write_int(&json, coop_error_errno(err));
    json_write_key(&json, "message");
    json_write_text(&json, coop_error_message(err));
    json_write_key(&json, "hint");
    json_write_text(&json, coop_error_hint(err));
    json_write_object_end(&json);
    json_write_key(&json, "denials");
    json_write_array_begin(&json);
    if (is_exec) {
        json_write_object_begin(&json);
        json_write_key(&json, "operation");
        json_write_text(&json, "exec");
        json_write_key(&json, "target");
        json_write_text(&json, asked);
        json_write_key(&json, "rule");
        json_write_text(&json, is_denied ? "the rules for commands" : "the view of the box");
        json_write_key(&json, "origin");
        json_write_text(&json, is_denied ? "commands" : "default");
        json_write_key(&json, "fix");
        json_write_text(&json, coop_error_hint(err));
        json_write_key(&json, "count");
        json_write_uint(&json, 1);
        json_write_object_end(&json);
    }
    json_write_array_end(&json);
    json_write_object_end(&json);
    json_write_finish(&json);
}
