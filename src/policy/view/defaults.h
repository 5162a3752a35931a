/*
 * defaults.h - what a box has by itself: an ordered list of rows
 *
 * `view_defaults` is the usual one. A front end that wants another (a bundle, the arguments of another
 * program) makes its own list and puts it into policy->view; mounts of the host are the policy's either way.
 *
 * The plan makes it (plan/view/skeleton.c), and whoever wants to know what stands at a path of a box
 * without making one asks here (policy/view/place.h): both walk the same rows. Of /etc the rows name what
 * programs cannot do without, file by file, because the rest of the host's is not there.
 */
#pragma once

#include <stdbool.h>

#include "coop/policy.h"
#include <stddef.h>

enum view_origin {
    VIEW_DIRECTORY, /* made, to hold others */
    VIEW_FILE,      /* made, with a content that the plan writes */
    VIEW_SYMLINK,   /* made, to `text` */
    VIEW_HOST,      /* the host's, read-only: mounted, or copied where it is a link into /usr */
    VIEW_DEVICE,    /* the host's */
    VIEW_POOL,      /* a private directory: `text`, beside the skeleton, in the box's own memory */
    VIEW_PROCESSES, /* /proc, of the box's own processes */
    VIEW_TERMINALS, /* /dev/pts, of its own too */
    VIEW_HIDDEN     /* of /proc: out of sight, where the host has it */
};

struct view_default {
    const char *path;
    enum view_origin origin;
    bool is_writable;   /* what it is a way to, or holds, can be written */
    bool is_directory;  /* VIEW_HOST */
    bool with_network;  /* only where the box has the host's network */
    bool with_gate;     /* only where it has a gate, or nat: a resolver of coop's */
    unsigned mode;      /* VIEW_POOL */
    unsigned device[2]; /* VIEW_DEVICE: the character device's major and minor number */
    const char *text;
};

/* In the order in which they are made; ends with a NULL path. */
extern const struct view_default view_defaults[];

/* The rows of this policy: its own, or view_defaults. Everybody who wants them asks here. */
const struct view_default *view_rows(const coop_policy *policy);

/* The row that a path belongs to, NULL: none. A directory that holds others is its own path only. */
const struct view_default *view_default_at(const struct view_default *rows, const char *path,
                                           coop_network network);

/* Whether a box with this network has the row. */
bool view_default_is_shown(const struct view_default *row, coop_network network);

/* Whether the path is a directory that rows lie in. */
bool view_default_holds(const struct view_default *rows, const char *path);

/* Whether the first name of the path is one that the rows use: at the top of a root it is the box's.
 * Some of them, as /nix, are there only on hosts that have them. */
bool view_default_takes(const struct view_default *rows, const char *path);
