/*
 * check.h - what is wrong with a policy that every key by itself is right in
 *
 * Rules that hide each other, that give what others take, that say nothing. All of it is found in the
 * text; whether sources exist is for whoever can look.
 */
#pragma once

#include "base/finding.h"
#include "config/config.h"
#include "policy/from_config.h"
#include "policy/policy.h"

/* Where things are on the host; absolute, NULL: not known. */
struct check_host {
    const char *workspace;
    const char *home;
};

/* All of the below. */
void check_policy(const struct config *config, const coop_policy *policy,
                  const struct check_host *host, struct findings *findings);

/* Errors: mounts that blocks hide; blocks that miss what they name, because the box shows it under
 * another path. Warnings: mounts that change nothing, or show the workspace once more. */
void check_mounts(const coop_policy *policy, const struct check_host *host,
                  struct findings *findings);

/* Errors: a pattern both denied and allowed. Warnings: patterns given twice, or that change nothing
 * because the directory around them is hidden. */
void check_protect(const coop_policy *policy, struct findings *findings);

/* Variables that are set and passed, or listed twice. */
void check_environment(const struct config *config, struct findings *findings);
/* Hosts that no gate asks about, or both allowed and denied. */
void policy_check_network(const struct config *config, struct findings *findings);
/* [commands]: contradictions, and rules that nobody asks. */
void policy_check_commands(const struct config *config, const coop_policy *policy,
                           struct findings *findings);
/* Users, groups, and whom cron entries run for. */
void check_people(const struct config *config, const struct policy_people *people,
                  struct findings *findings);
/* sandbox.root and its mounts, as a table. */
void check_root(const struct config *config, const char *base, struct findings *findings);
