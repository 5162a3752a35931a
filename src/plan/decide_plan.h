/*
 * decide_plan.h - what only the plan knows of a policy, for policy/decide/decide.h
 *
 *   struct decide_subject subject = { ..., .decide_syscall = decide_plan_syscall,
 *                                     .has_program = decide_plan_has_program };
 */
#pragma once

#include "policy/decide/decide.h"

/* From the one table of plan/seccomp/rules.h, and for the architecture compiled for. */
int decide_plan_syscall(const struct decide_subject *subject, const char *name,
                        struct decide_answer *out, coop_error **err);

/* Looks at the programs of the host, as enforce.h does: which they are, and what they need. */
int decide_plan_has_program(const struct decide_subject *subject, const char *path,
                            bool is_executing, coop_error **err);
