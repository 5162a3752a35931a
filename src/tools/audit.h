/*
 * audit.h - each call of a tool leaves a record and has a span of its own
 */
#pragma once

#include "audit/record.h"
#include "base/log.h"
#include "coop/result.h"
#include "tools/tool.h"

/* What is known of a call when it has ended. */
struct tool_audit {
    struct audit_outcome outcome; /* of its last box; empty where there was none */
    char session[64];             /* that its command was told; "": none */
    coop_log log;                 /* for what happens within the call */
};

/* Runs the call (`i`: the place of its tool in the table) and records it. Where it must be recorded
 * and cannot, it is not run. */
int tools_audit(struct tool_call *call, size_t i,
                int (*run)(struct tool_call *call, size_t i, coop_error **err), coop_error **err);

/* A box of the call has ended. */
void tools_audit_result(const struct tool_call *call, const coop_result *result);
