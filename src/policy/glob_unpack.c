/*
 * glob_unpack.c - packed patterns, for whoever has no libc
 */
#include <stdint.h>

#include "policy/glob_pack.h"
#include "policy/glob_private.h"

static void *pointer(void *packed, const void *at)
{
    return (char *)packed + (uintptr_t)at;
}

const struct glob *glob_unpack(void *packed, size_t *out_n)
{
    uint64_t n = *(const uint64_t *)packed;
    struct glob *globs = (struct glob *)(void *)((char *)packed + sizeof n);

    for (uint64_t i = 0; i < n; i++) {
        struct glob *glob = &globs[i];

        glob->components = pointer(packed, glob->components);
        glob->ranges = pointer(packed, glob->ranges);
        for (size_t j = 0; j < glob->n_components; j++) {
            struct glob_component *component = &glob->components[j];

            component->text = pointer(packed, component->text);
            component->tokens = pointer(packed, component->tokens);
        }
    }
    *out_n = (size_t)n;
    return globs;
}

const struct glob *glob_packed(const struct glob *globs, size_t i)
{
    return &globs[i];
}
