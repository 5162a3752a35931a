/*
 * serve.h - init serves the watched directories (watchfs.h), and tells what somebody looked for in them
 *
 * By a thread of its own, because init itself looks up paths on behalf of others and may come into a
 * watched directory: then it waits for the thread, which looks up no path that leads into one, and behind one only
 * what the kernel finds without asking. A thread of pid 1 is out of reach for signals from inside, as
 * init is. It has a table of descriptors of its own, in which alone the watched directories are open: when init is
 * killed, so is the thread, the last descriptor goes, and the kernel wakes whoever still sleeps in a
 * watched directory.
 *
 * The answer is given before anything is told, and is always the same. What is told is read from the
 * memory of the one who asks, and decides nothing.
 *
 * Part of the init image: no libc.
 */
#pragma once

#include <stdbool.h>

/* `nodes`: the text of watchfs_nodes.h, which is changed and kept. `skips_writes`: init/notify/watch.h tells of what writes. False: no thread. */
bool watchfs_start(char *nodes, bool skips_writes);

/* Waits until all is told that those who have ended looked for. */
void watchfs_settle(void);

/* Whether a process id is the thread's: its descriptors are not the caller's. */
bool watchfs_is(unsigned long pid);
