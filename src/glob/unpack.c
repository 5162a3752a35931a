/*
 * unpack.c - packed patterns, for whoever has no libc
 */
#include <stdint.h>

#include "glob/pack.h"
#include "glob/private.h"

static void *pointer(void *packed, const void *at)
{
    return (char *)packed + (uintptr_t)at;
}

static void unpack(struct glob *glob)
{
    glob->components = pointer(glob, glob->components);
    glob->ranges = pointer(glob, glob->ranges);
    for (size_t i = 0; i < glob->n_components; i++) {
        struct glob_component *component = &glob->components[i];

        component->text = pointer(glob, component->text);
        component->tokens = pointer(glob, component->tokens);
    }
}

void glob_unpack(void *packed)
{
    const uint64_t *places = packed;

    for (uint64_t i = 0; i < places[0]; i++)
        unpack((struct glob *)((char *)packed + places[1 + i]));
}

size_t glob_n_packed(const void *packed)
{
    return (size_t) * (const uint64_t *)packed;
}

const struct glob *glob_packed(const void *packed, size_t i)
{
    const uint64_t *places = packed;

    return (const struct glob *)((const char *)packed + places[1 + i]);
}
