/*
 * exchange.h - answers over a connection: one JSON document, or a stream of events
 */
#pragma once

#include <stdbool.h>

#include "mcp/exchange/exchange.h"

enum http_sort {
    HTTP_JSON,  /* of a POST: one document; notifications are left out */
    HTTP_EVENTS /* of a POST, or of a session: server-sent events, until the connection is closed */
};

/*
 * Borrows the descriptor until http_exchange_close(). `done_fd` is an eventfd of the caller's that
 * becomes readable when the message has been answered, or will not be, or cannot be. `fields`: further
 * lines of the head, copied. NULL: out of memory.
 */
struct exchange *http_exchange_new(int fd, enum http_sort sort, const char *fields,
                                   bool keeps_alive, int done_fd);

/* Sends the head of a stream. False: nobody is there. */
bool http_exchange_open(struct exchange *exchange);
/* A comment, so that a dead client is noticed. */
bool http_exchange_keep_alive(struct exchange *exchange);
/* Nothing is sent after this. True: the connection can be used for another request. A message that
 * got no answer is acknowledged here. */
bool http_exchange_close(struct exchange *exchange);

/* Writes all, or gives up when the other side does not read. */
bool http_write_all(int fd, const char *bytes, size_t n);
