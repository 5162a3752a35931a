/*
 * toolset.h - the tools of a session, which may be exchanged while calls still use the old ones
 */
#pragma once

#include <stdatomic.h>

#include "coop/tools.h"
#include "mcp/options.h"

struct places;

struct toolset {
    coop_tools *tools;
    const char *workspace;          /* on the host */
    const char *const *directories; /* NULL-ended: further ones there */
    const char *const *roots;       /* NULL-ended: all that is left of these; NULL: all of it */
    const char *const *views;       /* NULL-ended: where all that begins, as the tools see it */
    struct places *places;          /* where paths lead */
    char **owned_roots, **owned_views;
    atomic_int references;
};

/*
 * `roots`: NULL-ended directories of the host that limit it, copied; NULL: no limit. With directories
 * behind the options the first is the workspace, unless --workspace names one. `before`: whose place
 * it takes in a session; NULL: it is the first.
 */
int toolset_new(const struct options *options, const char *const *roots,
                const struct toolset *before, struct toolset **out, coop_error **err);
struct toolset *toolset_ref(struct toolset *toolset);
void toolset_unref(struct toolset *toolset); /* NULL is fine */

static inline void toolset_unref_at_exit(struct toolset **toolset)
{
    toolset_unref(*toolset);
}
#define auto_toolset __attribute__((cleanup(toolset_unref_at_exit)))
