/*
 * canonical.h - where on the host a path leads, whether or not something is there
 */
#pragma once

#include <linux/limits.h>

/* Absolute, without links as far as it exists; also where its last link leads to nothing yet. `path` is
 * absolute. 0 or -errno. */
int path_canonical(const char *path, char out[PATH_MAX]);
