/*
 * neighbours.h - whether other boxes are at work in the same directory, above it or below
 *
 * Two boxes that work together could move a directory about while a third looks through it for what to
 * hide. Whoever starts one leaves a lock on its workspace and on the directories above, and looks for
 * those of others: locks on ranges that no program uses, released by the kernel whatever happens. A
 * command that takes such a lock itself only makes others look more carefully.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#define NEIGHBOURS_MAX 40

struct neighbours {
    int fds[NEIGHBOURS_MAX];
    size_t n;
};

/* Takes the locks; true if others have theirs, or if that cannot be known. */
bool neighbours_meet(struct neighbours *neighbours, int workspace_fd);
void neighbours_leave(struct neighbours *neighbours);
