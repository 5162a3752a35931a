/*
 * git.c - git directories of any name, for the tools as at notify (init/git_shape.h)
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "policy/protect.h"
#include "tools/path/private.h"

static bool is_in_git(const char *path)
{
    return strncmp(path, ".git/", 5) == 0 || strstr(path, "/.git/");
}

static bool is_hook(const struct place *place, int parent_fd, const char *name)
{
    size_t n = (size_t)(name - place->below); /* with its slash */

    if (n < 6 || strncmp(place->below + n - 6, "hooks/", 6) != 0 ||
        (n > 6 && place->below[n - 7] != '/') || git_shape_is_sample(name))
        return false;
    auto_close int above = openat(parent_fd, "..", O_PATH | O_DIRECTORY | O_CLOEXEC);
    return above < 0 || git_shape_is(above);
}

static int refuse(const struct place *place, coop_error **err)
{
    return place_fail(err, EACCES, place->path,
                      "would look like part of a repository to git, which would execute or follow "
                      "what it finds there: use git itself, or another name");
}

/* The directory above; -1: no rules are about it, or it is not there. */
static int open_parent(const struct place *place, const char **name)
{
    char space[PLACE_SPACE];
    struct place_tree *tree = NULL;
    struct places *places = place->places;

    if (!place_judge_path(places, place->root, place->below, space, &tree) ||
        !protect_has_defaults(places->rules) || !*place->below)
        return -1;
    return place_open_parent(place, name, NULL);
}

int place_git_changed(const struct place *place, coop_error **err)
{
    const char *name = NULL;
    auto_close int parent = open_parent(place, &name);

    if (parent < 0 || (place->exists && S_ISDIR(place->st.st_mode)))
        return 0;
    if ((git_shape_is_named(name) && git_shape_is(parent)) || is_hook(place, parent, name))
        return refuse(place, err);
    return 0;
}

int place_git_new(const struct place *place, enum git_shape_kind kind, int moved_fd,
                  coop_error **err)
{
    const char *name = NULL;
    auto_close int parent = open_parent(place, &name);
    const struct git_shape_new new = {
        .fd = parent,
        .name = name,
        .kind = kind,
        .is_in_git = is_in_git(place->below),
        .moved_fd = moved_fd,
    };

    if (parent < 0)
        return 0;
    return git_shape_judge(&new) == GIT_SHAPE_FINE ? 0 : refuse(place, err);
}
