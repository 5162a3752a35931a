/*
 * root_mark.h - directories that boxes and tools may write, known to others by a lock
 *
 * What a box may make in its workspace is judged by where that lay when the box started. If another
 * box moved the workspace's directory to `.git`, the first could make `.git/config` and call it
 * `config`. So whoever starts a box, or has file tools, leaves a lock for reading on each directory that
 * they may write, on a range that no program uses; and a directory that has such a lock is not
 * moved to a place that has stricter rules, nor one that holds it. The kernel releases it whatever
 * happens. A command that takes such a lock itself only keeps others from moving that directory there.
 */
#pragma once

#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>

#include "coop/error.h"

#define ROOT_MARK_AT 0x636F6F72 /* "coop", and further: survey/neighbours.c */

struct plan;

struct root_marks {
    int *fds;
    size_t n;
};

/* Every directory that the plan mounts for writing, if it still is where it was found; -ESTALE. */
int root_marks_set(struct root_marks *marks, const struct plan *plan, coop_error **err);
void root_marks_done(struct root_marks *marks);

/* One directory: a descriptor that holds the lock; -errno. */
int root_mark(int directory_fd, const char *path);

/* Whether somebody has left one on the directory, which is open for reading. */
bool root_mark_is_there(int fd);
