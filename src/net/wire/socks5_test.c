#include "net/wire/socks5.h"

#include <errno.h>

#include "base/cleanup.h"
#include "test/check.h"

#define PARSE(literal, out) \
    socks5_request_parse((const uint8_t *)(literal), sizeof(literal) - 1, out)
#define GREET(literal, out) \
    socks5_greeting_parse((const uint8_t *)(literal), sizeof(literal) - 1, out)

TEST(reads_greetings)
{
    struct socks5_greeting greeting;
    uint8_t answer[2];

    CHECK(GREET("\5\1\0", &greeting) == SOCKS5_COMPLETE && greeting.length == 3);
    CHECK(GREET("\5\3\2\0\1rest", &greeting) == SOCKS5_COMPLETE && greeting.length == 5);
    CHECK(GREET("", &greeting) == SOCKS5_MORE && GREET("\5", &greeting) == SOCKS5_MORE);
    CHECK(GREET("\5\2\0", &greeting) == SOCKS5_MORE);
    CHECK(GREET("\5\1\2", &greeting) == SOCKS5_BAD);
    CHECK_STR(greeting.why, "the client wants to authenticate");
    CHECK(GREET("\5\0", &greeting) == SOCKS5_BAD);
    CHECK(GREET("\4", &greeting) == SOCKS5_BAD);
    CHECK_STR(greeting.why, "the client does not speak SOCKS5");
    CHECK(GREET("GET", &greeting) == SOCKS5_BAD);
    socks5_greeting_answer(true, answer);
    CHECK(memcmp(answer, "\5\0", 2) == 0);
    socks5_greeting_answer(false, answer);
    CHECK(memcmp(answer, "\5\xff", 2) == 0);
}

TEST(reads_the_three_kinds_of_address)
{
    static const char v6[] = "\5\1\0\4\x20\1\x0d\xb8\0\0\0\0\0\0\0\0\0\0\0\1\x01\xbb";
    struct socks5_request request;
    uint8_t address[ADDRESS_BYTES];

    CHECK(PARSE("\5\1\0\1\x0a\1\2\3\x1f\x90", &request) == SOCKS5_COMPLETE);
    CHECK(request.length == 10 && request.port == 8080 && request.host.is_address);
    CHECK(address_parse("10.1.2.3", 8, address) && memcmp(address, request.host.address, 16) == 0);
    CHECK(PARSE(v6, &request) == SOCKS5_COMPLETE && request.length == 22);
    CHECK(address_parse("2001:db8::1", 11, address) &&
          memcmp(address, request.host.address, 16) == 0 && request.port == 443);
    CHECK(PARSE("\5\1\0\3\x0b"
                "Example.org\0\x50more",
                &request) == SOCKS5_COMPLETE);
    CHECK(request.length == 18 && request.port == 80 && !request.host.is_address);
    CHECK_STR(request.host.name, "example.org");
    CHECK(PARSE("\5\1\0\3\x08"
                "10.1.2.3\0\x50",
                &request) == SOCKS5_COMPLETE);
    CHECK(request.host.is_address && request.host.address[12] == 10);
}

TEST(every_byte_is_needed)
{
    static const char *const texts[] = { "\5\1\0\1\x0a\1\2\3\x1f\x90", "\5\1\0\3\1a\0\x50" };
    static const size_t lengths[] = { 10, 8 };
    struct socks5_request request;

    for (size_t i = 0; i < COUNT(texts); i++) {
        for (size_t n = 0; n < lengths[i]; n++)
            CHECK(socks5_request_parse((const uint8_t *)texts[i], n, &request) == SOCKS5_MORE);
        CHECK(socks5_request_parse((const uint8_t *)texts[i], lengths[i], &request) ==
              SOCKS5_COMPLETE);
    }
}

TEST(refuses_with_the_code_for_it)
{
    struct socks5_request request;

    CHECK(PARSE("\4", &request) == SOCKS5_BAD && request.code == SOCKS5_FAILED);
    CHECK(PARSE("\5\2", &request) == SOCKS5_BAD && request.code == SOCKS5_NO_COMMAND);
    CHECK(PARSE("\5\3", &request) == SOCKS5_BAD && request.code == SOCKS5_NO_COMMAND);
    CHECK(PARSE("\5\1\1", &request) == SOCKS5_BAD && request.code == SOCKS5_FAILED);
    CHECK(PARSE("\5\1\0\2x", &request) == SOCKS5_BAD && request.code == SOCKS5_NO_ADDRESS_TYPE);
    CHECK(PARSE("\5\1\0\3\0\0\x50", &request) == SOCKS5_BAD && request.code == SOCKS5_FAILED);
    CHECK(PARSE("\5\1\0\3\3a b\0\x50", &request) == SOCKS5_BAD);
    CHECK_STR(request.why, "the request names no host");
    CHECK(PARSE("\5\1\0\3\3a\0b\0\x50", &request) == SOCKS5_BAD);
    CHECK(PARSE("\5\1\0\3\5"
                "127.1\0\x50",
                &request) == SOCKS5_BAD);
    CHECK(PARSE("\5\1\0\1\x0a\1\2\3\0\0", &request) == SOCKS5_BAD);
    CHECK_STR(request.why, "the request has no port");
}

TEST(replies)
{
    uint8_t reply[SOCKS5_REPLY_BYTES];

    socks5_reply(SOCKS5_DENIED, reply);
    CHECK(memcmp(reply, "\5\2\0\1\0\0\0\0\0\0", 10) == 0);
    CHECK(socks5_code_of(0) == SOCKS5_GRANTED && socks5_code_of(ECONNREFUSED) == SOCKS5_REFUSED);
    CHECK(socks5_code_of(ETIMEDOUT) == SOCKS5_TIMEOUT && socks5_code_of(EIO) == SOCKS5_FAILED);
    CHECK(socks5_code_of(ENETUNREACH) == SOCKS5_NETWORK_UNREACHABLE);
    CHECK(socks5_code_of(EHOSTUNREACH) == SOCKS5_HOST_UNREACHABLE);
    CHECK(socks5_code_of(EPERM) == SOCKS5_DENIED);
}
