/*
 * reader.h - requests read from a connection, within time and size
 */
#pragma once

#include <sys/types.h>

#include "mcp/http/parse.h"

/* How long somebody may take, however many bytes come meanwhile. */
struct http_patience {
    unsigned idle_ms; /* until a request begins */
    unsigned head_ms; /* from then on */
    unsigned body_ms;
};

struct http_reader {
    int fd, stop_fd; /* borrowed; the latter becomes readable when all is to end */
    size_t limit;    /* bytes of a body */
    struct http_patience patience;
    struct buffer in; /* what was read and not used yet */
};

/* Copies the head and what is needed with it: its length; 0: the connection is over; -1: too large. */
ssize_t http_read_head(struct http_reader *reader, char out[HTTP_HEAD_MAX]);

/* 0, the status to answer with, or -1: the connection is over. */
int http_read_body(struct http_reader *reader, const struct http_head *head, struct buffer *body);

/* Reads what still comes, until the other side ends or this time is over: closed with something unread,
 * the connection would lose its last answer by a reset. */
void http_linger(int fd, unsigned ms);
