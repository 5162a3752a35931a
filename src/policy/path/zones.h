/*
 * zones.h - the older way to say which directories there are, read as a mount table
 *
 *   basePath = "/tmp/sandbox"                              root = "/tmp/sandbox/project"
 *   zones.workspace = { path = "project", writable }       /cache = "/tmp/sandbox/cache", read-only
 *   zones.cache = { path = "cache" }
 *
 * The zone called "workspace" becomes the root; without one, the first that is writable; without
 * that, the only one there is. The others become mounts at /NAME. A zone that is not writable is
 * read-only.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/finding.h"

struct zone {
    const char *name;
    const char *path; /* relative to the base, or absolute and below it */
    bool writable;
    struct origin origin;
};

struct zones {
    const char *base_path;
    const struct zone *zones; /* in the order of the file */
    size_t n_zones;
    struct origin origin;
};

struct mount_table;

/* NULL if there are mistakes, each of them a finding, or without memory (findings->failed). */
struct mount_table *zones_convert(const struct zones *zones, struct findings *findings);
