/*
 * socks5.h - what a client of SOCKS5 says, and the answers (RFC 1928)
 *
 *   client   05 n methods...                socks5_greeting_parse
 *   gate     05 00, or 05 ff and close      socks5_greeting_answer
 *   client   05 01 00 type address port     socks5_request_parse
 *   gate     05 code 00 01 0.0.0.0 0        socks5_reply
 *
 * Nobody authenticates; CONNECT only. Reads bytes that stay where they are: each time all from the
 * first one of the greeting or the request. What follows them belongs to the connection. Pure;
 * nothing allocates.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/host/host_name.h"

#define SOCKS5_GREETING_MAX 257
#define SOCKS5_REQUEST_MAX  262
#define SOCKS5_REPLY_BYTES  10

enum socks5_state {
    SOCKS5_MORE,
    SOCKS5_COMPLETE,
    SOCKS5_BAD /* `why`; answer with `code` */
};

enum socks5_code {
    SOCKS5_GRANTED = 0,
    SOCKS5_FAILED = 1,
    SOCKS5_DENIED = 2, /* by a rule */
    SOCKS5_NETWORK_UNREACHABLE = 3,
    SOCKS5_HOST_UNREACHABLE = 4,
    SOCKS5_REFUSED = 5, /* by the other side */
    SOCKS5_TIMEOUT = 6,
    SOCKS5_NO_COMMAND = 7,
    SOCKS5_NO_ADDRESS_TYPE = 8
};

struct socks5_greeting {
    const char *why;
    size_t length; /* of the greeting */
};

/* SOCKS5_BAD: another version, or the client insists on authentication. */
enum socks5_state socks5_greeting_parse(const uint8_t *bytes, size_t n,
                                        struct socks5_greeting *out);

/* Two bytes. */
void socks5_greeting_answer(bool is_accepted, uint8_t out[2]);

struct socks5_request {
    const char *why;
    enum socks5_code code;
    size_t length;
    struct host_name host; /* a name that is written as an address is one */
    uint16_t port;         /* not 0 */
};

enum socks5_state socks5_request_parse(const uint8_t *bytes, size_t n, struct socks5_request *out);

void socks5_reply(enum socks5_code code, uint8_t out[SOCKS5_REPLY_BYTES]);

/* The code for an errno of connect(). */
enum socks5_code socks5_code_of(int errnum);
