/*
 * commands.h - a policy's part about commands
 */
#pragma once

#include "policy/policy.h"

/* Takes the rules, and copies of the names in their origins. */
int policy_take_commands(coop_policy *policy, struct command_rules *rules, coop_error **err);
int policy_copy_commands(const coop_policy *from, coop_policy *to, coop_error **err);
void policy_free_commands(coop_policy *policy);

/* commands_config.c: what [commands] says; mistakes are findings. */
struct config;
void policy_fill_commands(const struct config *config, coop_policy *policy,
                          struct findings *findings);

extern const char *const policy_strength_names[]; /* by coop_command_strength */
