/*
 * batch.c - the answers to several requests that came as one array
 */
#include <pthread.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "mcp/exchange/exchange.h"

struct batch {
    struct exchange exchange;
    struct exchange *below;
    pthread_mutex_t lock;
    struct buffer replies;
    size_t n_awaited;
};

/* Takes the lock's word for it that no other thread is here. */
static void count_down(struct batch *batch)
{
    if (--batch->n_awaited > 0)
        return;
    if (batch->replies.length == 0) {
        exchange_forgo(batch->below);
        return;
    }
    buffer_append_char(&batch->replies, ']');
    exchange_send(batch->below, EXCHANGE_REPLY, &batch->replies);
}

static void batch_send(struct exchange *exchange, enum exchange_kind kind, const char *bytes,
                       size_t n)
{
    struct batch *batch = (struct batch *)exchange;

    if (kind != EXCHANGE_REPLY) {
        batch->below->type->send(batch->below, kind, bytes, n);
        return;
    }
    (void)pthread_mutex_lock(&batch->lock);
    buffer_append_char(&batch->replies, batch->replies.length ? ',' : '[');
    buffer_append(&batch->replies, bytes, n);
    count_down(batch);
    (void)pthread_mutex_unlock(&batch->lock);
}

static void batch_forgo(struct exchange *exchange)
{
    struct batch *batch = (struct batch *)exchange;

    (void)pthread_mutex_lock(&batch->lock);
    count_down(batch);
    (void)pthread_mutex_unlock(&batch->lock);
}

static void batch_free(struct exchange *exchange)
{
    struct batch *batch = (struct batch *)exchange;

    exchange_unref(batch->below);
    buffer_done(&batch->replies);
    (void)pthread_mutex_destroy(&batch->lock);
    free(batch);
}

struct exchange *exchange_batch_new(struct exchange *below, size_t n)
{
    static const struct exchange_type type = { batch_send, batch_forgo, batch_free };
    struct batch *batch = calloc(1, sizeof *batch);

    if (!batch)
        return NULL;
    exchange_init(&batch->exchange, &type);
    batch->exchange.bottom = below->bottom;
    batch->below = exchange_ref(below);
    batch->n_awaited = n;
    (void)pthread_mutex_init(&batch->lock, NULL);
    return &batch->exchange;
}
