/*
 * tls_answer.h - whether a server may have asked for another hello
 *
 * A server of TLS 1.3 that likes the hello but not its key asks for a second one
 * (HelloRetryRequest: RFC 8446, section 4.1.4), and some servers take the name from that. Reads
 * bytes that stay where they are: each time all from the first one. Pure.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

enum tls_answer {
    TLS_ANSWER_MORE,      /* bytes are needed; never more than TLS_ANSWER_MAX */
    TLS_ANSWER_FINAL,     /* it goes on with that hello: what follows is for keys, or encrypted */
    TLS_ANSWER_MAY_REPEAT /* it wants another one, or this cannot say that it does not */
};

#define TLS_ANSWER_MAX 43

enum tls_answer tls_answer_read(const uint8_t *bytes, size_t n);
