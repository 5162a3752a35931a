/*
 * check.c - coop check: is the configuration right, and does the policy say what it is meant to?
 */
#include "check.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "cli/check/live.h"
#include "cli/command.h"
#include "cli/config/config.h"
#include "policy/check.h"
#include "policy/policy.h"
#include "policy/secret_grant.h"

#define SCHEMA 1

/* ---- options */

static int set_config(void *context, const char *value, coop_error **err)
{
    (void)err;
    ((struct check *)context)->identity.config_file = value;
    return 0;
}

static int set_workspace(void *context, const char *value, coop_error **err)
{
    (void)err;
    ((struct check *)context)->identity.workspace = value;
    return 0;
}

static int set_json(void *context, const char *value, coop_error **err)
{
    (void)value;
    (void)err;
    ((struct check *)context)->json = true;
    return 0;
}

static int set_strict(void *context, const char *value, coop_error **err)
{
    (void)value;
    (void)err;
    ((struct check *)context)->strict = true;
    return 0;
}

static int set_live(void *context, const char *value, coop_error **err)
{
    (void)value;
    (void)err;
    ((struct check *)context)->live = true;
    return 0;
}

static int set_narrower(void *context, const char *value, coop_error **err)
{
    (void)value;
    (void)err;
    ((struct check *)context)->narrower = true;
    return 0;
}

/* clang-format off */
static const struct command_option options[] = {
    { "config", 0, "FILE", "read this file instead of the system's and the user's", set_config },
    { "workspace", 'w', "DIR", "read the project files of this workspace (default: the current directory)", set_workspace },
    { "strict", 0, NULL, "exit with 1 also if there are only warnings", set_strict },
    { "live", 0, NULL, "also try every [[expect]] in a real box", set_live },
    { "narrower", 0, NULL, "prove that the file CHILD allows nothing that the file PARENT does not", set_narrower },
    { "json", 0, NULL, "print a JSON document", set_json },
    { "help", 'h', NULL, "show this help" },
    { 0 },
};
/* clang-format on */

/* ---- printing */

static size_t count(const struct findings *findings, enum severity severity)
{
    size_t n = 0;

    for (size_t i = 0; i < findings->n; i++)
        n += findings->items[i].severity == severity;
    return n;
}

static void print_text(const struct check *check, struct buffer *out)
{
    const struct findings *findings = &check->identity.findings;
    size_t n_warnings = count(findings, SEVERITY_WARNING);

    for (size_t i = 0; i < findings->n; i++)
        finding_print(out, &findings->items[i]);
    if (findings->n_dropped > 0)
        buffer_printf(out, "and %zu more\n", findings->n_dropped);
    buffer_printf(out, "%zu error%s, %zu warning%s", findings->n_errors,
                  findings->n_errors == 1 ? "" : "s", n_warnings, n_warnings == 1 ? "" : "s");
    if (check->n_expectations > 0)
        buffer_printf(out, ", %zu of %zu expectation%s hold%s", check->n_held,
                      check->n_expectations, check->n_expectations == 1 ? "" : "s",
                      check->n_held == 1 ? "s" : "");
    buffer_append_char(out, '\n');
}

static void json_number(struct json_writer *json, const char *key, uint64_t number)
{
    json_write_key(json, key);
    json_write_uint(json, number);
}

static void json_text(struct json_writer *json, const char *key, const char *text)
{
    json_write_key(json, key);
    json_write_text(json, text);
}

static void json_finding(struct json_writer *json, const struct finding *finding)
{
    json_write_object_begin(json);
    json_text(json, "severity", severity_names[finding->severity]);
    json_text(json, "file", finding->origin.name);
    json_number(json, "line", finding->origin.line);
    json_number(json, "column", finding->origin.column);
    json_text(json, "message", finding->message);
    json_text(json, "fix", finding->fix);
    json_write_object_end(json);
}

static void json_expectation(struct json_writer *json, const struct check_expectation *expectation)
{
    json_write_object_begin(json);
    json_text(json, "expect", expectation->text);
    json_text(json, "as", expectation->as);
    json_write_key(json, "holds");
    json_write_bool(json, expectation->holds);
    json_write_key(json, "allowed");
    json_write_bool(json, expectation->is_allowed);
    json_text(json, "rule", expectation->rule);
    json_text(json, "origin", expectation->origin);
    json_text(json, "why", expectation->why);
    json_text(json, "change", expectation->change);
    json_text(json, "live", expectation->live);
    json_text(json, "tried", expectation->tried);
    json_write_object_end(json);
}

static void json_findings(struct json_writer *json, const struct findings *findings)
{
    json_write_key(json, "findings");
    json_write_array_begin(json);
    for (size_t i = 0; i < findings->n; i++)
        json_finding(json, &findings->items[i]);
    json_write_array_end(json);
    json_number(json, "not_shown", findings->n_dropped);
    json_number(json, "errors", findings->n_errors);
    json_number(json, "warnings", count(findings, SEVERITY_WARNING));
}

static void print_json(const struct check *check, struct buffer *out)
{
    struct json_writer json;

    json_write_init(&json, out, true);
    json_write_object_begin(&json);
    json_number(&json, "version", SCHEMA);
    json_text(&json, "tier", check->probe ? coop_tier_name(coop_probe_tier(check->probe)) : NULL);
    json_findings(&json, &check->identity.findings);
    json_write_key(&json, "expectations");
    json_write_array_begin(&json);
    for (size_t i = 0; i < check->n_expectations; i++)
        json_expectation(&json, &check->expectations[i]);
    json_write_array_end(&json);
    json_write_object_end(&json);
    json_write_finish(&json);
}

/* ---- checking */

static int look(struct check *check, coop_error **err)
{
    struct run_config *identity = &check->identity;
    const struct check_host host = { identity->workspace_path, getenv("HOME") };
    int r = policy_people_new(identity->config, &identity->people, err);

    if (r < 0)
        return r;
    check_people(identity->config, &identity->people, &identity->findings);
    check_policy(identity->config, check->policy, &host, &identity->findings);
    secret_check(identity->config, identity->workspace_path, &identity->findings);
    check_workspace(check);
    check_sources(check);
    r = coop_probe_new(&check->probe, err);
    if (r < 0)
        return r;
    check_sandbox(check);
    check_limits(check);
    r = check_overrides(check, err);
    return r < 0 ? r : check_expectations(check, err);
}

int check_fill(struct run_config *identity, coop_policy *policy, coop_error **err)
{
    int r = run_config_fill(identity, policy, err);

    if (r < 0 || policy->root || !identity->workspace_path)
        return r;
    return coop_policy_set_workspace(policy, identity->workspace_path, err);
}

/* -EINVAL without an error: all is among the findings. */
static int run(struct check *check, coop_error **err)
{
    check->identity.is_for_reading = true;
    int r = run_config_load(&check->identity, err);

    if (r == 0)
        r = coop_policy_new(&check->policy, err);
    if (r == 0)
        r = check_fill(&check->identity, check->policy, err);
    if (r == 0)
        r = look(check, err);
    if (check->identity.findings.failed && !*err)
        return fail_no_memory(err);
    return r;
}

static int print(const struct check *check, coop_error **err)
{
    auto_buffer struct buffer out = { 0 };

    if (check->json)
        print_json(check, &out);
    else
        print_text(check, &out);
    return config_print(&out, err);
}

static int run_check(struct check *check, coop_error **err)
{
    int r = run(check, err);

    if (r < 0 && *err)
        return 1;
    if (print(check, err) < 0)
        return 1;
    return check->identity.findings.n_errors > 0 ||
           (check->strict && count(&check->identity.findings, SEVERITY_WARNING) > 0);
}

/* ---- --narrower */

static void narrower_json(const struct findings *findings, int r, const char *counter,
                          struct buffer *out)
{
    struct json_writer json;

    json_write_init(&json, out, true);
    json_write_object_begin(&json);
    json_number(&json, "version", SCHEMA);
    json_write_key(&json, "narrower");
    json_write_bool(&json, r == 1);
    json_text(&json, "counter_example", counter);
    json_findings(&json, findings);
    json_write_object_end(&json);
    json_write_finish(&json);
}

static void narrower_text(const struct findings *findings, int r, char *const files[],
                          const char *counter, struct buffer *out)
{
    for (size_t i = 0; i < findings->n; i++)
        finding_print(out, &findings->items[i]);
    if (r == 1)
        buffer_printf(out, "%s allows nothing more than %s\n", files[1], files[0]);
    else if (counter)
        buffer_printf(out, "%s allows more than %s: %s\n", files[1], files[0], counter);
}

static int run_narrower(const struct check *check, char *const files[], coop_error **err)
{
    auto_findings struct findings findings = { 0 };
    auto_buffer struct buffer out = { 0 };
    auto_free char *counter = NULL;
    int r = check_narrower(files[0], files[1], &findings, &counter, err);

    if (r < 0 && *err)
        return 1;
    if (check->json)
        narrower_json(&findings, r, counter, &out);
    else
        narrower_text(&findings, r, files, counter, &out);
    return config_print(&out, err) < 0 || r != 1;
}

/* ---- the command */

static int check_main(int argc, char **argv)
{
    auto_error coop_error *err = NULL;
    struct check check = { 0 };
    int status = 2;

    if (argc == 4 && strcmp(argv[1], LIVE_INSIDE) == 0)
        return live_inside(argc - 2, argv + 2);
    int n = command_parse(&command_check_config, argc, argv, &check, &err);
    if (n == -ECANCELED)
        return 0;
    if (n >= 0 && check.narrower && argc - n != 2)
        n = fail_kind(&err, COOP_ERROR_BAD_POLICY, EINVAL,
                      "--narrower needs two files: PARENT and CHILD");
    else if (n >= 0 && !check.narrower && n < argc)
        n = fail_kind(&err, COOP_ERROR_BAD_POLICY, EINVAL, "unexpected word '%s'", argv[n]);
    if (n >= 0)
        status = check.narrower ? run_narrower(&check, argv + n, &err) : run_check(&check, &err);
    if (err)
        command_complain("check", err);
    coop_policy_free(check.policy);
    coop_probe_free(check.probe);
    check_expectations_done(&check);
    run_config_done(&check.identity);
    return status;
}

const struct command command_check_config = {
    .name = "check",
    .arguments = "[options] [--narrower PARENT CHILD]",
    .summary = "check the configuration and test its expectations",
    .options = options,
    .run = check_main,
};
