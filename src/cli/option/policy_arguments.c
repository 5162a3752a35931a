/*
 * policy_arguments.c - configuration and flags become one policy
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "audit/chain.h"
#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "base/shell_word.h"
#include "cli/complain.h"
#include "cli/option/option.h"
#include "plan/secret_hide.h"
#include "policy/env_rules.h"
#include "policy/policy.h"

/* Who nobody may be boxed in for, or only with what their configuration gives them. */
static int route(struct policy_arguments *arguments, coop_error **err)
{
    const struct run_config *identity = &arguments->identity;
    const struct trust_decision *decision = &identity->decision;

    switch (run_config_route(identity)) {
    case ROUTE_BOX:
        return 0;
    case ROUTE_HOST:
        if (decision->trust == TRUST_OWNER) /* who may run everything */
            (void)coop_policy_set_command_strength(arguments->policy, COOP_COMMANDS_OFF, NULL);
        return coop_policy_set_mode(arguments->policy, COOP_MODE_DISABLED, err);
    case ROUTE_REFUSED:
        break;
    }
    const char *user = decision->user ? decision->user->name : NULL;
    int r = fail_kind(err, COOP_ERROR_BAD_POLICY, EACCES, "'%s' may not run commands: %s%s '%s'%s",
                      identity->as, user ? user : "the identity is unknown",
                      user ? " has the trust" : " and has the trust", trust_names[decision->trust],
                      decision->has_ceiling ? " in a group" : "");
    if (!decision->user && !decision->has_ceiling && strcmp(identity->as, TRUST_TERMINAL) == 0)
        return fail_hint(err, r,
                         "write a [[users]] entry that matches '" TRUST_TERMINAL
                         "', or enabled = true in [sandbox], which makes it the owner");
    auto_buffer struct buffer name = { 0 };
    shell_word_append(&name, identity->as);
    if (name.failed)
        return fail_no_memory(err);
    return fail_hint(err, r, "'coop whoami %s %s' shows where that comes from",
                     identity->cron ? "--cron" : "--as", name.data);
}

static int fail_finding(coop_error **err, const struct finding *finding)
{
    auto_buffer struct buffer origin = { 0 };

    origin_print(&origin, finding->origin);
    int r = fail_kind(err, COOP_ERROR_BAD_POLICY, EINVAL, "%s: %s",
                      origin.data ? origin.data : "configuration", finding->message);
    return finding->fix ? fail_hint(err, r, "%s", finding->fix) : r;
}

/* Whether a flag may name a mount; most runs have none. */
static bool names_mounts(int argc, char **argv)
{
    static const char *const flags[] = { "--rw", "--mount", "--volume", "-v" };

    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++)
        for (size_t k = 0; k < COUNT(flags); k++)
            if (strncmp(argv[i], flags[k], strlen(flags[k])) == 0)
                return true;
    return false;
}

/* What flags will let commands write, before a file is obeyed that may lie there, or name one. */
static int find_writable(struct policy_arguments *arguments, const struct command *command,
                         int argc, char **argv, coop_error **err)
{
    struct run_config *identity = &arguments->identity;
    struct policy_arguments flags;

    if (!names_mounts(argc, argv))
        return 0;
    int r = policy_arguments_init(&flags, err);
    int n = r == 0 ? command_parse(command, argc, argv, &flags, err) : r;
    r = n < 0 ? n : 0;
    char **paths = r == 0 ? calloc(flags.policy->n_mounts + 1, sizeof *paths) : NULL;
    if (r == 0 && !paths)
        r = fail_no_memory(err);
    arguments->writable = paths;
    for (size_t i = 0; r == 0 && i < flags.policy->n_mounts; i++) {
        const struct policy_mount *mount = &flags.policy->mounts[i];

        if (mount->kind != POLICY_BIND || mount->read_only)
            continue;
        paths[identity->n_writable] = strdup(mount->source);
        if (!paths[identity->n_writable++])
            r = fail_no_memory(err);
    }
    identity->writable = (const char *const *)paths;
    policy_arguments_done(&flags);
    return r;
}

/* The configuration first: whatever a person types stands above it. */
static int fill_from_config(struct policy_arguments *arguments, coop_error **err)
{
    struct run_config *identity = &arguments->identity;
    int r = run_config_load(identity, err);

    if (r == 0)
        r = run_config_fill(identity, arguments->policy, err);
    if (r == 0)
        r = identity->as && !arguments->is_question ? route(arguments, err) : 0;
    if (r == -EINVAL && err && !*err) {
        const struct finding *only = run_config_only_error(identity);

        if (only)
            return fail_finding(err, only);
        cli_complain(&identity->findings, false);
        return fail_kind(err, COOP_ERROR_BAD_POLICY, EINVAL,
                         "the configuration has %zu error%s; nothing was run",
                         identity->findings.n_errors, identity->findings.n_errors == 1 ? "" : "s");
    }
    arguments->options.timeout_ms = identity->run.timeout_ms;
    for (size_t i = 0; r == 0 && i < identity->run.n_env_pass; i++)
        r = option_pass_env(arguments, identity->run.env_pass[i], err);
    return r;
}

/* A configuration with mistakes in it says nothing: then what is usual holds. */
static int read_audit(struct policy_arguments *arguments, coop_error **err)
{
    const struct run_config *identity = &arguments->identity;
    bool is_read =
        identity->config && identity->findings.n_errors == 0 && !identity->findings.failed;

    return audit_settings_read(is_read ? identity->config : NULL, &arguments->audit, err);
}

/* Where the records are is read from the configuration, where they are shown from the flags too. */
static int hide_audit(struct policy_arguments *arguments, coop_error **err)
{
    const struct run_config *identity = &arguments->identity;

    return audit_hide(&arguments->audit, identity->workspace_path, identity->is_for_reading,
                      arguments->policy, err);
}

int policy_arguments_parse(struct policy_arguments *arguments, const struct command *command,
                           int argc, char **argv, coop_error **err)
{
    int r = policy_arguments_init(arguments, err);

    arguments->is_question = command == &command_why;
    arguments->identity.is_for_reading = command == &command_plan || arguments->is_question;
    if (r == 0)
        r = command_parse_early(command, argc, argv, arguments, err);
    if (r >= 0) {
        arguments->operands = argv + r;
        r = find_writable(arguments, command, argc, argv, err);
        if (r == 0)
            r = fill_from_config(arguments, err);
        arguments->is_refused = r < 0;
        int read = read_audit(arguments, r < 0 ? NULL : err);
        r = r < 0 ? r : read;
    }
    if (r >= 0)
        r = command_parse(command, argc, argv, arguments, err);
    if (r >= 0) {
        int settled = option_settle_network(arguments, err);

        if (settled == 0)
            settled = option_settle_mounts(arguments, err);

        r = settled < 0 ? settled : r;
    }
    if (r >= 0) {
        int hidden = hide_audit(arguments, err);

        if (hidden == 0 && arguments->is_question) /* else the sandbox does */
            hidden = secret_hide(arguments->policy, arguments->identity.workspace_path, err);

        arguments->is_refused = hidden < 0;
        r = hidden < 0 ? hidden : r;
    }
    return r;
}

int policy_arguments_init(struct policy_arguments *arguments, coop_error **err)
{
    *arguments = (struct policy_arguments){ .options = { .size = sizeof arguments->options } };
    arguments->options.keep_fds = arguments->keep_fds;
    arguments->options.env_pass = arguments->env_pass;
    arguments->audit.mode = AUDIT_OFF; /* until the configuration is read */
    int r = log_sink_init(&arguments->sink, COOP_LOG_OFF, err);
    if (arguments->sink.log.level != COOP_LOG_OFF)
        arguments->options.log = &arguments->sink.log;
    return r < 0 ? r : coop_policy_new(&arguments->policy, err);
}

void policy_arguments_done(struct policy_arguments *arguments)
{
    coop_policy_free(arguments->policy);
    run_config_done(&arguments->identity);
    chain_close(take_ptr(arguments->audit_log));
    buffer_done(&arguments->audit_command);
    audit_settings_done(&arguments->audit);
    for (size_t i = 0; arguments->writable && arguments->writable[i]; i++)
        free(arguments->writable[i]);
    free(arguments->writable);
    arguments->writable = NULL;
    free(arguments->cron_argv);
    free(arguments->root);
    arguments->root = NULL;
    arguments->policy = NULL;
}

/* The command of a [[cron]] entry: a text for the shell, or words. */
static int take_cron_command(struct policy_arguments *arguments, coop_error **err)
{
    struct config_value command = config_child(&arguments->identity.cron_entry, "command");
    size_t n = 0;

    if (command.node->kind != NODE_ARRAY) {
        arguments->shell_text = config_value_text(&command);
        return 0;
    }
    struct config_items items = config_value_items(&command);
    for (struct config_value item; config_items_next(&items, &item); n++) {
        char **grown = reallocarray(arguments->cron_argv, n + 2, sizeof *grown);

        if (!grown)
            return fail_no_memory(err);
        arguments->cron_argv = grown;
        grown[n] = (char *)(uintptr_t)config_value_text(&item);
        grown[n + 1] = NULL;
    }
    return 0;
}

int policy_arguments_command(struct policy_arguments *arguments, int argc, char **argv, int first,
                             char *const **out, coop_error **err)
{
    if (arguments->identity.cron && first >= argc && !arguments->shell_text) {
        int r = take_cron_command(arguments, err);

        if (r < 0)
            return r;
        if (arguments->cron_argv) {
            *out = arguments->cron_argv;
            return 0;
        }
    }
    if (arguments->shell_text) {
        if (first < argc)
            return fail_kind(err, COOP_ERROR_BAD_POLICY, EINVAL,
                             "both a shell text and the command '%s' are given", argv[first]);
        arguments->shell_argv[0] = (char *)(uintptr_t) "/bin/sh";
        arguments->shell_argv[1] = (char *)(uintptr_t) "-c";
        arguments->shell_argv[2] = (char *)(uintptr_t)arguments->shell_text;
        *out = arguments->shell_argv;
        return 0;
    }
    if (first >= argc || !*argv[first]) {
        int r = fail_kind(err, COOP_ERROR_BAD_POLICY, EINVAL, "the command is %s",
                          first >= argc ? "missing" : "empty");

        return fail_hint(err, r, "for example: coop run -- make test");
    }
    *out = argv + first;
    return 0;
}
