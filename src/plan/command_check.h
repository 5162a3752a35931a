/*
 * command_check.h - whether the policy lets this command run, before anything is started
 */
#pragma once

#include "plan/plan.h"

/*
 * Decides argv by `rules`, usually the policy's; paths in it must lead to something that the box
 * shows. The plan's workspace must be known: after plan_workspace().
 */
int command_check_decide(const struct plan *plan, const struct command_rules *rules,
                         char *const argv[], struct command_decision *out, coop_error **err);

/* The refusal as an error: what was asked for, why not, by which rule, and what would allow it. */
int command_check_refuse(const struct command_decision *decision, char *const argv[],
                         coop_error **err);

/* Both, by the policy's own rules, where it has a strength at all. */
int command_check(const struct plan *plan, char *const argv[], coop_error **err);
