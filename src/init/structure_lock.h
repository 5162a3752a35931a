/*
 * structure_lock.h - one turn for all who change the structure of directories
 *
 * Whoever makes a name in a workspace first asks the rules about the place, and whoever moves a
 * directory to a stricter place first looks through it. Two boxes, or a box and a file tool, could do
 * both at once: one makes `t/config` while the other makes `t` to `.git`. So names are made with the
 * lock shared, and such directories moved with the lock alone, from the question to the act.
 *
 * It is a flock(2) on the user namespace that coop runs in (/proc/self/ns/user). All users, versions
 * and processes have that one in common, whatever their directories are called, and workspaces that lie
 * in each other or are the same by two paths need no thought. A box lives in a namespace of its own and
 * cannot open this one. Nothing can be deleted or exchanged, nothing is left behind, and the kernel
 * releases the lock when its holder dies.
 *
 * Nothing that may wait for others is done while it is held. Who does not get it in time refuses.
 */
#pragma once

#include <stdbool.h>

#include "coop/error.h"

#define STRUCTURE_LOCK_FILE    "/proc/self/ns/user"
#define STRUCTURE_LOCK_WAIT_MS 5000

/* For a box's init, which opens it once more: the lock is its own. -errno. */
int structure_lock_open(coop_error **err);

/* The lock, as a descriptor; -EBUSY: somebody does not let go of it. */
int structure_lock_take(bool is_alone, coop_error **err);
/* As soon as possible; sets it to -1, and -1 is fine. */
void structure_lock_release(int *lock);
#define auto_structure_lock __attribute__((cleanup(structure_lock_release)))
