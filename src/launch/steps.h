/*
 * steps.h - a function for each kind of step (plan/step_kinds.h), and what they share
 *
 * They run between clone and exec in memory that is the caller's: system calls only.
 *
 *   box_steps.c       cgroup, ids, limits, terminal
 *   mount_steps.c     mounts, the root
 *   root_view_steps.c a directory of the host as the root
 *   watchfs_steps.c   watched directories
 *   mask_steps.c      what protects things that exist
 *   network_steps.c   the network namespace
 *   command_steps.c   the command's own process
 */
#pragma once

#include "launch/child.h"

/* Each returns 0 or -errno. */
#define STEP(kind, handler, name, form, traits) \
    long handler(struct child *child, const struct step *step);
STEP_KIND_ROWS(STEP)
#undef STEP

long step_clone_of_pool(struct child *child, const char *path);
long step_open_source(const struct step *step);
long step_set_attributes(long mount_fd, unsigned flags, uint64_t set);
/* The number as text that ends before `end`: its start. */
const char *step_decimal(uint64_t number, char *end);
