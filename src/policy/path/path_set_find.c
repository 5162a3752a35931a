/*
 * path_set_find.c - the half of path_set.h that is in the init image too: no libc
 */
#include <string.h>

#include "glob/name_fold.h"
#include "policy/path/path_set.h"

bool path_set_key(const char *path, bool ignore_case, char out[PATH_SET_MAX_PATH],
                  uint32_t *out_hash)
{
    size_t n = strlen(path);
    uint32_t hash = 0x811C9DC5u;

    if (n >= PATH_SET_MAX_PATH)
        return false;
    if (ignore_case)
        n = name_fold(path, n, out);
    else
        memcpy(out, path, n);
    out[n] = '\0';
    for (size_t i = 0; i < n; i++)
        hash = (hash ^ (unsigned char)out[i]) * 0x01000193u;
    *out_hash = hash ^ hash >> 15;
    return true;
}

bool path_set_has(const void *set, const char *path, bool ignore_case)
{
    const uint32_t *mask = set;
    const uint32_t *buckets = mask + 1;
    char key[PATH_SET_MAX_PATH];
    uint32_t hash;

    if (!path_set_key(path, ignore_case, key, &hash))
        return true;
    for (uint32_t at = hash & *mask; buckets[at]; at = (at + 1) & *mask)
        if (strcmp((const char *)set + buckets[at], key) == 0)
            return true;
    return false;
}
