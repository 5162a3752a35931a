/*
 * mask_steps.h - the steps that protect what exists in a writable tree
 *
 *   pristine   a second mount of the tree, taken before anything is put on it and kept out of sight:
 *              what is cloned from it costs the same however many masks there are already
 *   hold       a directory mounted on itself: it cannot be moved away
 *   freeze     the pristine mount becomes read-only, and so does what is cloned from it
 *   keep       a thing's own read-only clone, on top of it
 *   mask       on top of it something that nobody may open
 *   cover      on top of it a file with other content
 *
 * By descriptors, through no link, and only if the place still holds what the plan saw there: if not,
 * ESTALE. They run in the child: system calls only.
 */
#pragma once

#include "jail/child.h"

long mask_pristine(struct child *child, const struct step *step);
long mask_hold(struct child *child, const struct step *step);
long mask_freeze(struct child *child, const struct step *step);
long mask_keep(struct child *child, const struct step *step);
long mask_hide(struct child *child, const struct step *step);
long mask_cover(struct child *child, const struct step *step);

/* From steps.c. */
long step_clone_of_pool(struct child *child, const char *path);
long step_open_source(const struct step *step);
long step_set_attributes(long mount_fd, unsigned flags, uint64_t set);
