/*
 * init_start.h - the file in memory that a box's init reads when it starts (init/start.h)
 */
#pragma once

#include "init/start.h"
#include "plan/plan.h"

#define MEMORY_FILE_SEALS (F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE)

/* Writes all that the plan knows, and leaves the struct in `start`. The descriptor, not sealed yet. */
int init_start_open(const struct plan *plan, struct init_start *start, coop_error **err);
