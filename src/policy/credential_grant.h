/*
 * credential_grant.h - whose requests are sent on with which secret
 *
 * A credential is for the users and providers that it names, as a secret is (secret_grant.h). One
 * that names neither is for boxes that run on nobody's behalf: those of whoever wrote the file.
 * Whom the secret itself is given to makes no difference: it is used, not given.
 */
#pragma once

#include "policy/secret_grant.h"

bool credential_is_granted(const struct config *config, const char *name,
                           const struct trust_decision *decision);

/* Fetches the secrets of those that are granted, and adds them to the policy. -EINVAL: errors are
 * among the findings. */
int credential_grant(const struct config *config, const struct secret_request *request,
                     coop_policy *policy, struct findings *findings);

/* Whether some credential uses the secret. */
bool credential_uses(const struct config *config, const char *secret);

/* For `coop check`: all of them, without running any command. */
void credential_check(const struct config *config, struct findings *findings);
