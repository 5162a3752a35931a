/*
 * http_head.h - the head of an HTTP/1 request, read so that no two readers can differ (RFC 9112)
 *
 * Lines end with CR LF and with nothing else, a name is followed by its colon at once, no value
 * goes over two lines, Host stands there once, a body has one length or is chunked. What another
 * server might read differently is an error. Reads bytes that stay where they are: each time all
 * from the first one, and judges them as they come, so that what can become no request is refused
 * at its first byte. Pure; nothing allocates; the bytes are not changed.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/host/host_name.h"

#define HTTP_REQUEST_MAX (16 * 1024) /* bytes of a head */

enum http_state {
    HTTP_MORE,
    HTTP_COMPLETE,
    HTTP_BAD /* `why` */
};

enum http_form {
    HTTP_ORIGIN,    /* /path?query */
    HTTP_ABSOLUTE,  /* http://host:port/path: servers know it too */
    HTTP_AUTHORITY, /* host:port, of CONNECT and of no other method */
    HTTP_ASTERISK   /* *, of OPTIONS only */
};

/* Lies in the caller's bytes; no NUL at its end. */
struct http_span {
    const char *at;
    size_t n;
};

struct http_request {
    const char *why; /* as a sentence for the one who sent it: "Host is given twice" */
    int status;      /* that a server answers with then: 400, 431, 501, 505 */
    size_t length;   /* of the head with its empty line; a body begins there */
    struct http_span method;
    struct http_span target; /* as it is written */
    struct http_span
        path; /* of the origin and absolute forms: from the slash on, "/" where there is none */
    enum http_form form;
    bool is_old; /* HTTP/1.0 */

    /* Where it goes: from Host, and where the target names one too, they are the same. */
    struct host_name host;
    uint16_t port; /* 0: none is named; of CONNECT never */

    bool has_length; /* Content-Length is given */
    bool is_chunked; /* then it is not */
    uint64_t content_length;

    bool is_last;    /* Connection: close, or HTTP/1.0 without keep-alive: no request follows */
    bool is_upgrade; /* the server may turn to another protocol; Connection need not say so */
    struct http_span upgrade; /* the value of Upgrade; n is 0 where there is none */
    bool expects_continue;
};

/* n: all bytes that have come. */
enum http_state http_request_parse(const char *bytes, size_t n, struct http_request *out);

struct http_header {
    struct http_span name; /* as it is written: compare with http_span_is */
    struct http_span value;
};

/* The fields of a complete head, one by one: *at begins with 0. False: no more. */
bool http_request_next_field(const char *bytes, const struct http_request *request, size_t *at,
                             struct http_header *out);

/* Whether it is that text, whatever the case. */
bool http_span_is(struct http_span span, const char *text);

/* A list such as "keep-alive, Upgrade" has the word, whatever the case. */
bool http_span_has_word(struct http_span list, const char *word);
