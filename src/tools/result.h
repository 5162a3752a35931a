/*
 * result.h - from a tool's reply to the caller's result
 */
#pragma once

#include "tools/tool.h"

/* Takes what is in the reply; NULL: out of memory, and then it is the caller's still. */
coop_tool_result *result_of(struct tool_reply *reply);

void reply_done(struct tool_reply *reply);
#define auto_reply __attribute__((cleanup(reply_done)))
