/*
 * http_stream.c - the framing of requests: heads, lengths, chunks
 *
 * Chunks have no extensions here: nobody needs them, and servers differ in where they end.
 */
#include "net/wire/http_stream.h"

#include <string.h>

#include "base/hex.h"

#define SIZE_DIGITS_MAX 15
#define OVERHEAD_MAX    4096 /* bytes of trailers */

enum {
    AT_HEAD, /* zero: where a stream begins */
    IN_BODY,
    IN_SIZE,
    SIZE_LF,
    IN_CHUNK,
    CHUNK_CR,
    CHUNK_LF,
    TRAILER, /* where a line of it begins */
    TRAILER_NAME,
    TRAILER_VALUE,
    TRAILER_LF,
    LAST_LF,
    ASKED,
    OPAQUE,
    ENDED,
    BROKEN
};

static enum http_stream_step refuse(struct http_stream *stream, const char *why)
{
    stream->why = why;
    stream->state = BROKEN;
    return HTTP_STREAM_BAD;
}

static void end_request(struct http_stream *stream)
{
    stream->state = stream->asks_upgrade ? ASKED : stream->is_last ? ENDED : AT_HEAD;
}

static enum http_stream_step take_head(struct http_stream *stream, const char *bytes, size_t n,
                                       size_t *n_passed, struct http_request *request)
{
    enum http_state state = http_request_parse(bytes, n, request);

    if (state == HTTP_MORE)
        return HTTP_STREAM_MORE;
    if (state == HTTP_BAD)
        return refuse(stream, request->why);
    if (request->form == HTTP_AUTHORITY)
        return refuse(stream, "CONNECT is for a proxy, and this is none");
    stream->asks_upgrade = request->is_upgrade;
    stream->asks_websocket = request->is_upgrade && http_span_is(request->upgrade, "websocket");
    stream->is_last = request->is_last;
    stream->left = request->content_length;
    if (request->is_chunked)
        stream->state = IN_SIZE;
    else if (stream->left > 0)
        stream->state = IN_BODY;
    else
        end_request(stream);
    stream->n_digits = 0;
    stream->n_overhead = 0;
    *n_passed = request->length;
    return HTTP_STREAM_HEAD;
}

static bool take_size(struct http_stream *stream, char c)
{
    int digit = hex_value(c);

    if (digit >= 0) {
        stream->left = stream->left << 4 | (uint64_t)digit;
        return ++stream->n_digits <= SIZE_DIGITS_MAX;
    }
    stream->state = SIZE_LF;
    return c == '\r' && stream->n_digits > 0;
}

/* Names of fields begin with such a one: no line that goes on with the one before. */
static bool is_name_character(char c)
{
    return (c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z') || c == '-' ||
           c == '_';
}

static bool is_value_character(char c)
{
    return (unsigned char)c >= ' ' ? c != 0x7F : c == '\t';
}

/* One character of what stands around chunks; false: it cannot stand there. */
static bool take_frame(struct http_stream *stream, char c)
{
    switch (stream->state) {
    case IN_SIZE:
        return take_size(stream, c);
    case SIZE_LF:
        stream->state = stream->left > 0 ? IN_CHUNK : TRAILER;
        return c == '\n';
    case CHUNK_CR:
        stream->state = CHUNK_LF;
        return c == '\r';
    case CHUNK_LF:
        stream->state = IN_SIZE;
        stream->n_digits = 0;
        return c == '\n';
    case TRAILER:
        stream->state = c == '\r' ? LAST_LF : TRAILER_NAME;
        return c == '\r' || is_name_character(c);
    case TRAILER_NAME:
        stream->state = c == ':' ? TRAILER_VALUE : TRAILER_NAME;
        return ++stream->n_overhead < OVERHEAD_MAX && (c == ':' || is_name_character(c));
    case TRAILER_VALUE:
        stream->state = c == '\r' ? TRAILER_LF : TRAILER_VALUE;
        return ++stream->n_overhead < OVERHEAD_MAX && (c == '\r' || is_value_character(c));
    case TRAILER_LF:
        stream->state = TRAILER;
        return ++stream->n_overhead < OVERHEAD_MAX && c == '\n';
    case LAST_LF:
        end_request(stream);
        return c == '\n';
    default:
        return false;
    }
}

static bool is_in_body(const struct http_stream *stream)
{
    return stream->state == IN_BODY || stream->state == IN_CHUNK;
}

static bool is_in_frame(const struct http_stream *stream)
{
    return stream->state >= IN_SIZE && stream->state <= LAST_LF && stream->state != IN_CHUNK;
}

void http_stream_skip(struct http_stream *stream, uint64_t n)
{
    if (!is_in_body(stream))
        return;
    stream->left -= n < stream->left ? n : stream->left;
    if (stream->left > 0)
        return;
    if (stream->state == IN_CHUNK)
        stream->state = CHUNK_CR;
    else
        end_request(stream);
}

uint64_t http_stream_body(const struct http_stream *stream)
{
    if (stream->state == OPAQUE)
        return UINT64_MAX;
    return is_in_body(stream) ? stream->left : 0;
}

bool http_stream_is_idle(const struct http_stream *stream)
{
    return stream->state == AT_HEAD || stream->state == ENDED;
}

static enum http_stream_step take_body(struct http_stream *stream, const char *bytes, size_t n,
                                       size_t *n_passed)
{
    size_t at = 0;

    while (at < n && (is_in_body(stream) || is_in_frame(stream))) {
        if (is_in_frame(stream)) {
            if (!take_frame(stream, bytes[at++]))
                return refuse(stream, "a chunk of the body cannot be read");
            continue;
        }
        size_t piece = n - at < stream->left ? n - at : (size_t)stream->left;
        http_stream_skip(stream, piece);
        at += piece;
    }
    *n_passed = at;
    return HTTP_STREAM_PASS;
}

enum http_stream_step http_stream_take(struct http_stream *stream, const char *bytes, size_t n,
                                       size_t *n_passed, struct http_request *request)
{
    *n_passed = 0;
    if (stream->state == BROKEN)
        return HTTP_STREAM_BAD;
    if (stream->state == ASKED)
        return HTTP_STREAM_ASKED;
    if (n == 0)
        return HTTP_STREAM_MORE;
    if (stream->state == ENDED)
        return refuse(stream, "something follows the last request");
    if (stream->state == AT_HEAD)
        return take_head(stream, bytes, n, n_passed, request);
    if (stream->state != OPAQUE)
        return take_body(stream, bytes, n, n_passed);
    *n_passed = n;
    return HTTP_STREAM_PASS;
}

void http_stream_answered(struct http_stream *stream, bool is_switched)
{
    if (stream->state != ASKED)
        return;
    stream->asks_upgrade = false;
    if (!is_switched)
        end_request(stream);
    else if (stream->asks_websocket)
        stream->state = OPAQUE;
    else
        (void)refuse(stream, "the server has turned to another protocol than websocket");
}

enum http_state http_stream_read_answer(const char *bytes, size_t n, bool *is_switched)
{
    static const char begin[] = "HTTP/1.1 "; /* HTTP/1.0 cannot switch */

    for (;;) {
        size_t known = n < sizeof begin - 1 ? n : sizeof begin - 1;

        if (memcmp(bytes, begin, known) != 0 &&
            (known < 8 || memcmp(bytes, "HTTP/1.0 ", known) != 0))
            return HTTP_BAD;
        if (n < sizeof begin + 2)
            return HTTP_MORE;
        const char *status = bytes + sizeof begin - 1;
        *is_switched = bytes[7] == '1' && memcmp(status, "101", 3) == 0;
        if (status[0] != '1' || *is_switched)
            return HTTP_COMPLETE;
        const char *end = memmem(bytes, n, "\r\n\r\n", 4);
        if (!end)
            return HTTP_MORE;
        n -= (size_t)(end + 4 - bytes);
        bytes = end + 4;
    }
}
