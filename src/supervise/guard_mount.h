/*
 * guard_mount.h - puts something on a path of a box that runs already
 *
 * Whoever owns the box's user namespace may enter it and its mount namespace. A child of ours does so,
 * in our memory and with system calls only; it never enters the pid namespace, so nobody in the box
 * can see it.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

struct guard_mount {
    int pidfd; /* of the box's init */
    bool takes_ids;
    uid_t inside_uid; /* then: who to be in there */
    gid_t inside_gid;
    void *stack;     /* of CHILD_STACK_SIZE */
    int masks_fd;    /* a file system in memory, -1 until first used; the caller's to close */
    unsigned number; /* counts what is made there */

    const char *path;      /* in the box, absolute */
    const struct stat *st; /* what is to be there, and how its mask shall look */
    const char *text;      /* what to show instead; NULL: nobody may open it */
    size_t length;
    bool replaces;      /* whatever else is there is a mask or a cover of ours */
    bool only_replaces; /* and otherwise nothing is to be put there */

    long result;
};

/* 1; 0: there was nothing of the kind at that path, or a mask lies on it already; or -errno. */
long guard_mount_put(struct guard_mount *mount);
