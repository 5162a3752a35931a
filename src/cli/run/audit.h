/*
 * audit.h - what coop run and coop allow leave in the audit log
 *
 * A failure is told on standard error and changes nothing, but where the configuration says
 * audit = "required": then run_audit_begin() fails, and nothing is run.
 */
#pragma once

#include "audit/record.h"
#include "cli/option/policy_options.h"

int run_audit_begin(struct policy_arguments *arguments, char *const *command, coop_error **err);
/* While the command runs nobody waits for us; at its end somebody does. */
void run_audit_prepare(struct policy_arguments *arguments, char *const *command);
void run_audit_end(struct policy_arguments *arguments, char *const *command,
                   const coop_result *result);
/* Nothing was run. */
void run_audit_failure(struct policy_arguments *arguments, char *const *command, int status,
                       const coop_error *why);

/* An approval of a project's file was given or taken back (digest NULL). */
void allow_audit(const char *path, const char *digest);
