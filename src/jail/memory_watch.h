/*
 * memory_watch.h - how much memory a box uses, where no cgroup counts it
 *
 * A sample, not a wall: between two of them a box may use more. Private and shared memory of every
 * process is counted, and memory files that no process has mapped.
 */
#pragma once

#include <stdint.h>
#include <sys/types.h>

/* Often at first, when programs take what they need, less often later. */
#define MEMORY_WATCH_FIRST_NS 10000000u
#define MEMORY_WATCH_LATER_NS 50000000u
#define MEMORY_WATCH_EARLY_NS 1000000000u /* how long "at first" lasts */

/*
 * Bytes in use by the box whose init is `pid`; exact only when above `limit`. 0 if unknown.
 * `segments` is what System V segments hold, which only a member of the box can see.
 */
uint64_t memory_watch_sample(pid_t pid, uint64_t limit, uint64_t segments);
