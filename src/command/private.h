/*
 * private.h - what the files that decide about a command share
 */
#pragma once

#include "base/buffer.h"
#include "command/pattern.h"
#include "command/rules.h"

/* The directories in which a command may find itself, as written: "" is where it all starts. */
#define COMMAND_PLACES 8
struct command_places {
    char *items[COMMAND_PLACES];
    size_t n;
};

struct command_decider {
    const struct command_rules *rules;
    const struct command_context *context;
    const struct shell_split *split;
    struct command_decision *out;
    struct command_places possible; /* wherever a `cd` that may have failed leads to */
    struct command_places chain;    /* after `cd x && ...`, for commands that follow `chain_end` */
    int chain_end;
    coop_error **err;
};

/*
 * A step of the decision returns 0: nothing against it; 1: decided, it is not allowed, and *out says
 * why; negative: an error.
 */
int command_deny(struct command_decider *d, const struct shell_command *command,
                 const struct origin *origin, const char *allow, const char *format, ...)
    __attribute__((format(printf, 5, 6)));
/* The same, because it cannot be told what would happen. */
int command_undecided(struct command_decider *d, const struct shell_command *command,
                      const struct origin *origin, const char *fix, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

/* ---- command/paths.c */

void command_places_done(struct command_places *places);
int command_places_start(struct command_places *places, coop_error **err);
/* Where the command numbered `index` runs; keeps track of what `cd` does. */
int command_paths_check(struct command_decider *d, size_t index, const struct command_view *view,
                        const struct origin *origin);
/* Looks ahead at what loops do. */
int command_paths_prepare(struct command_decider *d);

/* ---- command/git.c */

int command_git_check(struct command_decider *d, const struct shell_command *command,
                      const struct command_rule *rule, const struct command_view *view);

/* ---- command/make.c */

int command_make_check(struct command_decider *d, const struct shell_command *command,
                       const struct command_rule *rule, const struct command_view *view);
