/*
 * lifetime.h - how long a session of tools may live: sandbox.session_timeout
 *
 * It begins with the first call, and a set of tools that takes the place of another one goes on with
 * its time. When it is over no call begins any more, and no command runs on beyond it.
 */
#pragma once

#include "tools/tools.h"

/* Goes on with the time of these. */
void lifetime_continue(coop_tools *tools, const coop_tools *before);
/* A call comes: begins the time, or -EACCES when it is over. */
int lifetime_check(coop_tools *tools, coop_error **err);
/* What is left of it in milliseconds, at least one; UINT64_MAX: it has no end. */
uint64_t lifetime_left_ms(coop_tools *tools);
