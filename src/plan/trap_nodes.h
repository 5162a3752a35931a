/*
 * trap_nodes.h - what of a box is watched by a file system that init serves (jail/trap.h)
 *
 * A node is a place of the box: a directory of the host's root that the box lacks, in which nothing is
 * ever found, or a mask, which nobody may open. There are so many and no more; what is beyond has an
 * ordinary mask and is not watched, which the result says.
 *
 * init gets them as one argument: a line of numbers and the path each, with "//" behind it, which
 * stands in no path.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define TRAP_MASKS_MAX 256
#define TRAP_NODES_MAX (256 + TRAP_MASKS_MAX)
#define TRAP_TEXT_MAX  65536 /* half of what the kernel allows for an argument */

#define TRAP_EMPTY 40 /* the size of an empty directory in memory */

struct trap_node {
    const char *path; /* in the box, without its leading slash */
    uint64_t size;
    int64_t mtime_ns;
    uint32_t mode;
    uint32_t error; /* what everything is answered with there: ENOENT, or EACCES of a mask */
};

struct plan;

struct plan_traps {
    struct trap_node nodes[TRAP_NODES_MAX];
    size_t n, n_masks, text_length;
    size_t n_left_out;       /* masks for which there was no room */
    const char *directories; /* those of the root, "home/srv"; NULL: none */
    const char *text;        /* for init */
};

/* The plan's traps, made empty: plan->traps. */
void plan_traps_new(struct plan *plan);
/* The node's number, from 1; 0: it is not watched. The path is borrowed. */
unsigned plan_trap_add(struct plan *plan, const struct trap_node *node);
/* When all are there. */
void plan_traps_finish(struct plan *plan);
