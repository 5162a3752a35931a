#include "path_set.h"

#include <string.h>

#include "base/buffer.h"

static size_t count(const char *paths)
{
    size_t n = 0;

    for (; paths && *paths; paths += strlen(paths) + 1)
        n++;
    return n;
}

/* Into the first free bucket; `start` is where the set begins in the buffer. */
static void put(struct buffer *out, size_t start, uint32_t mask, const char *path, bool ignore_case)
{
    char key[PATH_SET_MAX_PATH];
    uint32_t hash;

    if (!path_set_key(path, ignore_case, key, &hash))
        return; /* nor will it be found to be missing */
    uint32_t string = (uint32_t)(out->length - start);
    buffer_append(out, key, strlen(key) + 1);
    if (out->failed)
        return;
    char *buckets = out->data + start + sizeof mask;
    for (uint32_t at = hash & mask;; at = (at + 1) & mask) {
        uint32_t taken;

        memcpy(&taken, buckets + at * sizeof taken, sizeof taken);
        if (taken && strcmp(out->data + start + taken, key) == 0)
            return;
        if (taken)
            continue;
        memcpy(buckets + at * sizeof string, &string, sizeof string);
        return;
    }
}

void path_set_pack(struct buffer *out, const char *paths, bool ignore_case)
{
    size_t start = out->length;
    uint32_t n_buckets = 2;

    while (n_buckets < 2 * count(paths))
        n_buckets *= 2;
    uint32_t mask = n_buckets - 1;
    buffer_append(out, &mask, sizeof mask);
    if (!buffer_reserve(out, n_buckets * sizeof mask))
        return;
    memset(out->data + out->length, 0, n_buckets * sizeof mask);
    out->length += n_buckets * sizeof mask;
    for (; paths && *paths; paths += strlen(paths) + 1)
        put(out, start, mask, paths, ignore_case);
    while (!out->failed && out->length % 4)
        buffer_append_char(out, '\0');
}
