#include "credential/request.h"

#include <stdlib.h>
#include <string.h>

#include "test/check.h"

static const struct credential_route route = { "api.example.org", 443, "Authorization", "Bearer ",
                                               "canary" };
static const struct credential_route keyed = { "api.example.org", 8443, "X-Api-Key", "", "canary" };

static char out[64 * 1024];

static const char *written(const struct credential_route *to, const char *head)
{
    struct http_request request;

    if (http_request_parse(head, strlen(head), &request) != HTTP_COMPLETE)
        return request.why;
    size_t n = credential_request_write(to, head, &request, out);
    CHECK(n <= credential_request_room(to));
    out[n] = '\0';
    return out;
}

#define HOST "Host: x.coop.internal\r\n"

TEST(host_and_secret_are_ours)
{
    CHECK_STR(written(&route, "GET /a?b=c HTTP/1.1\r\n" HOST "X: y\r\n\r\n"),
              "GET /a?b=c HTTP/1.1\r\nHost: api.example.org\r\nX: y\r\nConnection: close\r\n"
              "Authorization: Bearer canary\r\n\r\n");
    CHECK_STR(written(&keyed, "GET / HTTP/1.0\r\n" HOST "\r\n"),
              "GET / HTTP/1.0\r\nHost: api.example.org:8443\r\nConnection: close\r\n"
              "X-Api-Key: canary\r\n\r\n");
}

TEST(the_boxs_own_copies_go_whatever_their_spelling)
{
    CHECK_STR(
        written(&route, "GET / HTTP/1.1\r\n" HOST "authorization: a\r\nAUTHORIZATION:b\r\n\r\n"),
        "GET / HTTP/1.1\r\nHost: api.example.org\r\nConnection: close\r\n"
        "Authorization: Bearer canary\r\n\r\n");
    CHECK_STR(written(&keyed, "GET / HTTP/1.1\r\n" HOST "x_api-key: a\r\nX-API_KEY: b\r\n\r\n"),
              "GET / HTTP/1.1\r\nHost: api.example.org:8443\r\nConnection: close\r\n"
              "X-Api-Key: canary\r\n\r\n");
}

TEST(what_is_between_the_box_and_us_does_not_go_on)
{
    CHECK_STR(written(&route, "POST / HTTP/1.1\r\n" HOST "Connection: keep-alive, Authorization\r\n"
                              "Keep-Alive: 5\r\nProxy-Connection: x\r\nHTTP2-Settings: y\r\n"
                              "Content-Length: 3\r\n\r\n"),
              "POST / HTTP/1.1\r\nHost: api.example.org\r\nContent-Length: 3\r\n"
              "Connection: close\r\nAuthorization: Bearer canary\r\n\r\n");
}

TEST(another_protocol_may_be_asked_for)
{
    CHECK_STR(written(&route, "GET / HTTP/1.1\r\n" HOST "Connection: Upgrade\r\n"
                              "Upgrade: websocket\r\n\r\n"),
              "GET / HTTP/1.1\r\nHost: api.example.org\r\nUpgrade: websocket\r\n"
              "Connection: Upgrade\r\nAuthorization: Bearer canary\r\n\r\n");
}

TEST(a_head_of_many_short_fields_fits)
{
    static char head[HTTP_REQUEST_MAX + 1];
    size_t n = (size_t)(stpcpy(head, "GET / HTTP/1.1\r\n" HOST) - head);
    char *room = malloc(credential_request_room(&route)); /* a sanitizer looks at its end */
    struct http_request request;

    while (n + 6 < HTTP_REQUEST_MAX)
        n = (size_t)(stpcpy(head + n, "a:\r\n") - head);
    n = (size_t)(stpcpy(head + n, "\r\n") - head);
    CHECK(http_request_parse(head, n, &request) == HTTP_COMPLETE);
    CHECK(room && credential_request_write(&route, head, &request, room) > n);
    free(room);
}

static const char *refused(const char *head)
{
    struct http_request request;

    CHECK(http_request_parse(head, strlen(head), &request) == HTTP_COMPLETE);
    return credential_request_refuse(&request);
}

TEST(only_paths_and_no_method_that_repeats_the_request)
{
    CHECK(!refused("GET / HTTP/1.1\r\n" HOST "\r\n"));
    CHECK(!refused("PATCH /x HTTP/1.1\r\n" HOST "\r\n"));
    CHECK(refused("TRACE / HTTP/1.1\r\n" HOST "\r\n"));
    CHECK(refused("trace / HTTP/1.1\r\n" HOST "\r\n"));
    CHECK(refused("TRACK / HTTP/1.1\r\n" HOST "\r\n"));
    CHECK(refused("OPTIONS * HTTP/1.1\r\n" HOST "\r\n"));
    CHECK(!refused("GET http://x.coop.internal/ HTTP/1.1\r\n" HOST "\r\n"));
    CHECK(refused("CONNECT x.coop.internal:80 HTTP/1.1\r\n" HOST "\r\n"));
}
