/*
 * pool.h - threads that work off a queue
 *
 * Threads are made when they are needed, up to the limit, and stay. Jobs begin in the order in which
 * they were given.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/buffer.h"

struct pool;

/* A tool may hold paths and directories on its stack, and walks trees. musl's own choice is 128 KiB. */
#define POOL_STACK_BYTES (1024 * 1024)

struct pool_thread {
    int cancel_fd; /* an eventfd, empty when a job begins; -1: there is none */
    /* For what jobs write: memory that the last one had is there already, and empty. */
    struct buffer answer, text;
};
typedef void pool_fn(void *job, struct pool_thread *thread);

/* NULL: out of memory. */
struct pool *pool_new(size_t n_threads, size_t n_waiting, pool_fn *run);

/* -EAGAIN: as many wait as may; -ENOMEM; or what pthread_create() said, when there is no thread. */
int pool_add(struct pool *pool, void *job);

/* Waits until no job is waiting or running, at most so long. */
bool pool_await_idle(struct pool *pool, unsigned timeout_ms);
