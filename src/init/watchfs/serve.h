/*
 * door_trap.h - init serves the traps (trap.h), and tells what somebody looked for in them
 *
 * By a thread of its own, because init itself looks up paths on behalf of others and may come into a
 * trap: then it waits for the thread, which looks up no path that leads into one, and behind one only
 * what the kernel finds without asking. A thread of pid 1 is out of reach for signals from inside, as
 * init is. It has a table of descriptors of its own, in which alone the traps are open: when init is
 * killed, so is the thread, the last descriptor goes, and the kernel wakes whoever still sleeps in a
 * trap.
 *
 * The answer is given before anything is told, and is always the same. What is told is read from the
 * memory of the one who asks, and decides nothing.
 *
 * Part of the init image: no libc.
 */
#pragma once

#include <stdbool.h>

/* `nodes`: the text of trap_nodes.h, which is changed and kept. `skips_writes`: door_watch.h tells of what writes. False: no thread. */
bool door_trap_start(char *nodes, bool skips_writes);

/* Waits until all is told that those who have ended looked for. */
void door_trap_settle(void);

/* Whether a process id is the thread's: its descriptors are not the caller's. */
bool door_trap_is(unsigned long pid);
