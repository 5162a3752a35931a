/*
 * live.h - tries in a real box what a policy is expected to allow or deny
 *
 *   live_try()       outside: runs the box
 *   live_decide()    outside: asks what a run of the command would be told, and does not run it
 *   live_inside()    inside: tries one act and prints its errno
 *
 * What is there is not changed: a file that exists is opened for writing and closed again; where there
 * is none, one is made and removed. Nothing is executed: the kernel is asked whether it would be.
 * Commands are not run either, since nobody knows what they do.
 */
#pragma once

#include "coop/coop.h"
#include "policy/decide/decide.h"

struct live_request {
    const coop_policy *policy;
    const char *const *env_pass; /* NULL: none */
    coop_tier tier;              /* of this host */
    const struct decide_question *question;
    const char *place; /* of a path: where the box has it; NULL: as it is written */
};

/* *out is 0 where it worked, or an errno. Fails when the box cannot be run. */
int live_try(const struct live_request *request, int *out, coop_error **err);

/* The same of a text for bash: as for a run, with the rules and the workspace of one, up to the point
 * where the box would be made. */
int live_decide(const struct live_request *request, const char *text, int *out, coop_error **err);

/* argv: ACT TARGET */
int live_inside(int argc, char **argv);

#define LIVE_INSIDE "--inside"
