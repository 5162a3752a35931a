/* worlds: user */
#include "mcp/pool.h"

#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <unistd.h>

#include "test/check.h"

static atomic_int n_done, n_now, n_most;
static int gate[2];

static void work(void *job, struct pool_thread *thread)
{
    struct pollfd cancel = { .fd = thread->cancel_fd, .events = POLLIN };
    char byte;

    if (poll(&cancel, 1, 0) != 0) /* what cancelled the last one is not for this one */
        return;
    int now = atomic_fetch_add(&n_now, 1) + 1;
    for (int most = atomic_load(&n_most); now > most;)
        if (atomic_compare_exchange_weak(&n_most, &most, now))
            break;
    (void)!write(thread->cancel_fd, &(uint64_t){ 1 }, sizeof(uint64_t));
    if (job) /* waits until it is let go */
        (void)!read(gate[0], &byte, 1);
    (void)atomic_fetch_sub(&n_now, 1);
    (void)atomic_fetch_add(&n_done, 1);
}

TEST(does_as_much_at_once_as_it_may)
{
    CHECK(pipe(gate) == 0);
    struct pool *pool = pool_new(4, 100, work);
    for (int i = 0; i < 20; i++)
        CHECK(pool_add(pool, &gate) == 0);
    while (atomic_load(&n_now) < 4)
        (void)sched_yield();
    CHECK(!pool_await_idle(pool, 1));
    for (int i = 0; i < 20; i++)
        CHECK(write(gate[1], "x", 1) == 1);
    CHECK(pool_await_idle(pool, 60000));
    CHECK(atomic_load(&n_done) == 20 && atomic_load(&n_most) == 4);
}

TEST(refuses_what_has_no_room)
{
    atomic_store(&n_done, 0);
    struct pool *pool = pool_new(1, 2, work);
    CHECK(pool_add(pool, &gate) == 0);
    while (atomic_load(&n_now) < 1)
        (void)sched_yield();
    CHECK(pool_add(pool, &gate) == 0 && pool_add(pool, &gate) == 0);
    CHECK(pool_add(pool, &gate) == -EAGAIN);
    CHECK(write(gate[1], "xxx", 3) == 3);
    CHECK(pool_await_idle(pool, 60000));
    CHECK(atomic_load(&n_done) == 3);
    CHECK(pool_add(pool, NULL) == 0 && pool_await_idle(pool, 60000));
}
