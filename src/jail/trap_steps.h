/*
 * trap_steps.h - traps where the box lacks directories of the host's root (trap.h)
 *
 * System calls only: this runs in the child. Until init serves them, a helper does: whoever looks a
 * path up in a trap sleeps until it is answered, and the command's own exec may do so, for which init
 * waits. The helper shares our memory, and is gone before we leave it.
 */
#pragma once

#include "jail/child.h"

/* A host without a usable /dev/fuse has none: child->has_traps says so. */
long trap_make(struct child *child, const struct step *step);

/* A mount of one node, detached; or -errno. Only where child->trap_fd is open. */
long trap_clone_node(const struct child *child, size_t index);

/* A directory of the pool, as a detached mount, in which what is not there is looked for in a node; or
 * -errno: it cannot be watched. "lower" and "work" beside it are made for that. */
long trap_lay_beneath(const struct child *child, const struct step *step, uint64_t attributes);

/* Ends the helper; what is asked from now on waits for init. */
void trap_release(struct child *child);
