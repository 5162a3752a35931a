/*
 * mount_table_private.h - what a mount table is made of
 */
#pragma once

#include "policy/mount_table.h"

struct mount_table {
    char *scope;                 /* "/" where nothing is restricted */
    struct mount_entry *entries; /* sorted by target, which are all different; the root is "/" */
    size_t n_entries;
    struct mount_config config; /* borrows from the above */
};

/* The entry that a normal path is under; NULL outside the table. */
const struct mount_entry *mount_table_find(const struct mount_table *table, const char *path);

/* What of a normal path lies below the entry's target, without a slash in front. */
const char *mount_entry_below(const struct mount_entry *entry, const char *path);
