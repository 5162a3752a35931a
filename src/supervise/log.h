/*
 * log.h - what a box tells a log: the span "sandbox_exec"
 */
#pragma once

#include "supervise/box.h"

/* The command runs: what it is, under which policy, by which steps, and what is weaker than asked. */
void box_log_start(const struct coop_box *box, char *const argv[]);
/* It does not, and `err` (may be NULL) says why. */
void box_log_failure(const struct coop_box *box, char *const argv[], int r, const coop_error *err);
void box_log_end(const struct coop_box *box, const coop_result *result);
