/*
 * chunks.c - a chunked body, taken apart as it comes
 */
#include "parse.h"

#include <string.h>

#include "base/hex.h"

#define DIGITS_MAX   8 /* of a chunk's size */
#define OVERHEAD_MAX 4096

static bool take_size(struct http_chunks *chunks, char c)
{
    int digit = hex_value(c);

    if (digit >= 0) {
        chunks->left = chunks->left << 4 | (uint64_t)digit;
        return ++chunks->n_digits <= DIGITS_MAX;
    }
    if (chunks->n_digits == 0)
        return false;
    if (c == '\r')
        chunks->state = HTTP_CHUNK_SIZE_LF;
    else if (c == ';' || c == ' ' || c == '\t')
        chunks->state = HTTP_CHUNK_EXTENSION;
    else
        return false;
    return true;
}

/* A character that is not body. */
static bool take_frame(struct http_chunks *chunks, char c)
{
    switch (chunks->state) {
    case HTTP_CHUNK_SIZE:
        return take_size(chunks, c);
    case HTTP_CHUNK_EXTENSION:
        if (c == '\r')
            chunks->state = HTTP_CHUNK_SIZE_LF;
        return c != '\n';
    case HTTP_CHUNK_SIZE_LF:
        chunks->n_digits = 0;
        chunks->state = chunks->left ? HTTP_CHUNK_DATA : HTTP_CHUNK_TRAILER;
        return c == '\n';
    case HTTP_CHUNK_DATA_CR:
        chunks->state = HTTP_CHUNK_DATA_LF;
        return c == '\r';
    case HTTP_CHUNK_DATA_LF:
        chunks->state = HTTP_CHUNK_SIZE;
        return c == '\n';
    case HTTP_CHUNK_TRAILER:
        chunks->state = c == '\r' ? HTTP_CHUNK_LAST_LF : HTTP_CHUNK_TRAILER_LINE;
        return c != '\n';
    case HTTP_CHUNK_TRAILER_LINE:
        if (c == '\r')
            chunks->state = HTTP_CHUNK_TRAILER_LF;
        return c != '\n';
    case HTTP_CHUNK_TRAILER_LF:
        chunks->state = HTTP_CHUNK_TRAILER;
        return c == '\n';
    case HTTP_CHUNK_LAST_LF:
        chunks->state = HTTP_CHUNK_END;
        return c == '\n';
    case HTTP_CHUNK_DATA:
    case HTTP_CHUNK_END:
        break;
    }
    return false;
}

int http_chunks_take(struct http_chunks *chunks, const char *bytes, size_t n, size_t *n_taken,
                     struct buffer *body, size_t limit)
{
    size_t at = 0;

    while (at < n && chunks->state != HTTP_CHUNK_END) {
        if (chunks->state == HTTP_CHUNK_DATA) {
            size_t piece = n - at < chunks->left ? n - at : (size_t)chunks->left;

            if (piece > limit - body->length)
                return 413;
            buffer_append(body, bytes + at, piece);
            at += piece;
            chunks->left -= piece;
            chunks->n_overhead = 0;
            if (chunks->left == 0)
                chunks->state = HTTP_CHUNK_DATA_CR;
        } else if (!take_frame(chunks, bytes[at++]) || ++chunks->n_overhead > OVERHEAD_MAX) {
            return 400;
        }
    }
    *n_taken = at;
    return chunks->state == HTTP_CHUNK_END;
}
