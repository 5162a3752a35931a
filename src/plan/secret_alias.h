/*
 * secret_alias.h - other paths that the host's mounts give to the same file
 *
 * A directory may be mounted at a second place of the host (mount --bind, a file system that is mounted
 * twice), and then realpath(3) tells two paths for one thing. What is hidden must be hidden at both.
 */
#pragma once

#include <stddef.h>

#include "coop/error.h"
#include "survey/probe/probe.h"

struct secret_mounts {
    char *text; /* of /proc/self/mountinfo, taken apart */
    struct probe_mount *items;
    size_t n;
};

int secret_mounts_read(struct secret_mounts *out, coop_error **err);
void secret_mounts_done(struct secret_mounts *mounts);

/* Calls `each` for every other path of what is at `real`, which need not exist, or of a part of it. What
 * exists and is covered by another mount at the other path does not count. Ends with the first result that
 * is not 0. */
int secret_each_alias(const struct secret_mounts *mounts, const char *real,
                      int (*each)(void *context, const char *path), void *context);
