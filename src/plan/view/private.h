/*
 * private.h - the view while it is being made: a list of mounts
 *
 *   view.c           what there is: the box's own, the workspace, what the policy adds
 *   plan/view/skeleton.c  directories, links and files that are made rather than mounted
 *   plan/view/emit.c      the list in order, as steps
 *   plan/view/watchfs.c     what of it is watched: what the box lacks, and what is hidden
 *   plan/view/places.c    the directories that it has
 */
#pragma once

#include "plan/plan.h"

struct view_mount {
    enum step_kind
        kind; /* of a mount; or STEP_MAKE_LINK: a link of the skeleton where a mount could be */
    bool is_directory;
    bool by_seal; /* made read-only together with the root */
    unsigned flags;
    unsigned order;
    int fd;
    dev_t dev;
    ino_t ino;
    uint64_t size;
    const char *source; /* host path; for STEP_PRIVATE the directory beside the skeleton */
    const char *target;
};

struct view {
    struct plan *plan;
    const int *tmp_fd; /* as in the request */
    struct view_mount *mounts;
    size_t n, capacity;
    size_t n_of_box;       /* of them, before those of a project that is the root */
    const char *last_made; /* directory of the skeleton that was made last, "" at first */
};

/* Never NULL: what is written after a failure is never read. */
struct view_mount *view_add(struct view *view, enum step_kind kind, const char *source,
                            const char *target);

/* Whether the box has something of its own under this name of the root; of its mounts, the first n
 * are looked at. */
bool view_has_name(const struct view *view, size_t n_mounts, const char *name);

/* Directories for the watched directories, when everything else has its place; and the step that makes them, before
 * the first mask. */
void view_add_watchfs(struct view *view);
void view_take_watchfs(struct plan *plan, const struct plan_watchfs *from); /* of a template */
void view_emit_watchfs(struct plan *plan);
/* The directories that the box makes to hold others become watched ones, when all mount points have
 * their place. */
void view_add_places(struct view *view);
/* For what hides a path of which only the child will know what it is: the node of a file, and behind
 * it that of a directory. */
unsigned view_watch_hidden(struct plan *plan, const char *target);
/* Likewise for a directory of the pool, which gets a watched directory beneath it. */
unsigned view_watch_beneath(struct plan *plan, const char *target);

/* ---- the skeleton; nothing is copied */

void view_make_directory(struct plan *plan, const char *target, mode_t mode);
void view_make_link(struct plan *plan, const char *target, const char *text);
void view_make_file(struct plan *plan, const char *target, const char *data); /* NULL: empty */
/* Whether the step makes something that the box will see, as opposed to what lies beside. */
bool view_is_skeleton(const struct step *step);

/* A directory of the box's own, with /dev/shm in it and what tells git which names are hidden; a view of a
 * front end's own may lack it. */
#define VIEW_RUN "/run"
bool view_has_run(const struct plan *plan);
/* The box's own memory and the private directories in it. */
void view_add_pool(struct plan *plan);
/* What of the box's own depends on the policy alone: the host's tools, /etc, /dev. */
void view_add_shared_defaults(struct view *view);
/* What every box has for itself. Masks too: what there is to hide may change between two boxes. */
void view_add_own_defaults(struct view *view);

/* ---- steps */

/* By target, each once. */
int view_sort(struct view *view, coop_error **err);
/* Mount points, the root, and everything on it. */
int view_emit(struct view *view, enum plan_part part, coop_error **err);
/* What is mounted on a root that stands already. */
void view_emit_on_template(struct view *view);
