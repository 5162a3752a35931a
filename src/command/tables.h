/*
 * tables.h - what programs.ini knows about programs, as the build has laid it out
 */
#pragma once

#include "command/program.h"

/* Letters of a sub-command that take a value. */
struct command_letters {
    const char *program;
    const char *command;
    const char *letters;
};

/* A third spelling of a flag: how a word begins, or a letter anywhere in a word of them. */
struct command_implication {
    const char *program;
    const char *command; /* NULL: any */
    const char *flag;
    const char *begins;
    char letter;
};

/* The name of a word, by itself (`behind` is NULL) or behind one of some others. Lists end with NULL. */
struct command_alias {
    const char *const *programs;
    const char *const *behind;
    const char *name;
    const char *const *aliases;
};

/* Words that are short for themselves behind another one: `docker run` is `docker container run`. */
struct command_group {
    const char *const *programs;
    const char *group;
    const char *const *words;
};

/* `docker image build` is `docker buildx build`, and so is `docker build`. */
struct command_move {
    const char *const *programs;
    const char *group, *word;
    const char *kept_group, *kept_word;
};

extern const struct command_program command_programs[];
extern const size_t n_command_programs;
extern const struct command_spelling command_spellings[];
extern const size_t n_command_spellings;
extern const struct command_letters command_letters[];
extern const size_t n_command_letters;
extern const struct command_implication command_implications[];
extern const size_t n_command_implications;
extern const struct command_alias command_aliases[];
extern const size_t n_command_aliases;
extern const struct command_group command_groups[];
extern const size_t n_command_groups;
extern const struct command_move command_moves[];
extern const size_t n_command_moves;
