/*
 * from_config.h - the policy that a configuration gives somebody
 *
 *   config (files) + identity -> policy_identify() -> policy_from_config() -> coop_policy
 *
 * Everything that can be wrong is a finding with its place; nothing is left out silently.
 */
#pragma once

#include "base/finding.h"
#include "config/config.h"
#include "policy/policy.h"
#include "policy/trust.h"

/* Who the configuration names, as trust.h wants it; borrows from the config. */
struct policy_people {
    struct trust_user *users;
    struct config_value *overrides; /* by user: its `sandbox`, not set where it has none */
    size_t n_users;
    struct trust_group *groups;
    size_t n_groups;
};

int policy_people_new(const struct config *config, struct policy_people *out, coop_error **err);
void policy_people_done(struct policy_people *people);
#define auto_people __attribute__((cleanup(policy_people_done)))

/* What a run is given besides its policy. Zero it first. */
struct policy_run {
    uint64_t timeout_ms;         /* 0: none */
    uint64_t session_timeout_ms; /* of all calls of a set of tools together; 0: none */
    struct origin session_timeout_origin;
    const char **env_pass; /* NULL-ended; the names are the config's */
    size_t n_env_pass;
};
void policy_run_done(struct policy_run *run);

/* Decides for an identity, and puts its user's overrides into the config. */
int policy_identify(struct config *config, const struct policy_people *people, const char *identity,
                    const char *group, struct trust_decision *out, coop_error **err);

/*
 * Fills a new policy with what the config says. Paths of the config are made absolute from `base`,
 * the workspace. -EINVAL: errors are among the findings.
 */
int policy_from_config(const struct config *config, const char *base, coop_policy *policy,
                       struct policy_run *run, struct findings *findings);
