/*
 * memory_watch.h - how much memory a box uses, where no cgroup counts it
 *
 * A sample, not a wall: between two of them a box may use more. Private and shared memory of every
 * process is counted, and memory files that no process has mapped.
 */
#pragma once

#include <stdint.h>
#include <sys/types.h>

#define MEMORY_WATCH_INTERVAL_NS 100000000u

/* Bytes in use by the box whose init is `pid`; exact only when above `limit`. 0 if unknown. */
uint64_t memory_watch_sample(pid_t pid, uint64_t limit);
