/*
 * watchfs_nodes.h - what of a box is watched by a file system that init serves (init/watchfs/watchfs.h)
 *
 * A node is a place of the box: a directory of the host's root that the box lacks, in which nothing is
 * ever found; a directory that the box makes to hold others, "/etc" say, and what it has in it; or a
 * mask, which nobody may open. There are so many and no more; a mask that is beyond is an ordinary one
 * and is not watched, which the result says.
 *
 * init gets them as one text: a line of numbers and the path each, with "//" behind it, which
 * stands in no path; behind that of a link its text.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define WATCHFS_MASKS_MAX  256
#define WATCHFS_OTHERS_MAX 256
#define WATCHFS_NODES_MAX  (WATCHFS_OTHERS_MAX + WATCHFS_MASKS_MAX)
#define WATCHFS_TEXT_MAX   65536 /* for init */

#define WATCHFS_LOWER \
    "lower" /* in the pool: where a WATCHFS_BENEATH is put, and what overlayfs wants for itself */
#define WATCHFS_WORK "work"

#define WATCHFS_EMPTY 40 /* the size of an empty directory in memory, and what each name adds */
#define WATCHFS_ENTRY 20

enum watchfs_kind {
    WATCHFS_HIDDEN,      /* a directory of the root that the box lacks */
    WATCHFS_MASK,        /* everything is answered with EACCES */
    WATCHFS_DIRECTORY,   /* of the box's own: in it is found what it has, and nothing else */
    WATCHFS_MOUNT_POINT, /* in one: a file or directory on which is mounted what the box has there */
    WATCHFS_LINK,        /* in one */
    WATCHFS_NOTHING,     /* in one: never there and never told, so the kernel may remember it */
    WATCHFS_BENEATH /* a directory with nothing in it, beneath one that the box fills itself: /tmp */
};

struct watchfs_node {
    const char *path; /* in the box, without its leading slash */
    const char *link; /* WATCHFS_LINK: where it leads */
    uint64_t size;
    int64_t mtime_ns;
    uint32_t mode;
    uint32_t parent; /* the number of the directory that it is in, from 1; 0: it is in none */
    enum watchfs_kind kind;
    bool
        is_there; /* WATCHFS_MOUNT_POINT: when the nodes are put in place; else its mount comes later */
};

struct plan;

struct plan_watchfs {
    struct watchfs_node nodes[WATCHFS_NODES_MAX];
    size_t n, n_masks, text_length;
    size_t n_left_out;       /* masks for which there was no room */
    const char *directories; /* those of the root, "home/srv"; NULL: none */
    bool has_places;         /* the box's own directories are watched as well */
    const char *text;        /* for init */
};

/* The plan's watched directories, made empty: plan->watchfs. */
void plan_watchfs_new(struct plan *plan);
/* The node's number, from 1; 0: it is not watched. The path is borrowed. */
unsigned plan_watchfs_add(struct plan *plan, const struct watchfs_node *node);
/* When all are there. */
void plan_watchfs_finish(struct plan *plan);
