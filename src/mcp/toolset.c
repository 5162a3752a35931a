#include "toolset.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "base/log_sink.h"
#include "tools/tools.h"

static void free_list(char **list)
{
    for (size_t i = 0; list && list[i]; i++)
        free(list[i]);
    free(list);
}

static char **copy_list(const char *const *list)
{
    size_t n = 0;

    while (list[n])
        n++;
    char **copy = calloc(n + 1, sizeof *copy);
    for (size_t i = 0; copy && i < n; i++) {
        copy[i] = strdup(list[i]);
        if (!copy[i]) {
            free_list(copy);
            return NULL;
        }
    }
    return copy;
}

/* A directory of the host as the tools see it, if they do: in the workspace, or at its own path. */
static char *view_of(const struct toolset *toolset, const char *path)
{
    auto_free char *real = realpath(path, NULL);
    auto_free char *workspace = realpath(toolset->workspace, NULL);
    const char *view = coop_tools_workspace(toolset->tools);
    size_t n = workspace ? strlen(workspace) : 0;
    char *out = NULL;

    if (!real || !workspace)
        return NULL;
    if (strncmp(real, workspace, n) != 0 || (real[n] && real[n] != '/'))
        return take_ptr(real);
    if (asprintf(&out, "%s%s", real[n] && strcmp(view, "/") == 0 ? "" : view, real + n) < 0)
        return NULL;
    return out;
}

static bool find_views(struct toolset *toolset)
{
    const char *const *from = toolset->roots ? toolset->roots : toolset->directories;
    size_t n = 0;
    size_t i = 0;

    while (from[n])
        n++;
    toolset->owned_views = calloc(n + 2, sizeof *toolset->owned_views);
    if (!toolset->owned_views)
        return false;
    if (!toolset->roots)
        toolset->owned_views[i++] = strdup(coop_tools_workspace(toolset->tools));
    for (size_t j = 0; j < n; j++)
        toolset->owned_views[i++] = view_of(toolset, from[j]);
    toolset->views = (const char *const *)toolset->owned_views;
    return true;
}

static void toolset_free(struct toolset *toolset)
{
    coop_tools_free(toolset->tools);
    free_list(toolset->owned_roots);
    free_list(toolset->owned_views);
    free(toolset);
}

int toolset_new(const struct options *options, const char *const *roots,
                const struct toolset *before, struct toolset **out, coop_error **err)
{
    bool has_first = !options->workspace && options->directories[0];
    coop_tools_context context = {
        .size = sizeof context,
        .identity = options->identity,
        .group = options->group,
        .workspace = has_first ? options->directories[0] : options->workspace,
        .config_file = options->config_file,
        .read_only = options->read_only,
        .whole_home = options->whole_home,
        .roots = roots,
        .same_path = options->filesystem_names,
        .directories = options->directories + has_first,
        .log = options->sink ? &options->sink->log : NULL,
        .before = before ? before->tools : NULL,
    };
    struct toolset *toolset = calloc(1, sizeof *toolset);

    if (!toolset)
        return fail_no_memory(err);
    atomic_init(&toolset->references, 1);
    toolset->directories = context.directories;
    if (roots) {
        toolset->owned_roots = copy_list(roots);
        if (!toolset->owned_roots) {
            toolset_free(toolset);
            return fail_no_memory(err);
        }
        toolset->roots = (const char *const *)toolset->owned_roots;
        context.roots = toolset->roots;
    }
    int r = coop_tools_new(&context, &toolset->tools, err);
    if (r < 0) {
        toolset_free(toolset);
        return r;
    }
    toolset->workspace = toolset->tools->workspace;
    toolset->places = toolset->tools->places;
    if (!find_views(toolset)) {
        toolset_free(toolset);
        return fail_no_memory(err);
    }
    *out = toolset;
    return 0;
}

struct toolset *toolset_ref(struct toolset *toolset)
{
    (void)atomic_fetch_add(&toolset->references, 1);
    return toolset;
}

void toolset_unref(struct toolset *toolset)
{
    if (toolset && atomic_fetch_sub(&toolset->references, 1) == 1)
        toolset_free(toolset);
}
