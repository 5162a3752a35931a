/*
 * visitors.h - who is connected: strangers, few and for a short time, and those with the token
 *
 *   visitors_enter() -> visitor_hold() when a whole head has come -> visitor_admit() if it has the token
 *                    -> visitor_release() before the rest of the input is awaited -> visitors_leave()
 *
 * Anybody on the machine can connect and say nothing. A stranger who comes when there are as many as may
 * be takes the place of the oldest who has not sent a head yet, but each has a moment to do so: a client
 * may connect many times at once before it sends anything. So a client that sends its request soon gets
 * in, however many others wait.
 */
#pragma once

#include <pthread.h>
#include <stdbool.h>

enum {
    VISITORS_STRANGERS_MAX = 64,
    VISITORS_KNOWN_MAX = 128,
    VISITORS_MOMENT_MS = 250,
    VISITORS_MAX = 256 /* with those who were sent away and have not gone yet */
};

struct visitor;

struct visitors {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct visitor *oldest, *newest;
    unsigned n, n_strangers, n_known;
};

void visitors_init(struct visitors *visitors);

/* Waits until there is room. NULL: no memory. The descriptor stays the caller's. */
struct visitor *visitors_enter(struct visitors *visitors, int fd);
/* Before its descriptor is closed. */
void visitors_leave(struct visitors *visitors, struct visitor *visitor);

/* A stranger's request is being looked at: it is not sent away meanwhile. */
void visitor_hold(struct visitors *visitors, struct visitor *visitor);
/* Whether it has the token. */
bool visitor_release(struct visitors *visitors, struct visitor *visitor);

/* It has the token. False: too many have. */
bool visitor_admit(struct visitors *visitors, struct visitor *visitor);
