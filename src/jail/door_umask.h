/*
 * door_umask.h - the caller's file mode creation mask, for what init makes on its behalf
 *
 * Everybody starts with the same one, and few ever change it: until somebody does, nothing needs to
 * be looked up.
 *
 * Part of the init image: no libc.
 */
#pragma once

#include "jail/door_call.h"

void door_umask_start(unsigned umask);
void door_umask_changed(void); /* somebody calls umask(2) */

/* Makes ours what the caller's is. */
void door_umask_take(const struct seccomp_notif *asked);
