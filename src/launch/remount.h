/*
 * remount.h - attributes of mounts on kernels without mount_setattr (before 5.12)
 *
 * Runs in the child, like steps.c: system calls only.
 */
#pragma once

#include <stdint.h>

/* Adds MOUNT_* attributes to every mount at or below `target`, a path below root_fd, "" for all. */
long remount_below(int root_fd, const char *target, uint64_t attributes);

/* The same for the one mount at `path`. */
long remount_exactly(int root_fd, const char *path, uint64_t attributes);
