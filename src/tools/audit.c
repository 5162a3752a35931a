#include "audit.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "audit/summary.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/error.h"
#include "policy/policy.h"
#include "run_config/run_config.h"
#include "supervise/result.h"
#include "tools/tools.h"

#define ARGUMENT_MAX 200
#define ERROR_MAX    600

/* ---- arguments */

/* What is written into files is not repeated: how much of it there is must do. */
static bool is_content(const char *name)
{
    static const char *const names[] = { "content",    "edits",      "old_text", "new_text",
                                         "old_string", "new_string", "input" };

    for (size_t i = 0; i < COUNT(names); i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    return false;
}

static void append_value(struct buffer *out, struct summary *summary,
                         const struct json_value *value)
{
    switch (value->kind) {
    case JSON_TEXT:
        summary_text(summary, value->text, strlen(value->text), ARGUMENT_MAX, out);
        break;
    case JSON_NUMBER:
        buffer_append_string(out, value->text);
        break;
    case JSON_BOOL:
        buffer_append_string(out, value->truth ? "true" : "false");
        break;
    case JSON_NULL:
        buffer_append_string(out, "null");
        break;
    case JSON_ARRAY:
    case JSON_OBJECT:
        for (const struct json_value *item = value->first; item && out->length < SUMMARY_MAX;
             item = item->next) {
            append_value(out, summary, item);
            buffer_append_string(out, item->next ? "," : "");
        }
        break;
    }
}

static size_t size_of(const struct json_value *value)
{
    size_t n = value->text ? strlen(value->text) : 0;

    for (const struct json_value *item = value->first; item; item = item->next)
        n += item->text ? strlen(item->text) : size_of(item);
    return n;
}

/* "path=src/x.c limit=20"; of bash the command alone. */
static void summarize(struct summary *summary, const struct json_value *arguments,
                      struct buffer *out)
{
    const struct json_value *command = json_get(arguments, "command");

    if (command && command->kind == JSON_TEXT) {
        summary_text(summary, command->text, strlen(command->text), SUMMARY_MAX, out);
        return;
    }
    for (const struct json_value *value = arguments->first; value && out->length < SUMMARY_MAX;
         value = value->next) {
        auto_buffer struct buffer pair = { 0 };

        buffer_printf(&pair, "%s=", value->name);
        if (is_content(value->name))
            buffer_printf(&pair, "(%zu bytes)", size_of(value));
        else
            append_value(&pair, summary, value);
        buffer_append_string(out, out->length ? " " : "");
        if (!pair.failed && pair.data)
            summary_text(summary, pair.data, pair.length, SUMMARY_MAX, out);
    }
}

/* ---- the record */

static void fill(const struct tool_call *call, size_t i, struct audit_record *record)
{
    const coop_tools *tools = call->tools;
    const struct tool_audit *audit = call->audit;
    const char *session = tools->policy->facts[COOP_FACT_SESSION];

    *record = (struct audit_record){
        .event = "tool",
        .tool = tool_row(i)->face.name,
        .user = tools->user,
        .identity = tools->identity_text,
        .trust = tools->identity_text ? tools->level : NULL,
        .session = session           ? session
                   : *audit->session ? audit->session
                                     : NULL,
        .workspace = tools->workspace,
        .policy = *audit->outcome.policy ? audit->outcome.policy : tools->digest,
        .outcome = &audit->outcome,
        .config = tools->identity->config,
    };
}

/* A log that cannot be written is told once. */
static void tell(const struct tool_call *call, const struct log_span *span, const coop_error *err)
{
    struct tools_shared *shared = call->tools->shared;

    (void)pthread_mutex_lock(&shared->lock);
    bool is_told = shared->audit_is_told;
    shared->audit_is_told = true;
    (void)pthread_mutex_unlock(&shared->lock);
    if (!is_told)
        log_write(span, COOP_LOG_ERROR, "%s", coop_error_message(err));
}

static bool is_refusal(const coop_error *err)
{
    return coop_error_get_kind(err) == COOP_ERROR_DENIED;
}

static void record_end(const struct tool_call *call, size_t i, struct summary *summary,
                       const char *command, int r, const coop_error *why,
                       const struct log_span *span, uint64_t begin_ns)
{
    auto_error coop_error *err = NULL;
    auto_buffer struct buffer error = { 0 };
    struct audit_record record;

    fill(call, i, &record);
    record.command = command;
    record.duration_us = (clock_now_ns() - begin_ns) / 1000u;
    if (!call->audit->outcome.end || r < 0) {
        record.end = r < 0                   ? is_refusal(why) ? "refused" : "error"
                     : call->reply->is_error ? "error"
                                             : "done";
        record.status = r < 0 || call->reply->is_error;
        record.denied = r < 0 && is_refusal(why);
    }
    if (why) {
        const char *message = coop_error_message(why);

        summary_text(summary, message, strlen(message), ERROR_MAX, &error);
        record.error = error.data;
    }
    if (audit_append(&call->tools->audit, &record, &err) < 0)
        tell(call, span, err);
}

static void log_begin(const struct tool_call *call, size_t i, const char *command,
                      const struct log_span *span)
{
    log_write(span, COOP_LOG_DEBUG, "%s: %s", tool_row(i)->face.name, command ? command : "");
    if (call->tools->on_host)
        log_write(span, COOP_LOG_INFO,
                  "no sandbox for '%s', whose trust is '%s': %s acts on the host",
                  call->tools->identity_text ? call->tools->identity_text : "", call->tools->level,
                  tool_row(i)->face.name);
}

int tools_audit(struct tool_call *call, size_t i,
                int (*run)(struct tool_call *call, size_t i, coop_error **err), coop_error **err)
{
    coop_tools *tools = call->tools;
    auto_summary struct summary *summary = NULL;
    auto_buffer struct buffer command = { 0 };
    struct tool_audit audit = { 0 };
    struct audit_record record;
    struct log_span span;
    uint64_t begin_ns = clock_now_ns();

    log_span_begin(&span, tools->log, "tool_execute");
    audit.log = log_within(&span);
    call->audit = &audit;
    if (tools->audit.mode == AUDIT_OFF && !span.log)
        return run(call, i, err);
    int r = summary_new(tools->policy, &summary, err);
    if (r < 0)
        return r;
    summarize(summary, call->arguments, &command);
    log_begin(call, i, command.data, &span);
    fill(call, i, &record);
    record.command = command.data;
    record.outcome = NULL;
    r = audit_begin(&tools->audit, &record, err);
    if (r < 0) {
        tell(call, &span, err ? *err : NULL);
        return r;
    }
    r = run(call, i, err);
    record_end(call, i, summary, command.data, r, r < 0 && err ? *err : NULL, &span, begin_ns);
    log_write(&span, COOP_LOG_DEBUG, "%s", r < 0 || call->reply->is_error ? "error" : "done");
    audit_outcome_done(&audit.outcome);
    return r;
}

void tools_audit_result(const struct tool_call *call, const coop_result *result)
{
    if (!call->audit)
        return;
    audit_outcome_take(&call->audit->outcome, result);
    (void)snprintf(call->audit->session, sizeof call->audit->session, "%s", result_session(result));
}
