/*
 * pids.h - has the box as many processes as it may have?
 *
 * Where RLIMIT_NPROC holds that limit, the kernel refuses and tells nobody. The supervisor looks now and
 * then; a box that ends sooner is looked at when its command has ended.
 *
 * Part of the init image: no libc.
 */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

void notify_pids_start(pid_t command); /* whose limit it is */
bool notify_pids_are_all(void);        /* the command has ended and counts as well */
