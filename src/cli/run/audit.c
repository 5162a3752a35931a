#include "audit.h"

#include <errno.h>
#include <string.h>

#include "audit/chain.h"
#include "audit/summary.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "base/log.h"
#include "cli/command.h"
#include "policy/trust.h"
#include "supervise/result.h"

#define ERROR_MAX 600

static void fill(const struct policy_arguments *arguments, struct audit_record *record)
{
    const struct run_config *identity = &arguments->identity;

    record->identity = identity->as;
    record->workspace = identity->workspace_path;
    record->config = identity->config;
    if (!identity->as || !identity->people.users)
        return;
    record->user = identity->decision.user ? identity->decision.user->name : NULL;
    record->trust = trust_names[identity->decision.trust];
}

/* What stopped the run, if anything did, is told once: it may have stopped the record too. */
static bool is_told(const coop_error *why, const coop_error *err)
{
    int errnum = coop_error_errno(err);

    return why && (errnum == coop_error_errno(why) || errnum == EMFILE || errnum == ENFILE);
}

/* As it could be typed; the text of -c by itself. */
static void summarize(struct summary *summary, const struct policy_arguments *arguments,
                      char *const *command, struct buffer *out)
{
    if (arguments->shell_text)
        summary_text(summary, arguments->shell_text, strlen(arguments->shell_text), SUMMARY_MAX,
                     out);
    else
        summary_words(summary, command, SUMMARY_MAX, out);
}

static void log_bypass(const struct policy_arguments *arguments)
{
    const struct run_config *identity = &arguments->identity;
    struct log_span span;

    if (!identity->as || run_config_route(identity) != ROUTE_HOST)
        return;
    log_span_begin(&span, &arguments->sink.log, "run");
    log_write(&span, COOP_LOG_INFO, "no sandbox for '%s': %s", identity->as,
              identity->decision.trust == TRUST_OWNER ? "the owner's commands run on the host"
                                                      : "it is not enabled in the configuration");
}

int run_audit_begin(struct policy_arguments *arguments, char *const *command, coop_error **err)
{
    auto_summary struct summary *summary = NULL;
    auto_buffer struct buffer text = { 0 };
    struct audit_record record = { .event = "run" };

    log_bypass(arguments);
    if (arguments->audit.mode != AUDIT_REQUIRED)
        return 0;
    int r = summary_new(arguments->policy, &summary, err);
    if (r < 0)
        return r;
    summarize(summary, arguments, command, &text);
    fill(arguments, &record);
    record.command = text.data;
    record.policy = coop_policy_digest(arguments->policy);
    r = audit_begin(&arguments->audit, &record, err);
    if (r < 0)
        arguments->audit.mode = AUDIT_OFF; /* that it failed need not be told twice */
    return r;
}

void run_audit_prepare(struct policy_arguments *arguments, char *const *command)
{
    auto_summary struct summary *summary = NULL;

    if (arguments->audit.mode == AUDIT_OFF || !arguments->audit.directory ||
        summary_new(arguments->policy, &summary, NULL) < 0)
        return;
    summarize(summary, arguments, command, &arguments->audit_command);
    (void)chain_open(&arguments->audit, &arguments->audit_log, NULL); /* once more at the end */
}

void run_audit_end(struct policy_arguments *arguments, char *const *command,
                   const coop_result *result)
{
    auto_outcome struct audit_outcome outcome = { 0 };
    auto_error coop_error *err = NULL;
    struct audit_record record = { .event = "run", .outcome = &outcome };

    if (arguments->audit.mode == AUDIT_OFF)
        return;
    if (!arguments->audit_command.data)
        run_audit_prepare(arguments, command);
    audit_outcome_take(&outcome, result);
    fill(arguments, &record);
    record.command = arguments->audit_command.data;
    record.policy = outcome.policy;
    record.session = *result_session(result) ? result_session(result) : NULL;
    if (audit_append_to(take_ptr(arguments->audit_log), &arguments->audit, &record, &err) < 0 &&
        !arguments->quiet)
        command_complain("run", err);
}

void run_audit_failure(struct policy_arguments *arguments, char *const *command, int status,
                       const coop_error *why)
{
    auto_summary struct summary *summary = NULL;
    auto_error coop_error *err = NULL;
    auto_buffer struct buffer text = { 0 };
    auto_buffer struct buffer error = { 0 };
    coop_error_kind kind = coop_error_get_kind(why);
    bool is_denied = kind == COOP_ERROR_DENIED ||
                     (kind == COOP_ERROR_BAD_POLICY && coop_error_errno(why) == EACCES);
    struct audit_record record = {
        .event = "run",
        .end = is_denied || kind == COOP_ERROR_BAD_POLICY ? "refused" : "failed",
        .status = status,
        .denied = is_denied,
    };

    /* A mistake on the command line is no run. */
    if ((!command && !arguments->is_refused) || arguments->audit.mode == AUDIT_OFF ||
        summary_new(arguments->policy, &summary, NULL) < 0)
        return;
    if (!command && arguments->operands)
        command = arguments->operands;
    summarize(summary, arguments, command, &text);
    summary_text(summary, coop_error_message(why), strlen(coop_error_message(why)), ERROR_MAX,
                 &error);
    fill(arguments, &record);
    record.command = text.data;
    record.error = error.data;
    record.policy = arguments->is_refused ? NULL : coop_policy_digest(arguments->policy);
    if (audit_append(&arguments->audit, &record, &err) < 0 && !arguments->quiet &&
        !is_told(why, err))
        command_complain("run", err);
}

void allow_audit(const char *path, const char *digest)
{
    auto_config struct config *config = config_new();
    auto_findings struct findings findings = { 0 };
    const struct config_request request = { 0 };
    auto_error coop_error *err = NULL;
    struct audit_settings settings = { 0 };
    const struct audit_record record = {
        .event = "approval",
        .end = digest ? "given" : "taken back",
        .file = path,
        .digest = digest,
    };
    bool is_read = config && config_load(config, &request, &findings) == 0;
    int r = audit_settings_read(is_read ? config : NULL, &settings, &err);

    if (r == 0)
        r = audit_append(&settings, &record, &err);
    if (r < 0)
        command_complain("allow", err);
    audit_settings_done(&settings);
}
