/*
 * watchfs_steps.h - watched directories where the box lacks directories of the host's root (watchfs.h)
 *
 * System calls only: this runs in the child. Until init serves them, a helper does: whoever looks a
 * path up in a watched directory sleeps until it is answered, and the command's own exec may do so, for which init
 * waits. The helper shares our memory, and is gone before we leave it.
 */
#pragma once

#include "launch/child.h"

/* A mount of one node, detached; or -errno. Only where child->watchfs_fd is open. */
long watchfs_clone_node(const struct child *child, size_t index);

/* A directory of the pool, as a detached mount, in which what is not there is looked for in a node; or
 * -errno: it cannot be watched. "lower" and "work" beside it are made for that. */
long watchfs_lay_beneath(const struct child *child, const struct step *step, uint64_t attributes);

/* Ends the helper; what is asked from now on waits for init. */
void watchfs_release(struct child *child);
