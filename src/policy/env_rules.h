/*
 * env_rules.h - which variables reach a command, as tables
 *
 * A command's environment is built, never inherited as a whole. What is in it:
 *   inherited   env_inherited[]: what any program expects; some with a value of coop's own
 *   injected    env_inject(): COOP_SESSION and the like, facts about the run
 *   passed      names that the owner lists in env_passthrough, with the caller's value
 *   set         names with a value, from `env` or a flag
 *   secrets     [secrets], for named users and providers
 * Everything else stays outside because nobody listed it. Two kinds of name stay outside even when
 * somebody does: reserved prefixes, so that a program may believe what it reads there, and
 * env_filtered[], whose values are keys to something on the host or change what a program loads.
 *
 * Filtering concerns passing: a *set* variable has a value that somebody wrote down for this box,
 * so only reserved names are refused there. The search paths of language runtimes (PYTHONPATH,
 * NODE_OPTIONS ...) pass when listed: they hold nothing secret, and what runs inside could set them
 * itself.
 *
 * Names are bytes with a length: a configuration can spell a NUL. Case counts.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "coop/error.h"

#define ENV_PREFIX   "COOP_"
#define ENV_NAME_MAX 255 /* bytes */

struct env_row {
    const char *pattern; /* a name, or its beginning with '*' behind it */
    const char *why;
};

enum env_source { ENV_FROM_COOP, ENV_FROM_CALLER };

struct env_inherited {
    const char *pattern;
    enum env_source source; /* of the value */
};

/* Each ends with a row whose pattern is NULL. */
extern const struct env_inherited env_inherited[];
extern const struct env_row env_reserved[]; /* beside the configured second prefix */
extern const struct env_row env_filtered[];

enum env_answer { ENV_ALLOWED, ENV_BAD_NAME, ENV_RESERVED, ENV_FILTERED };

struct env_verdict {
    enum env_answer answer;
    const char *pattern; /* reserved, filtered: the row or prefix that says so */
    const char *why;     /* not allowed: the end of a sentence */
};

/* `second_prefix` (such as "OBEY_") may be NULL everywhere. */
struct env_verdict env_may_pass(const char *name, size_t n, const char *second_prefix);
struct env_verdict env_may_set(const char *name, size_t n, const char *second_prefix);

/* The same as errors: one sentence, and what to do instead. */
int env_check_pass(const char *name, size_t n, const char *second_prefix, coop_error **err);
int env_check_set(const char *name, size_t n_name, const char *value, size_t n_value,
                  const char *second_prefix, coop_error **err);

/* Capitals, digits and '_', beginning with a letter, ending with '_', at most 32 bytes; not one that
 * would take inherited or filtered names with it. */
int env_check_second_prefix(const char *prefix, size_t n, coop_error **err);

/* Is the name among those that every box has? */
bool env_is_inherited(const char *name, enum env_source *out_source);

/* ---- what coop tells a command about its run; NULL: not told */

struct env_facts {
    const char *session;
    const char *workspace;
    const char *created;
    const char *campaign;
    const char *provider;
    const char *socket;
    const char *memory;
};

/* "COOP_SESSION=...", each followed by its copy under the second prefix, then NULL. One block, to
 * be freed with free(). */
int env_inject(const struct env_facts *facts, const char *second_prefix, char ***out,
               coop_error **err);
