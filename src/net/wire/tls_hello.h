/*
 * tls_hello.h - which host the first message of a TLS connection is for
 *
 * Reads bytes that stay where they are (MSG_PEEK): each time all from the first one. A hello that
 * comes in several records is joined. Pure; nothing allocates.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/host/host_name.h"

#define TLS_HELLO_MAX (16 * 1024) /* bytes, with the headers of its records */

enum tls_hello_state {
    TLS_HELLO_MORE, /* `wanted` */
    TLS_HELLO_COMPLETE,
    TLS_HELLO_NOT_TLS, /* known from the first byte */
    TLS_HELLO_BAD      /* `why` */
};

struct tls_hello {
    size_t length;   /* of its records; what follows is no part of it */
    const char *why; /* as the end of a sentence: "the TLS hello ..." */
    size_t wanted;   /* so many bytes there must be at least; no more than the maximum */
    bool has_name;   /* it names a server */
    bool has_ech; /* it may name another one in secret (extension 0xfe0d or the older 0xffce). Also
                    * clients that have no key send it, filled with noise, and nobody can tell */
    uint8_t name_length;
    char name[HOST_NAME_SIZE]; /* normal form; "" where there is none */
};

/* n: all bytes that have come. A name that is no host name, or an address, is TLS_HELLO_BAD. */
enum tls_hello_state tls_hello_parse(const uint8_t *bytes, size_t n, struct tls_hello *out);

/* The alert "access denied": what to send where the hello is refused, 7 bytes. */
extern const uint8_t tls_hello_denied[7];
