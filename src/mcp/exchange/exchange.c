#include "exchange.h"

#include <stdlib.h>
#include <string.h>

void exchange_init(struct exchange *exchange, const struct exchange_type *type)
{
    exchange->type = type;
    exchange->bottom = exchange;
    atomic_init(&exchange->references, 1);
}

struct exchange *exchange_ref(struct exchange *exchange)
{
    (void)atomic_fetch_add(&exchange->references, 1);
    return exchange;
}

void exchange_unref(struct exchange *exchange)
{
    if (exchange && atomic_fetch_sub(&exchange->references, 1) == 1)
        exchange->type->free(exchange);
}

/* Schemas and results are made elsewhere: white space between their parts may be a newline. Within
 * texts there is none, JSON escapes it. */
static void flatten(struct buffer *message)
{
    char *end = message->data + message->length;

    for (char *at = message->data; (at = memchr(at, '\n', (size_t)(end - at)));)
        *at = ' ';
}

void exchange_send_kept(struct exchange *exchange, enum exchange_kind kind, struct buffer *message)
{
    static const char no_memory[] = "{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-32603,"
                                    "\"message\":\"out of memory\"}}";

    if (!message->failed && message->data) {
        flatten(message);
        exchange->type->send(exchange, kind, message->data, message->length);
    } else if (kind == EXCHANGE_REPLY) {
        exchange->type->send(exchange, kind, no_memory, sizeof no_memory - 1);
    }
}

void exchange_send(struct exchange *exchange, enum exchange_kind kind, struct buffer *message)
{
    exchange_send_kept(exchange, kind, message);
    buffer_done(message);
}

void exchange_forgo(struct exchange *exchange)
{
    if (exchange->type->forgo)
        exchange->type->forgo(exchange);
}
