/*
 * mount_table.h - a root and mounts, checked as text and put in order
 *
 *   root = "/home/user/project"
 *   /cache from /home/user/.cache
 *
 * The later of two mounts with the same target wins. What a path of a box stands for is answered by
 * the view (plan/view), not here.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/finding.h"

struct mount_entry {
    const char *source; /* host path */
    const char *target; /* path in the box */
    bool readonly;
    struct origin origin;
};

struct mount_config {
    const char *root; /* host path of "/" */
    bool readonly;    /* the root; each mount has its own */
    const struct mount_entry *mounts;
    size_t n_mounts;
    struct origin origin; /* of the root */
};

struct mount_table;

/* Copies. NULL if there are mistakes, each of them a finding, or without memory (findings->failed).
 * A mount that another one hides is a warning. */
struct mount_table *mount_table_new(const struct mount_config *config, struct findings *findings);
void mount_table_free(struct mount_table *table); /* NULL is fine */

/* What is in force, as TOML: normal paths, sorted by target, nothing that is hidden. */
struct buffer;
void mount_table_print(const struct mount_table *table, struct buffer *out);
