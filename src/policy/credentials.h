/*
 * credentials.h - secrets that are added to requests on their way: a part of the policy
 *
 * Requests of the box to http://NAME.coop.internal go to one host over TLS, with a field that holds
 * the secret. Only with the network 'gate'; the box itself never has the value.
 */
#pragma once

#include "policy/policy.h"

/* As coop_policy_add_credential(), and remembers who said so. */
int policy_add_credential(coop_policy *policy, const coop_credential *credential,
                          struct origin origin, coop_error **err);

int policy_copy_credentials(const coop_policy *from, coop_policy *to, coop_error **err);
void policy_free_credentials(coop_policy *policy);
/* What a request says of them, over what stands there. */
int policy_overlay_credentials(const coop_policy *request, coop_policy *child, coop_error **err);

/* Those that are in force, with the policy's network. */
size_t policy_n_credentials(const coop_policy *policy);

/* By "NAME.coop.internal"; NULL: none in force. */
const struct policy_credential *policy_find_credential(const coop_policy *policy, const char *host);
/* By the variable that tells the box where to send its requests. */
const struct policy_credential *policy_credential_of_variable(const coop_policy *policy,
                                                              const char *variable);
