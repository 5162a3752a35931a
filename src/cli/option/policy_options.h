/*
 * policy_options.h - the options of `run`, `plan` and `why` that make a policy
 */
#pragma once

#include "audit/settings.h"
#include "base/buffer.h"
#include "base/log_sink.h"
#include "cli/command.h"
#include "coop/coop.h"
#include "run_config/run_config.h"

#define POLICY_MAX_KEEP 64
#define POLICY_MAX_PASS 256

struct chain;

struct policy_arguments {
    coop_policy *policy;
    struct run_config identity;
    char *root;      /* of --root */
    char **writable; /* sources of mounts that flags name, NULL-ended; NULL: not looked for */
    coop_run_options options;
    int keep_fds[POLICY_MAX_KEEP];
    const char *env_pass[POLICY_MAX_PASS + 1];
    size_t n_env_pass;
    char *shell_argv[4]; /* of -c */
    char **cron_argv;    /* of --cron */
    const char *shell_text;
    const char *network_flag; /* where one was given; else NULL */
    bool names_hosts;         /* a flag did */
    bool tty, json, quiet, has_timeout, as_bwrap;
    bool is_question; /* who may run nothing gets that as the answer */
    struct audit_settings audit;
    struct chain *audit_log;     /* opened while there was time; NULL: not yet */
    struct buffer audit_command; /* in short */
    bool is_refused;             /* the configuration, or who it is, does not let anything run */
    char **operands;             /* what follows the options, NULL until that is known */
    struct log_sink sink;
    bool output_to_stderr, without_input; /* how a command is connected that coop learn watches */
    bool is_interrupted;                  /* by a signal from outside, which the command has too */
};

/* Reads the configuration and the flags. Returns as command_parse() does; to be undone in any case. */
int policy_arguments_parse(struct policy_arguments *arguments, const struct command *command,
                           int argc, char **argv, coop_error **err);
int policy_arguments_init(struct policy_arguments *arguments, coop_error **err);
void policy_arguments_done(struct policy_arguments *arguments);

/* The command: what follows the options, or a shell for -c. */
int policy_arguments_command(struct policy_arguments *arguments, int argc, char **argv, int first,
                             char *const **out, coop_error **err);

extern const struct command_option policy_options_run[];
extern const struct command_option policy_options_plan[];
extern const struct command_option policy_options_why[];
