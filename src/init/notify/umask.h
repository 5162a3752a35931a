/*
 * umask.h - the caller's file mode creation mask, for what init makes on its behalf
 *
 * Everybody starts with the same one, and few ever change it: until somebody does, nothing needs to
 * be looked up.
 *
 * Part of the init image: no libc.
 */
#pragma once

#include "init/notify/call.h"

void notify_umask_start(unsigned umask);
void notify_umask_changed(void); /* somebody calls umask(2) */

/* Makes ours what the caller's is. */
void notify_umask_take(const struct seccomp_notif *asked);
