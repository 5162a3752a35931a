/*
 * http_stream.h - every request of a connection that is kept alive
 *
 * Is fed what a client sends, and says what may pass on and where each further request begins, so
 * that the second one cannot be for another host than the first. What it cannot follow it refuses.
 *
 *   struct http_stream stream = { 0 };
 *   for (;;)
 *       switch (http_stream_take(&stream, bytes, n, &n_passed, &request)) {
 *       case HTTP_STREAM_HEAD: judge the request, then pass n_passed bytes on
 *       case HTTP_STREAM_PASS: pass n_passed bytes on
 *       case HTTP_STREAM_MORE: wait for more, and come again with these and the new ones
 *       case HTTP_STREAM_ASKED: hold what the client sends until the server has answered
 *       case HTTP_STREAM_BAD:  end; stream.why
 *       }
 *
 * Holds no bytes: those of a head that is not complete stay with the caller (MSG_PEEK). Pure;
 * nothing allocates.
 */
#pragma once

#include "net/wire/http_head.h"

enum http_stream_step {
    HTTP_STREAM_HEAD, /* a request's head is at the front: *request, of n_passed bytes */
    HTTP_STREAM_PASS, /* n_passed bytes of a body, at least 1 */
    HTTP_STREAM_MORE, /* none of the bytes can be judged; with n == 0 always this (or
                         HTTP_STREAM_ASKED) */
    HTTP_STREAM_ASKED,
    HTTP_STREAM_BAD
};

struct http_stream {
    const char *why; /* as in struct http_request */
    uint64_t left;   /* of the body or of the chunk */
    uint16_t n_overhead;
    uint8_t n_digits;
    uint8_t state; /* its own */
    bool is_last;
    bool asks_upgrade;
    bool asks_websocket;
};

/*
 * The caller takes a returned head for passed: it either passes it on or ends the connection.
 *
 * A request that asks for another protocol (Upgrade) is followed by HTTP_STREAM_ASKED after its
 * body, until http_stream_answered() says what came of it. Refused are CONNECT and any byte behind
 * the last request.
 */
enum http_stream_step http_stream_take(struct http_stream *stream, const char *bytes, size_t n,
                                       size_t *n_passed, struct http_request *request);

/* How many of the next bytes are a body's, whatever they are: they may be spliced. http_stream_skip
 * tells it that so many, and no more, have passed. UINT64_MAX: all that come (another protocol). */
uint64_t http_stream_body(const struct http_stream *stream);
void http_stream_skip(struct http_stream *stream, uint64_t n);

/* No request is under way: none has begun, or the last one has passed whole. */
bool http_stream_is_idle(const struct http_stream *stream);

/* After HTTP_STREAM_ASKED: the server has switched (101), or has answered otherwise. Then all may
 * pass if it is websocket; h2c would bring requests that nobody reads, and is HTTP_STREAM_BAD at
 * the next bytes. It must be the answer to that very request: who does not count answers lets only
 * the first request of a connection ask. */
void http_stream_answered(struct http_stream *stream, bool is_switched);

/* What the first bytes of the server's answer say: HTTP_COMPLETE: *is_switched, HTTP_MORE: 1xx so
 * far that is not 101, or too few bytes. HTTP_BAD: no HTTP/1. Reads all heads of 1xx that stand
 * before it. */
enum http_state http_stream_read_answer(const char *bytes, size_t n, bool *is_switched);
