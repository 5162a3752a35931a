#include "base/json/write.h"
#include "cli/run/run.h"
#include "supervise/result.h"

void run_json_error(struct buffer *out, const coop_error *err, int status, const char *asked)
{
    struct json_writer json;
    const coop_denial *denial = coop_error_denial(err);
    bool is_exec = coop_error_get_kind(err) == COOP_ERROR_EXEC;

    json_write_init(&json, out, true);
    json_write_object_begin(&json);
    json_write_key(&json, "version");
    json_write_uint(&json, RESULT_SCHEMA_VERSION);
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
    if (denial)
        result_json_denial(&json, denial);
    else if (is_exec)
        result_json_denial(&json, &(coop_denial){ .operation = "exec",
                                                  .target = asked,
                                                  .rule = "the box's own view",
                                                  .origin = "built-in default",
                                                  .fix = coop_error_hint(err),
                                                  .count = 1,
                                                  .error = coop_error_errno(err),
                                                  .why = coop_error_message(err) });
    json_write_array_end(&json);
    json_write_object_end(&json);
    json_write_finish(&json);
}
