/*
 * bash.c - a command of the shell, for a model
 */
#include <errno.h>

#include "base/error.h"
#include "tools/job.h"
#include "tools/jobs.h"
#include "tools/tools.h"

int tool_bash(struct tool_call *call, coop_error **err)
{
    const char *text = tool_text(call, "command");
    bool is_like_option = text[0] == '-' || text[0] == '+';
    char *const argv[] = { (char *)call->tools->shell, (char *)"-c",
                           is_like_option ? (char *)"--" : (char *)text,
                           is_like_option ? (char *)text : NULL, NULL };
    const struct job job = {
        .argv = argv,
        .directory = tool_text(call, "directory"),
        .timeout_ms = 1000 * (uint64_t)tool_number(call, "timeout_seconds", JOB_TIMEOUT_S),
    };
    auto_job_end struct job_end end = { .file.fd = -1 };
    struct json_writer json;
    const bool is_background = tool_flag(call, "background", false);
    const char *shell = tool_text(call, "shell");

    if (is_background && shell)
        return fail_kind(
            err, COOP_ERROR_BAD_POLICY, EINVAL,
            "bash: give either background or shell; a shell can start things with '&'");
    if (tool_flag(call, "pty", false) && !is_background && !shell)
        return fail_kind(err, COOP_ERROR_BAD_POLICY, EINVAL, "bash: pty needs background or shell");
    if (is_background || shell)
        return is_background ? jobs_background(call, err) : jobs_shell(call, err);
    int r = job_run(call, &job, &end, err);

    if (r < 0)
        return r;
    job_print(call, &end, &call->reply->text);
    call->reply->is_error = !job_succeeded(&end);
    json_write_init(&json, &call->reply->structured, false);
    json_write_object_begin(&json);
    job_json(&end, &json);
    json_write_object_end(&json);
    json_write_finish(&json);
    return 0;
}
