/*
 * command.h - a subcommand of coop: its table entry, from which --help is printed
 *
 * Each subcommand file ends in its entry:
 *
 *   const struct command command_status = { "status", "", "show ...", options, status_main };
 */
#pragma once

#include <stdbool.h>
#include <stdio.h>

#include "coop/error.h"

struct command_option {
    const char *name;  /* long name without dashes; NULL ends the list */
    char letter;       /* 0 if none */
    const char *value; /* what it takes, for example "DIR"; NULL if nothing */
    const char *help;
    /* For command_parse(); value is NULL where the option takes none. */
    int (*apply)(void *context, const char *value, coop_error **err);
    bool is_early; /* applied by command_parse_early(), because the others depend on it */
};

struct command {
    const char *name;
    const char *arguments;
    const char *summary;
    const struct command_option *options;
    int (*run)(int argc, char **argv); /* argv[0] is the subcommand's name */
};

void command_help(const struct command *command, FILE *out);

/*
 * Walks argv and applies each option to `context`, up to the first operand or "--". Returns the
 * index of the first operand, or -EINVAL with a sentence, or -ECANCELED after --help was printed.
 */
int command_parse(const struct command *command, int argc, char **argv, void *context,
                  coop_error **err);

/* The same, for options that are early only; the others are checked for form. */
int command_parse_early(const struct command *command, int argc, char **argv, void *context,
                        coop_error **err);

/* Prints "coop NAME: message" and the hint on stderr, made safe for a terminal. */
void command_complain(const char *name, const coop_error *err);

extern const struct command command_run;
extern const struct command command_plan;
extern const struct command command_status;
extern const struct command command_doctor;
extern const struct command command_config;
extern const struct command command_check_config;
extern const struct command command_whoami;
extern const struct command command_allow;
extern const struct command command_mcp;
extern const struct command command_why;
extern const struct command command_learn;
extern const struct command command_net;
extern const struct command command_audit;
