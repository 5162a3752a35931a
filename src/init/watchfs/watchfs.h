/*
 * watchfs.h - a file system in which is found what the box has there, and nothing can be opened
 *
 * The kernel tells nobody of a path that is not there. So where the box lacks a directory of the
 * host's root, "/home" say, it has one of these instead: a FUSE file system that the box's init
 * serves. Its answer to everything below is ENOENT, as if there were nothing, and the question says
 * what was looked for. Innocent paths never come here, so they cost nothing.
 *
 * A directory that the box makes to hold others, "/etc" say, is one as well: it has the names that the
 * box has there, links and places to mount something on, which the kernel learns once and remembers.
 * Any other is answered as above.
 *
 * Beneath a directory that the box fills itself, "/tmp", lies an empty one: the kernel asks there for
 * what is not above it (overlayfs), and remembers that it is not there either: each name once.
 *
 * Masks are nodes of it as well: files and directories of which everybody may see that they are there,
 * with the size and time of what they cover, and which answer EACCES to whoever wants more.
 *
 * Its root is shown nowhere; it has a name for each node that is in no other, "0", "1" ...
 *
 * This file knows the protocol and nothing else: which answer to which question. The questions are the
 * kernel's, but their names are hostile.
 *
 * Part of the init image: no libc.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "plan/watchfs_nodes.h"

#define WATCHFS_REQUEST_MAX 8192        /* the kernel wants to be offered so much */
#define WATCHFS_ANSWER_MAX  (4096 + 16) /* a page of names, and the head */
#define WATCHFS_NAME_MAX    256

struct watchfs_fs {
    const struct watchfs_node *nodes;
    size_t n;
    uint32_t uid, gid; /* their owner */
};

/* What was wanted of a node itself. */
#define WATCHFS_WANTS_READ    4u
#define WATCHFS_WANTS_WRITE   2u
#define WATCHFS_WANTS_EXECUTE 1u

/* Somebody came into a watched directory. */
struct watchfs_touch {
    const struct watchfs_node *node; /* NULL: nobody did */
    char name[WATCHFS_NAME_MAX];     /* what was looked for in it; "": the node itself */
    uint32_t error;                  /* what is answered */
    unsigned wants;                  /* of the node itself; 0: to change what is known of it */
    bool is_asked;                   /* only whether that would be granted: access(2), chdir(2) */
    uint32_t pid;                    /* who, in the pid namespace of the mount; 0: not known */
};

/* From the text of watchfs_nodes.h, which is cut to pieces and kept; how many. */
size_t watchfs_read_nodes(char *text, struct watchfs_node *nodes, size_t max);

/* The name of a node in the root. */
#define WATCHFS_NUMBER_SIZE 24
const char *watchfs_node_name(size_t index, char buffer[WATCHFS_NUMBER_SIZE]);

/* The answer to a request, and its length; 0: none is due. */
size_t watchfs_answer(const struct watchfs_fs *fs, const void *request, size_t length,
                      char answer[WATCHFS_ANSWER_MAX], struct watchfs_touch *touch);
