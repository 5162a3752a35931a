/*
 * jobs.h - jobs and shells of a set of tools: commands that go on when their call has ended
 *
 * They live in one box that is started with the first of them and ends with the set of tools:
 * supervise/shared_box.h. So one client's share a loopback, and nobody else's.
 */
#pragma once

#include "supervise/shared_box.h"
#include "tools/tools.h"

/* `bash` with "background" and with "shell". */
int jobs_background(struct tool_call *call, coop_error **err);
int jobs_shell(struct tool_call *call, coop_error **err);

/* The box, which is started if need be; the caller's to unref. */
int jobs_box(coop_tools *tools, struct shared_box **out, coop_error **err);
/* Whether the rules for commands let it run; they are asked for each job, as for each box. */
int jobs_admit(const struct tool_call *call, char *const argv[], coop_error **err);
/* Milliseconds that a job may run, `asked` at most. */
uint64_t jobs_time(const struct tool_call *call, uint64_t asked_ms);

/* What the box refused it, below its output; moves the job's mark behind it. */
void jobs_print_denials(struct shared_box *box, uint32_t id, size_t from, struct buffer *out);

/* Ends all of them, and the box. */
void jobs_end(coop_tools *tools);
