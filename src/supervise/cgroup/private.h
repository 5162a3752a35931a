/*
 * private.h - what the files of the cgroup module share
 */
#pragma once

#include "supervise/cgroup/cgroup.h"

extern const char *const cgroup_controller_names[CGROUP_CONTROLLERS];

/* Nothing found, nothing open. */
void cgroup_init(struct cgroup *cgroup);

/* Both 0 or -errno. `limit` is in the policy's unit. */
int cgroup_write(int dir_fd, const char *name, const char *text);
int cgroup_set_limit(enum cgroup_version version, enum cgroup_controller controller, int fd,
                     uint64_t limit);

/* Starts a janitor for what will be made under this name in these directories (-1: none). */
int cgroup_start_janitor(struct cgroup *cgroup, int init_fd, coop_error **err);
/* Ends it; nothing is cleaned up any more. */
void cgroup_stop_janitor(struct cgroup *cgroup);
