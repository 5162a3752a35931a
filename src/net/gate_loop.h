/*
 * gate_loop.h - the gate waits in one place
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

struct gate_source {
    void (*happened)(struct gate *gate, struct gate_source *source, uint32_t events);
    int fd;         /* -1: none, and nothing is called any more */
    uint32_t round; /* in which it was registered or changed: older events are not its own */
};

enum gate_delay {
    GATE_DELAY_HEAD,    /* for a client to say whom it means */
    GATE_DELAY_DIAL,    /* to find and reach the host */
    GATE_DELAY_LINGER,  /* to take the reason of a refusal */
    GATE_DELAY_NEXT,    /* before the next address is tried beside the last */
    GATE_DELAY_ANSWER,  /* of one name server */
    GATE_DELAY_EVENTS,  /* between counts of one refusal */
    GATE_DELAY_LISTEN,  /* without descriptors, until it listens again */
    GATE_DELAY_PUBLISH, /* for a socket inside */
    GATE_DELAY_FLOW,    /* without a datagram, until a flow is over */
    GATE_N_DELAYS
};

struct gate_timer {
    struct gate_timer *previous, *next; /* both NULL: not set */
    int64_t due_ms;
    void (*fire)(struct gate *gate, struct gate_timer *timer);
};

struct gate_turn {
    struct gate_turn *previous, *next; /* both NULL: has nothing to do */
    void (*take)(struct gate *gate, struct gate_turn *turn);
};

/* The first member of what is freed by gate_loop_free(). */
struct gate_dead {
    struct gate_dead *next;
};

struct gate_loop {
    int epoll_fd;
    int64_t now_ms; /* of this round */
    uint32_t round;
    struct gate_timer timers[GATE_N_DELAYS];
    struct gate_turn turns, mark; /* a ring; and up to where it goes in this round */
    struct gate_dead *dead;
    bool is_over;
};

/* 0 or -errno. */
int gate_loop_init(struct gate_loop *loop);

/* Until is_over. */
void gate_loop_run(struct gate *gate, struct gate_loop *loop);

/* 0 or -errno. The descriptor stays the caller's until gate_loop_close(). */
int gate_loop_add(struct gate_loop *loop, struct gate_source *source, uint32_t events);
void gate_loop_change(struct gate_loop *loop, struct gate_source *source, uint32_t events);
void gate_loop_close(struct gate_source *source);

void gate_loop_set(struct gate_loop *loop, struct gate_timer *timer, enum gate_delay delay);
void gate_loop_stop(struct gate_timer *timer);

/* The one of that delay that fires next; NULL: none is set. */
struct gate_timer *gate_loop_first(const struct gate_loop *loop, enum gate_delay delay);

void gate_loop_turn(struct gate_loop *loop, struct gate_turn *turn);
void gate_loop_no_turn(struct gate_turn *turn);

void gate_loop_free(struct gate_loop *loop, struct gate_dead *dead);

#define GATE_CONTAINER(pointer, type, member) \
    ((type *)(void *)((char *)(pointer) - __builtin_offsetof(type, member)))
