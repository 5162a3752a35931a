/*
 * pattern.h - "push --force": words in their order, flags anywhere
 *
 * A pattern stands for a set of commands: those that begin with its words and have all its flags.
 * Words and flags are kept in one spelling: "-f" and "--force" of `git push` are the same, and so are
 * `docker run` and `docker container run`.
 */
#pragma once

#include "base/buffer.h"
#include "command/alias.h"
#include "command/program.h"
#include "command/shell/split.h"

#define COMMAND_PATTERN_WORDS 8
#define COMMAND_PATTERN_FLAGS 16
#define COMMAND_PATTERN_SIZE  256

struct command_flag {
    char name[64]; /* without dashes; "" if there is no long form */
    char letter;   /* 0: there is no short form */
};

struct command_shape {
    char words[COMMAND_PATTERN_WORDS][64];
    size_t n_words;
    struct command_flag flags[COMMAND_PATTERN_FLAGS]; /* sorted, none twice */
    size_t n_flags;
};

/* NULL, or what is wrong with the pattern: the end of a sentence. */
const char *command_shape_read(const char *program, const char *text, struct command_shape *out);
/* In the spelling that is kept, which reads back to the same shape. */
void command_shape_print(const struct command_shape *shape, struct buffer *out);

/* The sub-command whose flags they are: "run" of "container run"; NULL: those of any. */
const char *command_shape_command(const char *program, const struct command_shape *shape);
/*
 * Which spellings a flag has depends on the sub-command. A pattern without one ("--force") means the
 * flag in each sub-command's own spellings: this gives it those of one.
 */
void command_shape_respell(const char *program, const char *command, struct command_shape *shape);
/*
 * A group holds commands that are kept elsewhere, as "image" does with `docker image build`. The i-th
 * of them, with the flags of `shape`; false: there is none.
 */
bool command_shape_elsewhere(const char *program, const struct command_shape *shape, size_t i,
                             struct command_shape *out);

/* Whether every command of `narrow` is one of `wide`. */
bool command_shape_covers(const char *program, const struct command_shape *wide,
                          const struct command_shape *narrow);
/* The commands of both; false: there are none. */
bool command_shape_meet(const char *program, const struct command_shape *a,
                        const struct command_shape *b, struct command_shape *out);

/* ---- a command, as patterns see it */

struct command_view {
    const char *program; /* by which tables are asked */
    const struct command_program *known;
    const struct shell_word *words; /* the program's name is the first */
    size_t n;
    bool has_more;
    size_t at;                  /* the sub-command; n: there is none */
    struct command_names names; /* by which it goes; none: there is none, or it cannot be told */
    const char *command;        /* that of them whose flags follow, or NULL likewise */
    const char *unknown;        /* why it cannot be told: a sentence's end; NULL: it can */
    size_t unknown_at;
};

void command_view_init(struct command_view *view, const char *program,
                       const struct shell_command *command);
/* The next sub-command of a program that takes several; false: there is none. */
bool command_view_next(struct command_view *view);

enum command_answer { COMMAND_NO, COMMAND_MAYBE, COMMAND_YES };

/* `must`: a yes has to be certain (it allows); otherwise every spelling of a flag counts. */
enum command_answer command_shape_match(const struct command_shape *shape,
                                        const struct command_view *view, bool must);
