/*
 * program.h - what is known of programs: how to find their sub-command
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct command_program {
    const char *name;
    const char *valued; /* options before the sub-command that take a value; separated by blanks */
    const char *flags;  /* those that take none */
    const char *text;   /* options anywhere whose value is text, never a path */
    const char *directory; /* the option before the sub-command that changes the directory */
    const char *const *runs_others; /* patterns: what makes it run commands from its arguments */
    const char *const *commands;    /* its own sub-commands, where others may be aliases; or NULL */
    bool has_long_single_dash;      /* -race is one option, and --race the same */
    bool takes_whole_options;       /* --forc is not --force */
    bool takes_many;                /* each word is a sub-command: targets of make */
    bool skips_plus;                /* cargo +nightly build */
    bool abbreviates_commands;      /* npm publ */
};

/* By which tables are asked: without the directory. */
const char *command_program_name(const char *path);

/* NULL: nothing is known. */
const struct command_program *command_program_find(const char *name);

/* A flag that has two spellings; NULL and 0 where there is only one. */
struct command_spelling {
    const char *program;
    const char *command;
    char letter;
    const char *name;
};
const struct command_spelling *command_program_spelling(const char *program, const char *command,
                                                        char letter, const char *name, size_t n);

/* Letters of a sub-command that take a value: in `-ofoo` only the o is a flag. NULL: unknown. */
const char *command_program_valued_letters(const char *program, const char *command);

/* A word that does what a flag does: +main and --mirror for `push --force`, -R for `rm -r`. A flag is
 * its long name, or the letter of one that has none. */
bool command_program_implies(const char *program, const char *command, const char *flag,
                             const char *word);
bool command_program_has_plus(const char *program, const char *command, const char *flag);
/* Any word that is no option does. */
bool command_program_has_operand(const char *program, const char *command, const char *flag);

/* Whether a blank-separated list holds the first n bytes of `word`. */
bool command_program_lists(const char *list, const char *word, size_t n);
