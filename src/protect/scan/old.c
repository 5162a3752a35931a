/*
 * old.c - the records of an earlier walk: which is a path's, and which are below it
 */
#include <stdlib.h>
#include <string.h>

#include "protect/scan/entries.h"

static size_t hash_path(const char *path)
{
    uint64_t hash = 0xcbf29ce484222325u;

    for (; *path; path++)
        hash = (hash ^ (unsigned char)*path) * 0x100000001b3u;
    return (size_t)(hash ^ hash >> 32);
}

bool old_entries_init(struct old_entries *old, const struct scan_entries *records)
{
    size_t n_buckets = 16;

    old->records = records;
    while (n_buckets < 2 * records->n)
        n_buckets *= 2;
    old->by_path_mask = n_buckets - 1;
    old->by_path = malloc(n_buckets * sizeof *old->by_path);
    old->first_child = malloc((records->n + 1) * sizeof *old->first_child);
    old->next_sibling = malloc((records->n + 1) * sizeof *old->next_sibling);
    if (!old->by_path || !old->first_child || !old->next_sibling)
        return false;
    memset(old->by_path, 0xFF, n_buckets * sizeof *old->by_path);
    memset(old->first_child, 0xFF, (records->n + 1) * sizeof *old->first_child);
    for (size_t i = records->n; i-- > 0;) {
        size_t at = hash_path(entries_path(records, i)) & old->by_path_mask;

        while (old->by_path[at] != ENTRY_NONE)
            at = (at + 1) & old->by_path_mask;
        old->by_path[at] = (uint32_t)i;
        if (i > 0) {
            old->next_sibling[i] = old->first_child[records->items[i].parent];
            old->first_child[records->items[i].parent] = (uint32_t)i;
        }
    }
    return true;
}

uint32_t old_entries_find(const struct old_entries *old, const char *path)
{
    if (!old->by_path)
        return ENTRY_NONE;
    for (size_t at = hash_path(path) & old->by_path_mask; old->by_path[at] != ENTRY_NONE;
         at = (at + 1) & old->by_path_mask)
        if (strcmp(entries_path(old->records, old->by_path[at]), path) == 0)
            return old->by_path[at];
    return ENTRY_NONE;
}

void old_entries_done(struct old_entries *old)
{
    free(old->first_child);
    free(old->next_sibling);
    free(old->by_path);
}
