/*
 * cache.h - the records of a tree in a file, from one run to the next
 *
 * The file stands where no box can write. It is believed only if it is the caller's own, nobody else
 * may write to it, and its form is right in every detail; anything else is as good as no file. Lost
 * or torn, it costs a walk.
 */
#pragma once

#include "protect/scan/entries.h"

struct cache_key {
    uint64_t dev, ino; /* of the root */
    uint32_t uid;      /* who looks: what cannot be read depends on it */
    uint32_t is_git;
    uint32_t is_beside; /* more names are looked at */
    uint32_t unused;
    unsigned char rules[32]; /* digest */
};

void cache_key_init(struct cache_key *key, const struct protect *protect, uint64_t dev,
                    uint64_t ino, bool is_git_directory, bool is_beside);

/* False if there is none that can be used. */
bool cache_load(const char *directory, const struct cache_key *key, struct scan_entries *out);

/* Makes the directory if need be. What goes wrong only costs time, so it is not told. */
void cache_store(const char *directory, const struct cache_key *key,
                 const struct scan_entries *records);
