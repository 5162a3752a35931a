/*
 * tls_hello_fuzz.c - any bytes as the beginning of a TLS connection
 *
 * Rules: what was said of the first bytes stays true when more come; in how many records a hello
 * comes changes nothing.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "net/wire/tls_answer.h"
#include "net/wire/tls_hello.h"

#define REQUIRE(condition) \
    do {                   \
        if (!(condition))  \
            abort();       \
    } while (0)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(enum tls_hello_state state, const struct tls_hello *hello, size_t n)
{
    char name[HOST_NAME_SIZE];
    size_t length = 0;

    REQUIRE((state == TLS_HELLO_BAD) == (hello->why != NULL));
    REQUIRE(state != TLS_HELLO_COMPLETE || (hello->length > 5 && hello->length <= n));
    REQUIRE(state != TLS_HELLO_MORE || (hello->wanted > n && hello->wanted <= TLS_HELLO_MAX));
    REQUIRE(strlen(hello->name) == hello->name_length);
    REQUIRE(hello->has_name == (hello->name_length > 0));
    if (hello->has_name)
        REQUIRE(!host_name_normalise(hello->name, hello->name_length, name, &length) &&
                strcmp(name, hello->name) == 0);
}

static void fuzz_beginnings(const uint8_t *data, size_t size)
{
    struct tls_hello hello;
    enum tls_hello_state last = TLS_HELLO_MORE;
    size_t wanted = 0;
    size_t step = size / 64 + 1;

    for (size_t n = 0; n <= size; n += n + step > size && n < size ? size - n : step) {
        enum tls_hello_state state = tls_hello_parse(data, n, &hello);

        check(state, &hello, n);
        REQUIRE(last == TLS_HELLO_MORE || state == last);
        REQUIRE(state != TLS_HELLO_COMPLETE || n >= wanted);
        last = state;
        if (state == TLS_HELLO_MORE)
            wanted = hello.wanted;
    }
}

/* The bytes are the hello itself, and come in records of two sizes. */
static void fuzz_records(const uint8_t *data, size_t size, size_t piece)
{
    uint8_t *records = malloc(size + 5 * (size / piece + 1));
    size_t n = 0;

    if (!records)
        return;
    for (size_t at = 0; at < size; at += piece) {
        size_t now = size - at < piece ? size - at : piece;

        memcpy(records + n, "\x16\3\1", 3);
        records[n + 3] = (uint8_t)(now >> 8);
        records[n + 4] = (uint8_t)now;
        memcpy(records + n + 5, data + at, now);
        n += now + 5;
    }
    struct tls_hello one;
    struct tls_hello other;
    uint8_t *whole = malloc(size + 5);
    if (whole) {
        memcpy(whole, "\x16\3\1", 3);
        whole[3] = (uint8_t)(size >> 8);
        whole[4] = (uint8_t)size;
        memcpy(whole + 5, data, size);
        enum tls_hello_state a = tls_hello_parse(whole, size + 5, &one);
        enum tls_hello_state b = tls_hello_parse(records, n, &other);
        check(b, &other, n);
        if (a == TLS_HELLO_COMPLETE && n <= TLS_HELLO_MAX)
            REQUIRE(b == TLS_HELLO_COMPLETE && strcmp(one.name, other.name) == 0 &&
                    one.has_name == other.has_name && one.has_ech == other.has_ech);
        if (b == TLS_HELLO_COMPLETE && one.why)
            REQUIRE(strstr(one.why, "behind it")); /* the rest was in another record */
    }
    free(whole);
    free(records);
}

/* Decided once, it stays, and never later than it says. */
static void fuzz_answer(const uint8_t *data, size_t size)
{
    enum tls_answer last = TLS_ANSWER_MORE;

    for (size_t n = 0; n <= size && n <= TLS_ANSWER_MAX + 1; n++) {
        enum tls_answer answer = tls_answer_read(data, n);

        REQUIRE(last == TLS_ANSWER_MORE || answer == last);
        REQUIRE(n < TLS_ANSWER_MAX || answer != TLS_ANSWER_MORE);
        last = answer;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size > 2 * TLS_HELLO_MAX)
        return 0;
    fuzz_beginnings(data, size);
    fuzz_answer(data, size);
    if (size > 6 && size < TLS_HELLO_MAX)
        fuzz_records(data + 5, size - 5, (size_t)data[0] + 1);
    return 0;
}
