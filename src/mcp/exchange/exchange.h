/*
 * exchange.h - where the answers to a message go
 *
 *   exchange_send(exchange, EXCHANGE_REPLY, &message)     once for each request, or
 *   exchange_forgo(exchange)                              if a request gets no answer
 *
 * On standard output there is one for everything; over HTTP each POST has its own, and the stream of
 * a session another. A batch is an exchange that gathers the answers and hands them to the one
 * below. Any thread may send; messages never mix. Exchanges are counted: whoever keeps one holds a
 * reference.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/buffer.h"

enum exchange_kind {
    EXCHANGE_REPLY,
    EXCHANGE_NOTE, /* a notification, or a request of ours */
    EXCHANGE_BEAT  /* a notification that is left out where sending would have to wait */
};

struct exchange;
struct exchange_type {
    /* Borrows the message, which has no newline in it. */
    void (*send)(struct exchange *exchange, enum exchange_kind kind, const char *bytes, size_t n);
    void (*forgo)(struct exchange *exchange); /* NULL: nobody counts */
    void (*free)(struct exchange *exchange);
};

struct exchange {
    const struct exchange_type *type;
    const struct exchange *bottom; /* of a batch: what it stands on; else itself */
    atomic_int references;
};

/* Begins with one reference. */
void exchange_init(struct exchange *exchange, const struct exchange_type *type);
struct exchange *exchange_ref(struct exchange *exchange);
void exchange_unref(struct exchange *exchange); /* NULL is fine */
static inline void exchange_unref_at_exit(struct exchange **exchange)
{
    exchange_unref(*exchange);
}
#define auto_exchange __attribute__((cleanup(exchange_unref_at_exit)))

/* Frees what is in the buffer. One that failed is not sent, but for a reply, which becomes an error. */
void exchange_send(struct exchange *exchange, enum exchange_kind kind, struct buffer *message);
/* The same, but the buffer stays as it is. */
void exchange_send_kept(struct exchange *exchange, enum exchange_kind kind, struct buffer *message);
void exchange_forgo(struct exchange *exchange);

/* Standard output: a line for each message. `on_broken` is called once, when nobody reads any more;
 * NULL: out of memory. */
struct exchange *exchange_lines_new(int fd, void (*on_broken)(void *context), void *context);

/* Sends the answers of `n` requests to `below` as one array, when all are there. */
struct exchange *exchange_batch_new(struct exchange *below, size_t n);
