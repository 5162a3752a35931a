/*
 * socks5_fuzz.c - any bytes as what a client of SOCKS5 says
 *
 * Rules: what was said of the first bytes stays true when more come; a complete request has a host
 * and a port, and its length is within what a request can have.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "net/wire/socks5.h"

#define REQUIRE(condition) \
    do {                   \
        if (!(condition))  \
            abort();       \
    } while (0)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void fuzz_request(const uint8_t *data, size_t size)
{
    enum socks5_state last = SOCKS5_MORE;
    struct socks5_request request;

    for (size_t n = 0; n <= size; n++) {
        enum socks5_state state = socks5_request_parse(data, n, &request);

        REQUIRE(last == SOCKS5_MORE || state == last);
        REQUIRE((state == SOCKS5_BAD) == (request.why != NULL));
        REQUIRE(state != SOCKS5_BAD || request.code != SOCKS5_GRANTED);
        REQUIRE(state != SOCKS5_MORE || n < SOCKS5_REQUEST_MAX);
        if (state == SOCKS5_COMPLETE) {
            REQUIRE(request.length <= n && request.length <= SOCKS5_REQUEST_MAX);
            REQUIRE(request.port > 0 && (request.host.is_address || request.host.length > 0));
        }
        last = state;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    enum socks5_state last = SOCKS5_MORE;
    struct socks5_greeting greeting = { 0 };

    if (size > 1024)
        return 0;
    for (size_t n = 0; n <= size; n++) {
        enum socks5_state state = socks5_greeting_parse(data, n, &greeting);

        REQUIRE(last == SOCKS5_MORE || state == last);
        REQUIRE((state == SOCKS5_BAD) == (greeting.why != NULL));
        REQUIRE(state != SOCKS5_MORE || n < SOCKS5_GREETING_MAX);
        REQUIRE(state != SOCKS5_COMPLETE || greeting.length <= n);
        last = state;
    }
    fuzz_request(data, size);
    if (last == SOCKS5_COMPLETE)
        fuzz_request(data + greeting.length, size - greeting.length);
    return 0;
}
