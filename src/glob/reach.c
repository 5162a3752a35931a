#include "reach.h"

#include <string.h>

bool glob_path_init(struct glob_path *path, const char *text, bool ignore_case)
{
    const char *name;
    char *space = path->folded;
    size_t length;

    path->n = 0;
    if (strlen(text) > GLOB_PATH_MAX)
        return false;
    while (glob_next_name(&text, &name, &length)) {
        glob_name_init(&path->names[path->n++], name, length, ignore_case, space);
        if (ignore_case)
            space += length; /* folding never makes a name longer */
    }
    return true;
}

static bool has(const struct glob_reach *reach, size_t i)
{
    return reach->bits[i / 64] >> i % 64 & 1;
}

/* The component, and what may follow at once: ** also stands for nothing. */
static void add(const struct glob *glob, struct glob_reach *reach, size_t i)
{
    reach->bits[i / 64] |= UINT64_C(1) << i % 64;
    while (i < glob->n_components && glob->components[i].shape == GLOB_DEEP) {
        i++;
        reach->bits[i / 64] |= UINT64_C(1) << i % 64;
    }
}

/* From the last component to the first: what is added has been looked at already. False: nothing is
 * left that could match. */
static bool step(const struct glob *glob, struct glob_reach *reach, const struct glob_name *name)
{
    bool is_alive = false;

    reach->bits[glob->n_components / 64] &= ~(UINT64_C(1) << glob->n_components % 64);
    for (size_t i = glob->n_components; i-- > 0;) {
        if (!has(reach, i))
            continue;
        if (glob->components[i].shape == GLOB_DEEP) {
            add(glob, reach, i);
            is_alive = true;
            continue;
        }
        reach->bits[i / 64] &= ~(UINT64_C(1) << i % 64);
        if (glob_component_match(glob, &glob->components[i], name)) {
            add(glob, reach, i + 1);
            is_alive = true;
        }
    }
    return is_alive;
}

void glob_reach_start(const struct glob *glob, struct glob_reach *out)
{
    for (size_t i = 0; i <= glob->n_components / 64; i++)
        out->bits[i] = 0;
    add(glob, out, 0);
}

bool glob_reach_next(const struct glob *glob, const struct glob_path *path, size_t *n,
                     struct glob_reach *reach)
{
    while (*n < path->n) {
        if (!step(glob, reach, &path->names[(*n)++]))
            return false;
        if (has(reach, glob->n_components))
            return true;
    }
    return false;
}

bool glob_reach(const struct glob *glob, const struct glob_path *path, struct glob_reach *out)
{
    size_t n = 0;

    glob_reach_start(glob, out);
    return glob_reach_next(glob, path, &n, out);
}

bool glob_reach_exactly(const struct glob *glob, const struct glob_path *path, size_t n,
                        struct glob_reach *out)
{
    glob_reach_start(glob, out);
    for (size_t i = 0; i < n; i++)
        if (!step(glob, out, &path->names[i]))
            return false;
    return has(out, glob->n_components);
}

bool glob_reach_is_within(const struct glob *glob, const struct glob_reach *a,
                          const struct glob_reach *b)
{
    for (size_t i = 0; i <= glob->n_components / 64; i++)
        if (a->bits[i] & ~b->bits[i])
            return false;
    return true;
}

bool glob_reach_goes_on(const struct glob *glob, const struct glob_reach *reach)
{
    for (size_t i = 0; i <= glob->n_components / 64; i++)
        if (reach->bits[i])
            return true;
    return false;
}

bool glob_reach_is_meant(const struct glob *glob, const struct glob_reach *reach, size_t n_root)
{
    bool has_own_word = false;

    for (size_t i = 0; i < glob->n_components; i++) {
        if (has_own_word && has(reach, i))
            return true;
        has_own_word |= i >= n_root && glob->components[i].shape == GLOB_LITERAL;
    }
    return false;
}

bool glob_path_is_literal_ancestor(const struct glob *glob, const struct glob_path *path)
{
    if (path->n == 0 || path->n >= glob->n_components)
        return false;
    for (size_t i = path->n; i-- > 0;)
        if (glob->components[i].shape != GLOB_LITERAL ||
            !glob_component_match(glob, &glob->components[i], &path->names[i]))
            return false;
    return true;
}
