/*
 * rights.h - the rights of a box's user, for a file tool that root runs
 *
 * Root's boxes are never root on the host: they are the owner of the workspace. What file tools do for
 * them is done with that owner's rights too, not with root's: what a command could not read or write,
 * they cannot, and what they make belongs to the owner. Of this thread only; an ordinary user's tools,
 * and those that act on the host, have the rights that their process has.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "coop/error.h"
#include "coop/tools.h"

/* What was there before. */
struct rights {
    bool is_lowered;
    uint32_t effective[2]; /* capabilities */
    uid_t uid;
    gid_t gid;
    gid_t *groups;
    int n_groups;
};

/* -EPERM and such: they could not be lowered, and nothing has changed. May be done within one another. */
int rights_lower(struct rights *rights, uid_t uid, gid_t gid, coop_error **err);
/* The same for whatever touches files on behalf of these tools; nothing where they have no other. */
int rights_lower_for(struct rights *rights, const coop_tools *tools, coop_error **err);
void rights_restore(struct rights *rights);
#define auto_rights __attribute__((cleanup(rights_restore)))
