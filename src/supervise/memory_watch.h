/*
 * memory_watch.h - how much a box uses, where no cgroup counts it
 *
 * A sample, not a limit: between two of them a box may use more. Private and shared memory of every
 * process is counted, and memory files that no process has mapped. The kernel tells nobody but itself
 * of socket buffers, of pipes, and of shared memory that a process has but does not touch
 * (MADV_DONTNEED): the result says so (plan/limits.c).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Often at first, when programs take what they need, less often later. */
#define MEMORY_WATCH_FIRST_NS 10000000u
#define MEMORY_WATCH_LATER_NS 50000000u
#define MEMORY_WATCH_EARLY_NS 1000000000u /* how long "at first" lasts */
/* Where nothing has run since the last samples: after a quarter of the time that it did not, at most. */
#define MEMORY_WATCH_IDLE_NS 1000000000u

struct memory_sample {
    uint64_t bytes;     /* exact only when above the limit; 0 if unknown */
    uint64_t tasks;     /* processes and threads, those of init too */
    size_t n_processes; /* those that have ended and are not waited for too */
    bool is_asleep;     /* none was seen to run */
    bool is_hidden;     /* what some process has open could not be seen: it may be any amount */
};

/*
 * Of the box whose init is `pid`. `segments` is what System V segments hold, which only a member of the
 * box can see.
 */
struct memory_sample memory_watch_sample(pid_t pid, uint64_t limit, uint64_t segments);
