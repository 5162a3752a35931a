/*
 * secret_grant.h - who is given which secret
 *
 * A secret goes to the users that it names and to the boxes of the provider (environment.provider)
 * that it names, or that names it. Nobody else has it, the owner neither. What a user is given in a
 * conversation of their own they are not given in a group that trusts them less: others read along.
 */
#pragma once

#include <stdbool.h>

#include "base/finding.h"
#include "config/config.h"
#include "policy/policy.h"
#include "policy/trust.h"
#include "sys/source.h"

/* `decision` may be NULL: the run is on nobody's behalf. */
bool secret_is_granted(const struct config *config, const char *name,
                       const struct trust_decision *decision);

/* Whom it is for, and where. */
struct secret_request {
    const struct trust_decision *decision; /* NULL: on nobody's behalf */
    const struct source_places *places;    /* that commands write; NULL: none */
    bool is_for_reading; /* only names: nothing is fetched, and no command is run for it */
};

/* Fetches what is granted and adds it to the policy. -EINVAL: errors are among the findings. */
int secret_grant(const struct config *config, const struct secret_request *request,
                 coop_policy *policy, struct findings *findings);

/* For `coop check`: all of [secrets], without running any command. */
void secret_check(const struct config *config, const char *workspace, struct findings *findings);
