/*
 * loop.h - the gate waits in one place
 *
 * A source is a descriptor and what to call when something happens to it. A timer fires once; all
 * timers of one delay stand in a queue in the order in which they will fire, so setting and
 * stopping one costs the same however many there are. A turn is something that has more to do and
 * lets others go first. What has died in a round is freed after it, because an event of the same
 * round may still name it.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/epoll.h>

struct gate;

struct loop_source {
    void (*happened)(struct gate *gate, struct loop_source *source, uint32_t events);
    int fd;         /* -1: none, and nothing is called any more */
    uint32_t round; /* in which it was registered or changed: older events are not its own */
};

enum loop_delay {
    LOOP_DELAY_HEAD,    /* for a client to say whom it means */
    LOOP_DELAY_DIAL,    /* to find and reach the host */
    LOOP_DELAY_LINGER,  /* to take the reason of a refusal */
    LOOP_DELAY_NEXT,    /* before the next address is tried beside the last */
    LOOP_DELAY_ANSWER,  /* of one name server */
    LOOP_DELAY_EVENTS,  /* between counts of one refusal */
    LOOP_DELAY_LISTEN,  /* without descriptors, until it listens again */
    LOOP_DELAY_PUBLISH, /* for a socket inside */
    LOOP_DELAY_FLOW,    /* without a datagram, until a flow is over */
    LOOP_N_DELAYS
};

struct loop_timer {
    struct loop_timer *previous, *next; /* both NULL: not set */
    int64_t due_ms;
    void (*fire)(struct gate *gate, struct loop_timer *timer);
};

struct loop_task {
    struct loop_task *previous, *next; /* both NULL: has nothing to do */
    void (*take)(struct gate *gate, struct loop_task *turn);
};

/* The first member of what is freed by loop_free(). */
struct loop_dead {
    struct loop_dead *next;
};

struct loop {
    int epoll_fd;
    int64_t now_ms; /* of this round */
    uint32_t round;
    struct loop_timer timers[LOOP_N_DELAYS];
    struct loop_task turns, mark; /* a ring; and up to where it goes in this round */
    struct loop_dead *dead;
    bool is_over;
};

/* 0 or -errno. */
int loop_init(struct loop *loop);

/* Until is_over. */
void loop_run(struct gate *gate, struct loop *loop);

/* 0 or -errno. The descriptor stays the caller's until loop_close(). */
int loop_add(struct loop *loop, struct loop_source *source, uint32_t events);
void loop_change(struct loop *loop, struct loop_source *source, uint32_t events);
void loop_close(struct loop_source *source);

void loop_set(struct loop *loop, struct loop_timer *timer, enum loop_delay delay);
void loop_stop(struct loop_timer *timer);

/* The one of that delay that fires next; NULL: none is set. */
struct loop_timer *loop_first(const struct loop *loop, enum loop_delay delay);

void loop_turn(struct loop *loop, struct loop_task *turn);
void loop_no_turn(struct loop_task *turn);

void loop_free(struct loop *loop, struct loop_dead *dead);

#define LOOP_CONTAINER(pointer, type, member) \
    ((type *)(void *)((char *)(pointer) - __builtin_offsetof(type, member)))
