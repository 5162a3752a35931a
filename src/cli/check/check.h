/*
 * check.h - the parts of coop check
 */
#pragma once

#include "base/buffer.h"
#include "base/json/write.h"
#include "coop/coop.h"
#include "run_config/run_config.h"

/* An expectation of the policy's, and what became of it. */
struct check_expectation {
    char *text; /* "deny read .env" */
    char *as;   /* NULL: nobody in particular */
    bool holds;
    bool is_allowed;
    char *rule, *origin, *why, *change;
    const char *live;  /* NULL: not asked for; "agrees", "disagrees", "not tried" */
    const char *tried; /* what was done for it, or why nothing; NULL: not asked for */
};

struct check {
    struct run_config identity; /* its findings are the result */
    coop_policy *policy;
    coop_probe *probe;
    bool json, strict, live, narrower;
    struct check_expectation *expectations;
    size_t n_expectations;
    size_t n_held;
};

/* What the configuration gives an identity, in the workspace that was found. */
int check_fill(struct run_config *identity, coop_policy *policy, coop_error **err);

/* cli/check/host.c: what only a look at the host tells. */
void check_sandbox(struct check *check);
void check_limits(struct check *check);
void check_workspace(struct check *check);
void check_sources(struct check *check);
/* Users whose own keys give them more than [sandbox]. */
int check_overrides(struct check *check, coop_error **err);

/* cli/check/expect.c: decides each [[expect]], and tries it with --live. */
int check_expectations(struct check *check, coop_error **err);
void check_expectations_done(struct check *check);

/* cli/check/narrower.c: 1 if the child's file gives nobody more than the parent's; 0 and *counter, the
 * caller's to free, if it does. -EINVAL without an error: there are findings. */
int check_narrower(const char *parent, const char *child, struct findings *findings, char **counter,
                   coop_error **err);
