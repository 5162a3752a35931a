/*
 * credential_fuzz.c - any bytes as a request of the box, or as an answer of the host
 *
 * The first byte chooses. Rules: a request that goes on is read by the strict reader as the same
 * request, for the other host, with the secret once and nothing behind it; an answer that goes on
 * says the same, ends where its head ends, and has the secret nowhere.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "credential/answer.h"
#include "credential/request.h"

#define REQUIRE(condition) \
    do {                   \
        if (!(condition))  \
            abort();       \
    } while (0)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct credential_route route = { "api.example.org", 8443, "Authorization", "Bearer ",
                                               "canary" };

static size_t count_lines(const char *bytes, size_t n, const char *begin)
{
    size_t length = strlen(begin);
    size_t count = 0;

    for (size_t i = 1; i + length <= n; i++)
        count += bytes[i - 1] == '\n' && strncasecmp(bytes + i, begin, length) == 0;
    return count;
}

static bool is_same(struct http_span a, struct http_span b)
{
    return a.n == b.n && memcmp(a.at, b.at, a.n) == 0;
}

static void try_request(const char *bytes, size_t n)
{
    struct http_request asked;
    struct http_request sent;

    if (http_request_parse(bytes, n, &asked) != HTTP_COMPLETE || credential_request_refuse(&asked))
        return;
    char *out = malloc(credential_request_room(&route));
    REQUIRE(out);
    size_t n_out = credential_request_write(&route, bytes, &asked, out);
    REQUIRE(n_out <= credential_request_room(&route));
    if (n_out < HTTP_REQUEST_MAX) {
        REQUIRE(http_request_parse(out, n_out, &sent) == HTTP_COMPLETE && sent.length == n_out);
        REQUIRE(strcmp(sent.host.name, route.host) == 0 && sent.port == route.port);
        REQUIRE(is_same(sent.method, asked.method) && is_same(sent.target, asked.path));
        REQUIRE(sent.has_length == asked.has_length && sent.is_chunked == asked.is_chunked);
        REQUIRE(sent.content_length == asked.content_length && sent.is_old == asked.is_old);
        REQUIRE(sent.is_upgrade == asked.is_upgrade && (sent.is_last || sent.is_upgrade));
    }
    REQUIRE(count_lines(out, n_out, "authorization:") == 1);
    REQUIRE(count_lines(out, n_out, "Authorization: Bearer canary\r\n\r\n") == 1);
    REQUIRE(count_lines(out, n_out, "connection:") == 1 && count_lines(out, n_out, "host:") == 1);
    free(out);
}

static void try_answer(const char *bytes, size_t n, struct redact *redact)
{
    struct credential_answer came;
    struct credential_answer went;
    auto_buffer struct buffer out = { 0 };

    if (credential_answer_parse(bytes, n, &came) != HTTP_COMPLETE)
        return;
    REQUIRE(came.length <= n && memcmp(bytes + came.length - 4, "\r\n\r\n", 4) == 0);
    credential_answer_write(bytes, &came, redact, &out);
    REQUIRE(!out.failed && !memmem(out.data, out.length, "canary", 6));
    if (out.length >= CREDENTIAL_ANSWER_MAX)
        return;
    REQUIRE(credential_answer_parse(out.data, out.length, &went) == HTTP_COMPLETE);
    REQUIRE(went.length == out.length && went.status == came.status);
    if (came.status >= 200)
        REQUIRE(count_lines(out.data, out.length, "connection:") == 1);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct redact_secret secret = { "token", "canary", 6 };
    struct redact *redact = NULL;

    if (size == 0)
        return 0;
    char *bytes = malloc(size); /* of this size, so that a look beyond is seen */
    REQUIRE(bytes && redact_new(&secret, 1, false, &redact) == 0);
    memcpy(bytes, data + 1, size - 1);
    bytes[size - 1] = '\0';
    if (data[0] & 1)
        try_answer(bytes, size - 1, redact);
    else
        try_request(bytes, size - 1);
    redact_free(redact);
    free(bytes);
    return 0;
}
