#include "gate_loop.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"

#define BATCH 128
#define TURNS 64 /* in one round: then it is looked who else has come */
#define LAST  16 /* rounds, for what has happened before the end */

static const int delays_ms[GATE_N_DELAYS] = {
    [GATE_DELAY_HEAD] = 10000, [GATE_DELAY_DIAL] = 20000,   [GATE_DELAY_LINGER] = 2000,
    [GATE_DELAY_NEXT] = 250,   [GATE_DELAY_ANSWER] = 2000,  [GATE_DELAY_EVENTS] = 100,
    [GATE_DELAY_LISTEN] = 10,  [GATE_DELAY_PUBLISH] = 1000, [GATE_DELAY_FLOW] = 60000,
};

int gate_loop_init(struct gate_loop *loop)
{
    *loop = (struct gate_loop){ .epoll_fd = epoll_create1(EPOLL_CLOEXEC) };
    if (loop->epoll_fd < 0)
        return -errno;
    for (int i = 0; i < GATE_N_DELAYS; i++)
        loop->timers[i].previous = loop->timers[i].next = &loop->timers[i];
    loop->turns.previous = loop->turns.next = &loop->turns;
    loop->now_ms = clock_now_ms();
    return 0;
}

/* ---- sources */

int gate_loop_add(struct gate_loop *loop, struct gate_source *source, uint32_t events)
{
    struct epoll_event event = { .events = events, .data.ptr = source };

    source->round = loop->round;
    return epoll_ctl(loop->epoll_fd, EPOLL_CTL_ADD, source->fd, &event) < 0 ? -errno : 0;
}

void gate_loop_change(struct gate_loop *loop, struct gate_source *source, uint32_t events)
{
    struct epoll_event event = { .events = events, .data.ptr = source };

    source->round = loop->round;
    (void)epoll_ctl(loop->epoll_fd, EPOLL_CTL_MOD, source->fd, &event);
}

void gate_loop_close(struct gate_source *source)
{
    if (source->fd >= 0)
        (void)close(source->fd);
    source->fd = -1;
}

/* ---- timers */

void gate_loop_set(struct gate_loop *loop, struct gate_timer *timer, enum gate_delay delay)
{
    struct gate_timer *head = &loop->timers[delay];

    gate_loop_stop(timer);
    timer->due_ms = loop->now_ms + delays_ms[delay];
    timer->previous = head->previous;
    timer->next = head;
    head->previous->next = timer;
    head->previous = timer;
}

void gate_loop_stop(struct gate_timer *timer)
{
    if (!timer->next)
        return;
    timer->previous->next = timer->next;
    timer->next->previous = timer->previous;
    timer->previous = timer->next = NULL;
}

struct gate_timer *gate_loop_first(const struct gate_loop *loop, enum gate_delay delay)
{
    struct gate_timer *first = loop->timers[delay].next;

    return first == &loop->timers[delay] ? NULL : first;
}

/* Milliseconds until the next one, -1: none. */
static int64_t until_next(const struct gate_loop *loop)
{
    int64_t least = -1;

    for (int i = 0; i < GATE_N_DELAYS; i++) {
        const struct gate_timer *first = loop->timers[i].next;

        if (first == &loop->timers[i])
            continue;
        int64_t left = first->due_ms > loop->now_ms ? first->due_ms - loop->now_ms : 0;
        if (least < 0 || left < least)
            least = left;
    }
    return least;
}

static void fire_timers(struct gate *gate, struct gate_loop *loop)
{
    for (int i = 0; i < GATE_N_DELAYS; i++) {
        struct gate_timer *head = &loop->timers[i];

        while (head->next != head && head->next->due_ms <= loop->now_ms) {
            struct gate_timer *timer = head->next;

            gate_loop_stop(timer);
            timer->fire(gate, timer);
        }
    }
}

/* ---- turns */

void gate_loop_turn(struct gate_loop *loop, struct gate_turn *turn)
{
    if (turn->next)
        return;
    turn->previous = loop->turns.previous;
    turn->next = &loop->turns;
    loop->turns.previous->next = turn;
    loop->turns.previous = turn;
}

void gate_loop_no_turn(struct gate_turn *turn)
{
    if (!turn->next)
        return;
    turn->previous->next = turn->next;
    turn->next->previous = turn->previous;
    turn->previous = turn->next = NULL;
}

/* Each that waits now takes one; who wants another waits for the next round. */
static void take_turns(struct gate *gate, struct gate_loop *loop)
{
    struct gate_turn *mark = &loop->mark;

    gate_loop_turn(loop, mark);
    for (int i = 0; i < TURNS && loop->turns.next != mark; i++) {
        struct gate_turn *turn = loop->turns.next;

        gate_loop_no_turn(turn);
        turn->take(gate, turn);
    }
    gate_loop_no_turn(mark);
}

/* ---- the end of things */

void gate_loop_free(struct gate_loop *loop, struct gate_dead *dead)
{
    dead->next = loop->dead;
    loop->dead = dead;
}

static void free_dead(struct gate_loop *loop)
{
    while (loop->dead) {
        struct gate_dead *dead = loop->dead;

        loop->dead = dead->next;
        free(dead);
    }
}

void gate_loop_run(struct gate *gate, struct gate_loop *loop)
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
            struct gate_source *source = events[i].data.ptr;

            /* What the kernel has to say of one that is new in this round comes in the next. */
            if (source->fd >= 0 && source->round != loop->round)
                source->happened(gate, source, events[i].events);
        }
        take_turns(gate, loop);
        fire_timers(gate, loop);
        free_dead(loop);
    }
}
