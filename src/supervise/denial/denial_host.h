/*
 * denial_host.h - would the host let the caller do what failed in the box?
 *
 * Only then is the box the reason. Asked with the supervisor's own rights, about a path that a hostile
 * process chose: the answer goes into a report, and nowhere else. Where the host has a file system of
 * the network, nobody looks, and the answer is no.
 */
#pragma once

#include <stdbool.h>

#include "base/buffer.h"
#include "init/denial_op.h"
#include "policy/view/place.h"

struct denial_host {
    const coop_policy *policy;
    const char *workspace;    /* on the host, absolute; NULL: not known */
    bool is_root;             /* of the first user namespace */
    struct view_index *index; /* made when it is first needed */
    struct buffer slow;       /* mount points of the network's file systems, a string each */
    bool knows_slow;
};

/* Whether the host has something there, as far as one may know. */
bool denial_host_has(struct denial_host *host, const char *path);

/* `path`: of the box, absolute. `is_there`: the box has it, or its place. `is_look`: nothing was to be opened. */
bool denial_host_permits(struct denial_host *host, enum denial_op op, const char *path,
                         bool is_there, bool is_look);
void denial_host_done(struct denial_host *host);
