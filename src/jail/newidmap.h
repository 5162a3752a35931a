/*
 * newidmap.h - ranges of ids that /etc/subuid and /etc/subgid grant to the caller
 */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#include "coop/error.h"
#include "jail/user_namespace.h"

/* Whether both files grant the caller a range and both programs are there. */
bool newidmap_available(uid_t uid);

/* Runs newuidmap and newgidmap for the process `pid`. */
int newidmap_run(pid_t pid, const struct user_namespace_map *map, coop_error **err);
