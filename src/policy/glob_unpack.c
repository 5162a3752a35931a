/*
 * glob_unpack.c - packed patterns, for whoever has no libc
 */
#include <stdint.h>
#include <string.h>

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

bool glob_is_literal_ancestor(const struct glob *glob, const char *path)
{
    char space[GLOB_PATH_MAX];
    const char *text;
    size_t length;
    size_t depth = 0;

    for (; glob_next_name(&path, &text, &length); depth++) {
        struct glob_name name;

        if (depth == glob->n_components || length > sizeof space ||
            glob->components[depth].shape != GLOB_LITERAL)
            return false;
        glob_name_init(&name, text, length, glob->ignore_case, space);
        if (!glob_component_match(glob, &glob->components[depth], &name))
            return false;
    }
    return depth > 0 && depth < glob->n_components;
}

size_t glob_literal_rest(const struct glob *glob, size_t depth, char *out, size_t size)
{
    size_t n = 0;

    for (; depth < glob->n_components && glob->components[depth].shape == GLOB_LITERAL; depth++) {
        const struct glob_component *component = &glob->components[depth];

        if (n + 1 + component->length >= size)
            break;
        if (n > 0)
            out[n++] = '/';
        memcpy(out + n, component->text, component->length);
        n += component->length;
    }
    out[n] = '\0';
    return n;
}
