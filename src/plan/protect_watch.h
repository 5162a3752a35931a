/*
 * protect_watch.h - what comes to be protected in a tree after it was looked at
 *
 *   protect_watch_take()      what the plan has found, for as long as the box runs
 *   protect_watch_start()     watches every directory, and looks once more
 *   protect_watch_read()      when its descriptor is readable
 *   protect_watch_next()      one thing after another that is to be hidden, or covered, now
 *   protect_watch_free()
 *
 * Others may make, move or replace files while a box runs: an editor that saves by renaming takes the
 * mask away with the old file. The kernel tells of new names in directories (inotify); what a rule is
 * about is looked at as a scan does. Nothing is changed in the tree. Between the moment when something
 * appears and the moment when it is found, it can be read.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "coop/error.h"
#include "protect/scan/scan.h"

struct plan;
struct protect_watch;

/* NULL: there is nothing to watch for, or no memory for it (then plan->failed). */
struct protect_watch *protect_watch_take(struct plan *plan);
void protect_watch_free(struct protect_watch *watch); /* NULL is fine */

/* How long it will take to start, in directories. */
size_t protect_watch_n_directories(const struct protect_watch *watch);

/* Takes the inotify instance, before others of the user take the last one. Watches nothing yet. */
int protect_watch_open(struct protect_watch *watch, coop_error **err);

/* -ENOSPC or -EMFILE: the kernel watches no more. Anything else is as bad as a failed scan. */
int protect_watch_start(struct protect_watch *watch, coop_error **err);
bool protect_watch_is_started(const struct protect_watch *watch);
int protect_watch_fd(const struct protect_watch *watch);
int protect_watch_read(struct protect_watch *watch, coop_error **err);

/* Something that was not there, or not the same, when the box was made. */
struct protect_news {
    const struct protect_found *found; /* FOUND_HIDE or FOUND_GIT_CONFIG */
    int root_fd;                       /* of its tree */
    bool was_hidden;                   /* there was something hidden by this path before */
};

bool protect_watch_next(struct protect_watch *watch, struct protect_news *out);

/* Where it is seen in the box: the paths one after another, false after the last. *out_target is the
 * part of the path where its tree begins. */
bool protect_watch_place(const struct protect_watch *watch, int root_fd, const char *path, size_t i,
                         char *out, size_t size, const char **out_target);

/* The other way round: the tree's descriptor and the path in it, -1 if it is in none. */
int protect_watch_locate(const struct protect_watch *watch, const char *box_path, char *out,
                         size_t size);

/*
 * For a plan, while other boxes are at work in the tree: what they move about while it is searched must
 * not be missed. Fills the plan's scans as a plain look does.
 */
int protect_watch_look(struct plan *plan, coop_error **err);
