/*
 * user_namespace.h - a user namespace made beforehand, with maps that its members could not write
 *
 * A member may map only itself. Root, whose box runs as somebody else, and a range of ids from
 * /etc/subuid need maps written from outside, before the box exists.
 */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#include "coop/error.h"

struct user_namespace_map {
    uid_t inside_uid, outside_uid;
    gid_t inside_gid, outside_gid;
    bool with_range; /* the ids after the first come from /etc/subuid, through newuidmap */
};

/*
 * Takes these ids in the namespace that was just entered, and keeps all capabilities in it. System
 * calls only; -errno.
 */
long user_namespace_become(uid_t uid, gid_t gid);

/* A descriptor of the namespace, or -errno. */
int user_namespace_new(const struct user_namespace_map *map, coop_error **err);
