/*
 * worker.h - processes that call the library when told to, each in a condition of its own
 *
 * One is small, one holds a gigabyte, one lives among a thousand mounts, one keeps boxes alive. The
 * program that started them gives each its turn, so that all conditions are measured in the same
 * seconds.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "bench/boxes.h"

struct worker {
    pid_t pid;
    int fd;
};

struct worker_condition {
    const char *directory;
    size_t touched_bytes; /* memory held, in small pages */
    bool own_mounts;      /* a mount namespace of its own ... */
    size_t n_mounts;      /* ... with so many mounts more */
    uid_t uid;            /* root becomes this user, unless 0 */
    gid_t gid;
};

/* Without privilege own_mounts means a user namespace too. */
void worker_start(struct worker *worker, const struct worker_condition *condition);
void worker_stop(struct worker *worker);

/* One run: nanoseconds, 0 when it failed. */
uint64_t worker_run(struct worker *worker, enum box_sort sort);
/* Keeps n more boxes of that sort alive, until released. */
void worker_hold(struct worker *worker, enum box_sort sort, size_t n);
void worker_release(struct worker *worker);

/* What the started program does: the words "worker DIRECTORY BYTES", and never returns. */
_Noreturn void worker_main(char *const argv[]);
