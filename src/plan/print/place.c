#include "place.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "plan/view/private.h"
#include "sys/kernel.h"
#include "sys/raw.h"

/* Where in `target` the rest begins if it lies in `container` or is it; NULL: neither. */
static const char *rest_of(const char *target, const char *container)
{
    size_t n = strlen(container);

    if (n == 0)
        return target;
    if (strncmp(target, container, n) != 0 || (target[n] != '/' && target[n] != '\0'))
        return NULL;
    return target + n + (target[n] == '/');
}

static enum print_place_kind kind_of(long fd)
{
    struct stat st;

    if (fd < 0)
        return fd == -ELOOP                      ? PLACE_LINK
               : fd == -ENOENT || fd == -ENOTDIR ? PLACE_ABSENT
                                                 : PLACE_UNSEEN;
    if (fstat((int)fd, &st) < 0)
        return PLACE_UNSEEN;
    return S_ISDIR(st.st_mode) ? PLACE_DIRECTORY : PLACE_FILE;
}

/* As the child will look it up: no link on the way. */
static enum print_place_kind look(int base_fd, const char *source, const char *below)
{
    const struct kernel_open_how how = {
        .flags = O_PATH | O_CLOEXEC,
        .resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS,
    };
    auto_close int opened = base_fd < 0 ? open(source, O_PATH | O_CLOEXEC) : -1;
    int base = base_fd < 0 ? opened : base_fd;

    if (base < 0 || !*below)
        return kind_of(base < 0 ? -errno : base);
    auto_close int fd = (int)raw(NR_OPENAT2, base, below, &how, sizeof how);
    return kind_of(fd);
}

/* What coop itself makes: directories, links and files of the skeleton. */
static enum print_place_kind look_in_skeleton(const struct plan *plan, size_t index,
                                              const char *target)
{
    enum print_place_kind kind = PLACE_ABSENT;

    for (size_t i = 0; i < index; i++) {
        const struct step *step = &plan->steps[i];
        const char *rest = view_is_skeleton(step) ? rest_of(target, step->target) : NULL;

        if (rest && step->kind == STEP_MAKE_LINK)
            return PLACE_LINK;
        if (rest && !*rest)
            kind = step->kind == STEP_MAKE_DIRECTORY ? PLACE_DIRECTORY : PLACE_FILE;
    }
    return kind;
}

struct print_place print_place_find(const struct plan *plan, size_t index, const char *target)
{
    const struct step *best = NULL;
    const char *below = NULL;

    assert(target);
    for (size_t i = 0; i < index; i++) {
        const struct step *step = &plan->steps[i];
        const char *rest =
            step_rows[step->kind].traits & TRAIT_HOLDS ? rest_of(target, step->target) : NULL;

        if (rest && (!best || strlen(step->target) >= strlen(best->target))) {
            best = step;
            below = rest;
        }
    }
    if (best && best->kind == STEP_SHOW)
        return (struct print_place){ look(plan->workspace_fd, plan->workspace, target), true,
                                     plan->workspace, target };
    if (best && best->kind == STEP_BIND)
        return (struct print_place){ look(best->fd, best->source, below), true, best->source,
                                     below };
    if (best && best->kind == STEP_PROC)
        return (struct print_place){ look(-1, "/proc", below), false, NULL, below };
    return (struct print_place){ best && !*below ? PLACE_DIRECTORY
                                 : best          ? PLACE_ABSENT
                                                 : look_in_skeleton(plan, index, target),
                                 false, NULL, target };
}
