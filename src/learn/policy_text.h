/*
 * policy_text.h - what was learned, as a file of coop-policy(5)
 *
 * Every line says what asked for it and how often; what is not suggested is listed in comments, with
 * the reason. Whatever the command chose is written so that it stays in its line and on the screen.
 */
#pragma once

#include "base/buffer.h"
#include "learn/collapse.h"
#include "learn/need.h"

enum learn_limit { LEARN_MEMORY, LEARN_PIDS, LEARN_FILES, LEARN_TMP, LEARN_LIMITS };
/* As records and as the configuration name them; what a box has by default. */
extern const struct learn_limit_words {
    const char *operation;
    const char *key;
    uint64_t usual;
    bool is_size;
} learn_limits[LEARN_LIMITS];

struct learned {
    const char *command; /* to be shown */
    const char *outcome; /* a paragraph, its lines separated by newlines; NULL: none */
    const struct learn_grants *grants;
    const struct learn_needs *needs;
    const char *const *hidden; /* what lies in a directory of the grants, and is not shown */
    size_t n_hidden;
    bool is_unsearched;            /* there may be more of it */
    uint64_t limits[LEARN_LIMITS]; /* 0: as usual */
    /* what the owner gave */
    const char *home;         /* the box's HOME; NULL: its own */
    const char *const *allow; /* hosts */
    size_t n_allow;
    const char *const *env_pass; /* names */
    size_t n_env_pass;
    bool same_path;
    /* Only to look: a gate although nothing is allowed, and names whose port is not known yet. */
    bool is_trial;
};

void learn_write(const struct learned *learned, struct buffer *out);

/* "secrets: only with --with-secrets" */
const char *learn_reason(enum need_verdict verdict);
