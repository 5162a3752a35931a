#include "command_reach.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "policy/path/path.h"

int command_reach_init(struct command_reach *reach, const coop_policy *policy,
                       const char *workspace_view)
{
    const char *directory = policy->directory ? policy->directory : "";

    *reach = (struct command_reach){
        .index = view_index_new(policy, workspace_view),
        .workspace_view = workspace_view,
        .directory = *directory == '/' ? strdup(directory) : path_join(workspace_view, directory),
        .is_root_view = policy->root != NULL,
    };
    return reach->index && reach->directory ? 0 : -ENOMEM;
}

void command_reach_done(struct command_reach *reach)
{
    view_index_free(reach->index);
    free(reach->directory);
    *reach = (struct command_reach){ 0 };
}

/* As the box's shell would have it; *out NULL: somebody else's home, which the box does not show. */
static int absolute(const struct command_reach *reach, const char *path, char **out)
{
    if (*path == '/') {
        *out = strdup(path);
    } else if (*path == '~') {
        *out = NULL;
        if (path[1] != '\0' && path[1] != '/')
            return 0;
        *out = path_join(reach->workspace_view, path + 1 + (path[1] == '/'));
    } else {
        *out = path_join(reach->directory, path);
    }
    return *out ? 0 : -ENOMEM;
}

int command_reach_check(void *opaque, const char *path, bool may_write)
{
    const struct command_reach *reach = opaque;
    auto_error coop_error *err = NULL;
    auto_free char *whole = NULL;
    auto_free char *normal = NULL;

    (void)may_write;
    int r = absolute(reach, path, &whole);
    if (r < 0 || !whole)
        return r < 0 ? r : 1;
    r = path_resolve_in_box("path", whole, &normal, &err);
    if (r < 0)
        return r == -ENOMEM ? r : 1;
    struct view_place place = view_find(reach->index, normal);
    if (place.what == VIEW_IS_BLOCK)
        return 1;
    /* Where the workspace is the root, whatever is not something else is in it. */
    return place.what == VIEW_NOTHING && !reach->is_root_view;
}
