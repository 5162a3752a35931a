/*
 * doctor.c - coop doctor: what is missing, why, what would mend it; and whether the walls hold
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "base/json/write.h"
#include "base/log_sink.h"
#include "cli/command.h"
#include "cli/doctor/doctor_clean.h"
#include "cli/doctor/probe_json.h"
#include "cli/doctor/selftest.h"
#include "cli/doctor/tier_print.h"
#include "cli/mark.h"
#include "coop/probe.h"
#include "survey/probe/log.h"

static const struct {
    const char *name; /* in JSON */
    const char *words;
    enum mark mark;
} outcomes[] = {
    [SELFTEST_HELD] = { "held", "held", MARK_YES },
    [SELFTEST_NOT_HELD] = { "not-held", "NOT HELD", MARK_NO },
    [SELFTEST_NOT_COUNTED] = { "not-counted", "not counted: fails outside the box too",
                               MARK_UNSURE },
    [SELFTEST_NO_ANSWER] = { "no-answer", "NOT HELD: the box did not report it", MARK_NO },
};

/* What the doctor found; reports is NULL when the box could not be run. */
struct doctor_findings {
    coop_probe *probe;
    struct selftest_report *reports;
    coop_error *error;
    size_t counts[COUNT(outcomes)];
};

static bool is_well(const struct doctor_findings *findings)
{
    return findings->reports && findings->counts[SELFTEST_HELD] > 0 &&
           findings->counts[SELFTEST_NOT_HELD] == 0 && findings->counts[SELFTEST_NO_ANSWER] == 0;
}

static void print_missing(const coop_probe *probe, struct mark_style style)
{
    size_t n_missing = 0;

    for (size_t i = 0; i < coop_probe_n_capabilities(probe); i++) {
        const coop_capability *capability = coop_probe_capability(probe, i);
        if (capability->available)
            continue;
        if (n_missing++ == 0)
            printf("\nMissing:\n");
        mark_line(stdout, style, MARK_NO, capability->title, (int)strlen(capability->title),
                  capability->detail);
        if (capability->needed)
            printf("      needed for the full tier\n");
        if (capability->fix) {
            printf("      fix: ");
            mark_text(stdout, capability->fix);
            printf("\n");
        }
    }
    if (n_missing == 0)
        printf("Nothing is missing.\n");
}

static void print_selftest(const struct doctor_findings *findings, struct mark_style style)
{
    printf("\nSelf-test: what a box must not be able to do\n");
    if (!findings->reports) {
        mark_line(stdout, style, MARK_NO, "not run:", 8,
                  findings->error ? coop_error_message(findings->error)
                                  : "this host has no isolation layer at all");
        if (coop_error_hint(findings->error))
            printf("      %s\n", coop_error_hint(findings->error));
        return;
    }
    for (size_t i = 0; i < selftest_n_acts; i++) {
        const struct selftest_report *report = &findings->reports[i];
        char words[160];
        const char *why = report->inside ? strerror(report->inside) : NULL;
        (void)snprintf(words, sizeof words, "%s%s%s%s", outcomes[report->outcome].words,
                       why ? " (" : "", why ? why : "", why ? ")" : "");
        mark_line(stdout, style, outcomes[report->outcome].mark, report->act->title, 42, words);
    }
    printf("%zu held, %zu not held, %zu not counted\n", findings->counts[SELFTEST_HELD],
           findings->counts[SELFTEST_NOT_HELD] + findings->counts[SELFTEST_NO_ANSWER],
           findings->counts[SELFTEST_NOT_COUNTED]);
}

static void print_text(const struct doctor_findings *findings)
{
    struct mark_style style = mark_style_for(stdout);

    printf("Sandbox: %s\n", coop_probe_summary(findings->probe));
    tier_print(findings->probe);
    print_missing(findings->probe, style);
    print_selftest(findings, style);
}

static void write_report(struct json_writer *json, const struct selftest_report *report)
{
    json_write_object_begin(json);
    json_write_key(json, "name");
    json_write_text(json, report->act->name);
    json_write_key(json, "title");
    json_write_text(json, report->act->title);
    json_write_key(json, "outcome");
    json_write_text(json, outcomes[report->outcome].name);
    json_write_key(json, "inside");
    json_write_text(json, report->inside ? strerror(report->inside) : NULL);
    json_write_key(json, "outside");
    json_write_text(json, report->outside ? strerror(report->outside) : NULL);
    json_write_object_end(json);
}

static int print_json(const struct doctor_findings *findings)
{
    auto_buffer struct buffer text = { 0 };
    struct json_writer json;

    json_write_init(&json, &text, true);
    json_write_object_begin(&json);
    probe_json_members(&json, findings->probe);
    json_write_key(&json, "selftest");
    json_write_array_begin(&json);
    for (size_t i = 0; findings->reports && i < selftest_n_acts; i++)
        write_report(&json, &findings->reports[i]);
    json_write_array_end(&json);
    json_write_key(&json, "selftest_error");
    json_write_text(&json, findings->error ? coop_error_message(findings->error) : NULL);
    json_write_key(&json, "ok");
    json_write_bool(&json, is_well(findings));
    json_write_object_end(&json);
    json_write_finish(&json);
    if (text.failed) {
        fprintf(stderr, "coop doctor: out of memory\n");
        return -1;
    }
    (void)fwrite(text.data, 1, text.length, stdout);
    return 0;
}

/* The tier none has no wall to try. */
static void examine(struct doctor_findings *findings)
{
    coop_tier tier = coop_probe_tier(findings->probe);

    if (tier == COOP_TIER_NONE)
        return;
    struct selftest_report *reports = calloc(selftest_n_acts, sizeof *reports);
    if (!reports || selftest_run(tier, reports, &findings->error) < 0) {
        free(reports);
        return;
    }
    findings->reports = reports;
    for (size_t i = 0; i < selftest_n_acts; i++)
        findings->counts[reports[i].outcome]++;
}

static int examine_and_print(bool is_json)
{
    auto_error coop_error *err = NULL;
    struct doctor_findings findings = { 0 };

    if (coop_probe_new(&findings.probe, &err) < 0) {
        command_complain("doctor", err);
        return 1;
    }
    struct log_sink sink;
    if (log_sink_init(&sink, COOP_LOG_OFF, NULL) == 0)
        probe_log(&sink.log, findings.probe);
    (void)fflush(stdout); /* the twins are forks */
    examine(&findings);
    int status = is_well(&findings) ? 0 : 1;
    if (!is_json)
        print_text(&findings);
    else if (print_json(&findings) < 0)
        status = 1;
    free(findings.reports);
    coop_error_free(findings.error);
    coop_probe_free(findings.probe);
    return status;
}

struct asked {
    bool is_json, is_clean;
};

static int ask_json(void *context, const char *value, coop_error **err)
{
    struct asked *asked = context;

    (void)value;
    (void)err;
    asked->is_json = true;
    return 0;
}

static int ask_clean(void *context, const char *value, coop_error **err)
{
    struct asked *asked = context;

    (void)value;
    (void)err;
    asked->is_clean = true;
    return 0;
}

static int doctor_main(int argc, char **argv)
{
    auto_error coop_error *err = NULL;
    struct asked asked = { .is_json = false };

    /* Said by the self-test to its own copy in the box. */
    if (argc > 1 && strcmp(argv[1], "--inside") == 0)
        return selftest_inside(argc - 2, argv + 2);
    int n = command_parse(&command_doctor, argc, argv, &asked, &err);
    if (n == -ECANCELED)
        return 0;
    if (n >= 0 && n < argc)
        n = fail_kind(&err, COOP_ERROR_BAD_POLICY, EINVAL, "takes no argument, but '%s' was given",
                      argv[n]);
    if (n < 0) {
        command_complain("doctor", err);
        return 2;
    }
    return asked.is_clean ? doctor_clean() : examine_and_print(asked.is_json);
}

static const struct command_option doctor_options[] = {
    { "json", 0, NULL, "print a JSON document", ask_json },
    { "clean", 0, NULL, "only remove what killed boxes left on the host", ask_clean },
    { "help", 'h', NULL, "show this help", NULL },
    { 0 },
};

const struct command command_doctor = {
    .name = "doctor",
    .arguments = "[options]",
    .summary = "report what is missing and how to fix it, and test the isolation",
    .options = doctor_options,
    .run = doctor_main,
};
