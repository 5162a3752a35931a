/*
 * learn.h - parts of coop learn: what is known so far, and what a run adds to it
 */
#pragma once

#include "base/buffer.h"
#include "cli/option/policy_options.h"
#include "coop/coop.h"
#include "learn/classify.h"
#include "learn/collapse.h"
#include "learn/need.h"
#include "learn/policy_text.h"

#define LEARN_GIVEN_MAX 64

struct learning {
    /* flags */
    const char *workspace, *timeout, *output, *shell_text;
    unsigned max_rounds;
    bool no_prove, use_home, same_path, quiet;
    const char *allow[LEARN_GIVEN_MAX];
    size_t n_allow;
    const char *env_pass[LEARN_GIVEN_MAX];
    size_t n_env_pass;

    struct policy_arguments usual; /* without what is learned: where the audit log is */
    struct learn_places places;
    char *own[LEARN_PRIVATE_MAX]; /* what places.own borrows */
    char *home, *workspace_path;
    const char *view; /* the workspace, as the box sees it */
    char *const *command;
    char *shell_argv[4];

    unsigned round; /* runs so far */
    struct learn_needs needs;
    uint64_t limits[LEARN_LIMITS];
    char own_config[64];     /* where a run finds its policy */
    struct buffer unwatched; /* kinds of refusals that nobody could see */

    /* of the last run */
    int status;
    uint64_t n_refused;
    unsigned n_new; /* needs that change the next run */
    bool is_timed_out, is_interrupted, has_failed;
};

extern const struct command_option learn_options[];
/* After the options: where the owner's and coop's own things are. */
int learn_find_places(struct learning *learning, coop_error **err);

/* One run. trial: in a box that lets more be seen; else under the policy that would be suggested. */
int learn_round(struct learning *learning, bool is_trial, coop_error **err);

/* What the result says was refused. */
void learn_take(struct learning *learning, const coop_result *result);
/* A program that could not be executed, by its path. */
void learn_take_program(struct learning *learning, const char *path);

/* Of a round: which kinds of refusals this host cannot see. */
void learn_take_watched(struct learning *learning, const coop_result *result);

/* Writes what is known so far; trial: to look further. -ENOMEM. */
int learn_text(const struct learning *learning, bool is_trial, const char *outcome,
               struct buffer *out);
/* Directories that are made empty for the next run, to see what is looked for in them. */
bool learn_is_stand_in(const struct learning *learning, const struct need *need);

#define LEARN_HIDDEN_MAX 50

/* What looks like a secret in the directories that are shown, and was not asked for itself. */
struct learn_hidden {
    char *paths[LEARN_HIDDEN_MAX];
    size_t n;
    bool is_unsearched; /* there was too much to look at */
};
void learn_search(const struct learning *learning, const struct learn_grants *grants,
                  struct learn_hidden *out);
void learn_hidden_done(struct learn_hidden *hidden);
