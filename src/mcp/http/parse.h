/*
 * parse.h - HTTP/1.1 requests, as much as a server on loopback needs (RFC 9112)
 *
 *   n = http_head_length(bytes, n_read)      0: the head is not complete
 *   status = http_head_parse(bytes, n, &head)
 *   http_chunks_take(&chunks, bytes, n, &taken, &body, limit)
 *
 * Heads are read by net/wire/http_head.h, which the gate uses too, and kept as strings. A body is
 * chunked or has a length. Pure: no descriptors.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"

#define HTTP_HEAD_MAX   (16 * 1024) /* bytes */
#define HTTP_FIELDS_MAX 64

struct http_field {
    const char *name; /* lower case */
    const char *value;
};

struct http_head {
    const char *method;
    const char *target; /* as it was written: begins with a slash */
    struct http_field fields[HTTP_FIELDS_MAX];
    size_t n_fields;
    uint64_t length; /* of the body; 0 where it is chunked */
    bool is_chunked;
    bool keeps_alive;
    bool expects_continue;
};

/* The bytes up to and with the empty line; 0: it has not come yet. */
size_t http_head_length(const char *bytes, size_t n);

/* Changes the bytes, and *out borrows them. 0, or the status to answer with: 400, 431, 501, 505. */
int http_head_parse(char *bytes, size_t n, struct http_head *out);

/* The value of that name, lower case; NULL: not given, or given twice. */
const char *http_head_field(const struct http_head *head, const char *name);

/* Whether a list such as "application/json, text/event-stream;q=0.5" has the word, or one that
 * stands for it. */
bool http_accepts(const char *list, const char *type);

/* A chunked body. Starts zeroed. */
struct http_chunks {
    enum {
        HTTP_CHUNK_SIZE,
        HTTP_CHUNK_EXTENSION,
        HTTP_CHUNK_SIZE_LF,
        HTTP_CHUNK_DATA,
        HTTP_CHUNK_DATA_CR,
        HTTP_CHUNK_DATA_LF,
        HTTP_CHUNK_TRAILER,
        HTTP_CHUNK_TRAILER_LINE,
        HTTP_CHUNK_TRAILER_LF,
        HTTP_CHUNK_LAST_LF,
        HTTP_CHUNK_END
    } state;
    uint64_t left;     /* of this chunk */
    unsigned n_digits; /* of its size */
    size_t n_overhead; /* bytes that are not body, in a row */
};

/* Appends the body's bytes. 1: it is complete, 0: more is needed; *n_taken bytes were used. Else the
 * status: 400, or 413 where it is larger than the limit. */
int http_chunks_take(struct http_chunks *chunks, const char *bytes, size_t n, size_t *n_taken,
                     struct buffer *body, size_t limit);
