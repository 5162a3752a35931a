/*
 * ended.h - how processes of the box have ended that are not init's own children
 *
 * A limit of CPU time or of a file's size is told by a signal, and only the parent of who got it knows.
 * So init takes a descriptor of each process that executes a program under such a limit, and asks it at
 * the end how that one ended: Linux 6.15 tells. Older kernels do not, and then nothing is told.
 *
 * Part of the init image: no libc.
 */
#pragma once

#include "init/notify/call.h"

/* The caller is about to execute something. */
void notify_ended_take(const struct seccomp_notif *asked);

/* At the end of the box: notes limits that were hit. */
void notify_ended_report(void);
