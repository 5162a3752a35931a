#include "pool.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/fd.h"

#define KEPT_BYTES (4 * 1024 * 1024)

struct pool {
    pthread_mutex_t lock;
    pthread_cond_t has_work, is_idle;
    pool_fn *run;
    void **queue; /* a ring */
    size_t room, first, n_waiting;
    size_t n_threads, max_threads, n_running;
};

struct pool *pool_new(size_t n_threads, size_t n_waiting, pool_fn *run)
{
    struct pool *pool = calloc(1, sizeof *pool);
    pthread_condattr_t clock;

    if (!pool)
        return NULL;
    pool->queue = calloc(n_waiting, sizeof *pool->queue);
    if (!pool->queue) {
        free(pool);
        return NULL;
    }
    pool->room = n_waiting;
    pool->max_threads = n_threads;
    pool->run = run;
    (void)pthread_mutex_init(&pool->lock, NULL);
    (void)pthread_cond_init(&pool->has_work, NULL);
    (void)pthread_condattr_init(&clock);
    (void)pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
    (void)pthread_cond_init(&pool->is_idle, &clock);
    (void)pthread_condattr_destroy(&clock);
    return pool;
}

static void *next_job(struct pool *pool)
{
    while (pool->n_waiting == 0)
        (void)pthread_cond_wait(&pool->has_work, &pool->lock);
    void *job = pool->queue[pool->first];
    pool->first = (pool->first + 1) % pool->room;
    pool->n_waiting--;
    pool->n_running++;
    return job;
}

/* Empties it, and gives back what was needed once. */
static void tidy(struct buffer *buffer)
{
    if (buffer->capacity > KEPT_BYTES)
        buffer_done(buffer);
    buffer->length = 0;
    buffer->failed = false;
}

static void *work(void *context)
{
    struct pool *pool = context;
    struct pool_thread thread = { .cancel_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK) };

    if (thread.cancel_fd >= 0)
        fd_settle(&thread.cancel_fd);
    (void)pthread_mutex_lock(&pool->lock);
    for (;;) {
        void *job = next_job(pool);
        uint64_t count;

        (void)pthread_mutex_unlock(&pool->lock);
        while (thread.cancel_fd >= 0 && read(thread.cancel_fd, &count, sizeof count) > 0)
            ;
        pool->run(job, &thread);
        tidy(&thread.answer);
        tidy(&thread.text);
        (void)pthread_mutex_lock(&pool->lock);
        pool->n_running--;
        if (pool->n_running == 0 && pool->n_waiting == 0)
            (void)pthread_cond_broadcast(&pool->is_idle);
    }
    return NULL;
}

/* Under the lock. */
static int start_thread(struct pool *pool)
{
    pthread_attr_t attributes;
    pthread_t thread;

    (void)pthread_attr_init(&attributes);
    (void)pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    (void)pthread_attr_setstacksize(&attributes, POOL_STACK_BYTES);
    int r = pthread_create(&thread, &attributes, work, pool);
    (void)pthread_attr_destroy(&attributes);
    if (r == 0)
        pool->n_threads++;
    return -r;
}

int pool_add(struct pool *pool, void *job)
{
    int r = 0;

    (void)pthread_mutex_lock(&pool->lock);
    if (pool->n_waiting == pool->room)
        r = -EAGAIN;
    else if (pool->n_running + pool->n_waiting >= pool->n_threads &&
             pool->n_threads < pool->max_threads) {
        r = start_thread(pool);
        if (pool->n_threads > 0) /* then it waits for one of those */
            r = 0;
    }
    if (r == 0) {
        pool->queue[(pool->first + pool->n_waiting) % pool->room] = job;
        pool->n_waiting++;
        (void)pthread_cond_signal(&pool->has_work);
    }
    (void)pthread_mutex_unlock(&pool->lock);
    return r;
}

bool pool_await_idle(struct pool *pool, unsigned timeout_ms)
{
    struct timespec end;
    int r = 0;

    (void)clock_gettime(CLOCK_MONOTONIC, &end);
    end.tv_sec += timeout_ms / 1000;
    end.tv_nsec += (long)(timeout_ms % 1000) * 1000000;
    if (end.tv_nsec >= 1000000000) {
        end.tv_sec++;
        end.tv_nsec -= 1000000000;
    }
    (void)pthread_mutex_lock(&pool->lock);
    while (r == 0 && (pool->n_running > 0 || pool->n_waiting > 0))
        r = pthread_cond_timedwait(&pool->is_idle, &pool->lock, &end);
    (void)pthread_mutex_unlock(&pool->lock);
    return r == 0;
}
