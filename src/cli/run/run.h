/*
 * run.h - parts of coop run that its ways to connect share
 */
#pragma once

#include "base/buffer.h"
#include "cli/option/policy_options.h"

/* With a terminal of its own, through the caller's terminal. */
int run_tty(coop_sandbox *sandbox, char *const argv[], struct policy_arguments *arguments,
            coop_result **out, coop_error **err);

/* What it prints goes out as it comes. */
int run_streaming(coop_sandbox *sandbox, char *const argv[], struct policy_arguments *arguments,
                  coop_result **out, coop_error **err);

/* Signals that coop passes on, blocked and readable. */
int run_signal_fd(void);

/* One line on stderr when the box is weaker than full. */
void run_say_tier(const coop_box *box, const struct policy_arguments *arguments);

/* The document for a run that never began; `asked` is what was to be executed. */
void run_json_error(struct buffer *out, const coop_error *err, int status, const char *asked);
