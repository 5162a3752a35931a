#include "loop.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"

#define BATCH 128
#define TURNS 64 /* in one round: then it is looked who else has come */
#define LAST  16 /* rounds, for what has happened before the end */

static const int delays_ms[LOOP_N_DELAYS] = {
    [LOOP_DELAY_HEAD] = 10000, [LOOP_DELAY_DIAL] = 20000,   [LOOP_DELAY_LINGER] = 2000,
    [LOOP_DELAY_NEXT] = 250,   [LOOP_DELAY_ANSWER] = 2000,  [LOOP_DELAY_EVENTS] = 100,
    [LOOP_DELAY_LISTEN] = 10,  [LOOP_DELAY_PUBLISH] = 1000, [LOOP_DELAY_FLOW] = 60000,
};

int loop_init(struct loop *loop)
{
    *loop = (struct loop){ .epoll_fd = epoll_create1(EPOLL_CLOEXEC) };
    if (loop->epoll_fd < 0)
        return -errno;
    for (int i = 0; i < LOOP_N_DELAYS; i++)
        loop->timers[i].previous = loop->timers[i].next = &loop->timers[i];
    loop->turns.previous = loop->turns.next = &loop->turns;
    loop->now_ms = clock_now_ms();
    return 0;
}

/* ---- sources */

int loop_add(struct loop *loop, struct loop_source *source, uint32_t events)
{
    struct epoll_event event = { .events = events, .data.ptr = source };

    source->round = loop->round;
    return epoll_ctl(loop->epoll_fd, EPOLL_CTL_ADD, source->fd, &event) < 0 ? -errno : 0;
}

void loop_change(struct loop *loop, struct loop_source *source, uint32_t events)
{
    struct epoll_event event = { .events = events, .data.ptr = source };

    source->round = loop->round;
    (void)epoll_ctl(loop->epoll_fd, EPOLL_CTL_MOD, source->fd, &event);
}

void loop_close(struct loop_source *source)
{
    if (source->fd >= 0)
        (void)close(source->fd);
    source->fd = -1;
}

/* ---- timers */

void loop_set(struct loop *loop, struct loop_timer *timer, enum loop_delay delay)
{
    struct loop_timer *head = &loop->timers[delay];

    loop_stop(timer);
    timer->due_ms = loop->now_ms + delays_ms[delay];
    timer->previous = head->previous;
    timer->next = head;
    head->previous->next = timer;
    head->previous = timer;
}

void loop_stop(struct loop_timer *timer)
{
    if (!timer->next)
        return;
    timer->previous->next = timer->next;
    timer->next->previous = timer->previous;
    timer->previous = timer->next = NULL;
}

struct loop_timer *loop_first(const struct loop *loop, enum loop_delay delay)
{
    struct loop_timer *first = loop->timers[delay].next;

    return first == &loop->timers[delay] ? NULL : first;
}

/* Milliseconds until the next one, -1: none. */
static int64_t until_next(const struct loop *loop)
{
    int64_t least = -1;

    for (int i = 0; i < LOOP_N_DELAYS; i++) {
        const struct loop_timer *first = loop->timers[i].next;

        if (first == &loop->timers[i])
            continue;
        int64_t left = first->due_ms > loop->now_ms ? first->due_ms - loop->now_ms : 0;
        if (least < 0 || left < least)
            least = left;
    }
    return least;
}

static void fire_timers(struct gate *gate, struct loop *loop)
{
    for (int i = 0; i < LOOP_N_DELAYS; i++) {
        struct loop_timer *head = &loop->timers[i];

        while (head->next != head && head->next->due_ms <= loop->now_ms) {
            struct loop_timer *timer = head->next;

            loop_stop(timer);
            timer->fire(gate, timer);
        }
    }
}

/* ---- turns */

void loop_turn(struct loop *loop, struct loop_task *turn)
{
    if (turn->next)
        return;
    turn->previous = loop->turns.previous;
    turn->next = &loop->turns;
    loop->turns.previous->next = turn;
    loop->turns.previous = turn;
}

void loop_no_turn(struct loop_task *turn)
{
    if (!turn->next)
        return;
    turn->previous->next = turn->next;
    turn->next->previous = turn->previous;
    turn->previous = turn->next = NULL;
}

/* Each that waits now takes one; who wants another waits for the next round. */
static void take_turns(struct gate *gate, struct loop *loop)
{
    struct loop_task *mark = &loop->mark;

    loop_turn(loop, mark);
    for (int i = 0; i < TURNS && loop->turns.next != mark; i++) {
        struct loop_task *turn = loop->turns.next;

        loop_no_turn(turn);
        turn->take(gate, turn);
    }
    loop_no_turn(mark);
}

/* ---- the end of things */

void loop_free(struct loop *loop, struct loop_dead *dead)
{
    dead->next = loop->dead;
    loop->dead = dead;
}

static void free_dead(struct loop *loop)
{
    while (loop->dead) {
        struct loop_dead *dead = loop->dead;

        loop->dead = dead->next;
        free(dead);
    }
}

void loop_run(struct gate *gate, struct loop *loop)
{
    struct epoll_event events[BATCH];

    for (int left = LAST; left > 0;) {
        bool is_hasty = loop->is_over || loop->turns.next != &loop->turns;
        int n = epoll_wait(loop->epoll_fd, events, BATCH, is_hasty ? 0 : (int)until_next(loop));

        if ((n < 0 && errno != EINTR) || (n == 0 && loop->is_over))
            return;
        left -= loop->is_over;
        loop->now_ms = clock_now_ms();
        loop->round++;
        for (int i = 0; i < n; i++) {
            struct loop_source *source = events[i].data.ptr;

            /* What the kernel has to say of one that is new in this round comes in the next. */
            if (source->fd >= 0 && source->round != loop->round)
                source->happened(gate, source, events[i].events);
        }
        take_turns(gate, loop);
        fire_timers(gate, loop);
        free_dead(loop);
    }
}
