/*
 * search.c - a directory that is shown as a whole shows what nobody asked for
 *
 * Names like those of secrets are looked for in it, and hidden. So many entries are looked at; beyond
 * that the owner is told to look.
 */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "cli/learn/learn.h"
#include "policy/path/path.h"

#define MOST_ENTRIES 20000
#define DEEPEST      12

struct search {
    const struct learning *learning;
    struct learn_hidden *out;
    unsigned n_entries;
};

/* It was asked for, and the owner agreed; or something in it was. */
static bool is_asked_for(const struct learning *learning, const char *path)
{
    for (size_t i = 0; i < learning->needs.n; i++) {
        const struct need *need = &learning->needs.items[i];

        if (need_is_path(need) && need->verdict == NEED_OPEN && path_is_within(need->what, path))
            return true;
    }
    return false;
}

static void hide(struct search *search, const char *path)
{
    char *copy =
        learn_is_spellable(path) && search->out->n < LEARN_HIDDEN_MAX ? strdup(path) : NULL;

    if (copy)
        search->out->paths[search->out->n++] = copy;
    else
        search->out->is_unsearched = true;
}

/* Links in it are not followed: in a box they lead to what the box has. */
static void look_into(struct search *search, int parent_fd, const char *name, const char *path,
                      unsigned depth)
{
    int fd =
        openat(parent_fd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | (depth > 0 ? O_NOFOLLOW : 0));
    DIR *directory = fd >= 0 ? fdopendir(fd) : NULL;

    if (!directory) {
        if (fd >= 0)
            (void)close(fd);
        return; /* whom the host does not let in has nothing to hide there */
    }
    for (struct dirent *entry = readdir(directory); entry; entry = readdir(directory)) {
        auto_free char *below = NULL;

        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        below = path_join(path, entry->d_name);
        if (!below || depth == DEEPEST || ++search->n_entries > MOST_ENTRIES) {
            search->out->is_unsearched = true;
            break;
        }
        if (learn_is_secret(below) && !is_asked_for(search->learning, below))
            hide(search, below);
        else if (entry->d_type == DT_DIR || entry->d_type == DT_UNKNOWN)
            look_into(search, fd, entry->d_name, below, depth + 1);
    }
    (void)closedir(directory);
}

void learn_search(const struct learning *learning, const struct learn_grants *grants,
                  struct learn_hidden *out)
{
    struct search search = { learning, out, 0 };

    for (size_t i = 0; i < grants->n && !out->is_unsearched; i++)
        if (!learn_is_secret(grants->items[i].path)) /* else the owner wanted all of it */
            look_into(&search, AT_FDCWD, grants->items[i].path, grants->items[i].path, 0);
}

void learn_hidden_done(struct learn_hidden *hidden)
{
    for (size_t i = 0; i < hidden->n; i++)
        free(hidden->paths[i]);
    hidden->n = 0;
}
