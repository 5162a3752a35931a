/* worlds: user */
#include "mcp/http/parse.h"

#include "test/check.h"

static char text[32768];
static struct http_head head;

static int parsed(const char *bytes)
{
    size_t n = strlen(bytes);

    memcpy(text, bytes, n + 1);
    return http_head_length(text, n) == n ? http_head_parse(text, n, &head) : -1;
}

TEST(reads_a_request)
{
    CHECK(parsed("POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:1\r\ncontent-length:  12 \r\n"
                 "Accept: application/json\r\nX-Empty:\r\n\r\n") == 0);
    CHECK_STR(head.method, "POST");
    CHECK_STR(head.target, "/mcp");
    CHECK(head.length == 12 && !head.is_chunked && head.keeps_alive && !head.expects_continue);
    CHECK_STR(http_head_field(&head, "host"), "127.0.0.1:1");
    CHECK_STR(http_head_field(&head, "x-empty"), "");
    CHECK(!http_head_field(&head, "origin"));
    CHECK(parsed("GET / HTTP/1.0\r\nHost: a\r\nConnection: keep-alive\r\n\r\n") == 0);
    CHECK(!head.keeps_alive);
    CHECK(parsed("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: Chunked\r\nConnection: close\r\n"
                 "Expect: 100-continue\r\n\r\n") == 0);
    CHECK(head.is_chunked && !head.keeps_alive && head.expects_continue);
}

TEST(a_field_given_twice_has_no_value)
{
    CHECK(parsed("GET / HTTP/1.1\r\nHost: a\r\nOrigin: b\r\nOrigin: c\r\n\r\n") == 0);
    CHECK(!http_head_field(&head, "origin"));
}

TEST(refuses_what_could_be_read_in_two_ways)
{
    static const struct {
        const char *bytes;
        int status;
    } bad[] = {
        { "\r\n\r\n", 400 },
        { "GET\r\n\r\n", 400 },
        { "GET /\r\n\r\n", 400 },
        { "GET  / HTTP/1.1\r\nHost: a\r\n\r\n", 400 },
        { "GET / HTTP/1.1 \r\n\r\n", 505 },
        { "GET / HTTP/2.0\r\n\r\n", 505 },
        { "GET / http/1.1\r\n\r\n", 400 },
        { "GET http://a/ HTTP/1.1\r\nHost: a\r\n\r\n", 400 },
        { "G(T / HTTP/1.1\r\nHost: a\r\n\r\n", 400 },
        { "GET /\x01 HTTP/1.1\r\nHost: a\r\n\r\n", 400 },
        { "GET / HTTP/1.1\r\nHost: a\r\nA\r\n\r\n", 400 },
        { "GET / HTTP/1.1\r\nHost: a\r\nA : b\r\n\r\n", 400 },
        { "GET / HTTP/1.1\r\nHost: a\r\n: b\r\n\r\n", 400 },
        { "GET / HTTP/1.1\r\nHost: a\r\nA: b\r\n c\r\n\r\n", 400 },
        { "GET / HTTP/1.1\r\nHost: a\r\nA: b\nC: d\r\n\r\n", 400 },
        { "GET / HTTP/1.1\r\nHost: a\r\nA: b\rC: d\r\n\r\n", 400 },
        { "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\n", 400 },
        { "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
          400 },
        { "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\n", 400 },
        { "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 0x1\r\n\r\n", 400 },
        { "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: \r\n\r\n", 400 },
        { "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 99999999999999999999\r\n\r\n", 400 },
        { "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip, chunked\r\n\r\n", 501 },
        { "GET / HTTP/1.1\r\n\r\n", 400 },
        { "GET / HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n", 400 },
        { "GET * HTTP/1.1\r\nHost: a\r\n\r\n", 400 },
        { "GET / HTTP/1.1\r\nHost: a\r\nContent_Length: 1\r\n\r\n", 400 },
    };

    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        if (parsed(bad[i].bytes) != bad[i].status) {
            printf("# %zu\n", i);
            CHECK(!"status");
        }
}

TEST(counts_fields)
{
    char bytes[4096] = "GET / HTTP/1.1\r\nHost: a\r\n";

    for (int i = 0; i <= HTTP_FIELDS_MAX; i++)
        strcat(bytes, "A: b\r\n");
    strcat(bytes, "\r\n");
    CHECK(parsed(bytes) == 431);
}

TEST(a_head_that_is_not_complete_is_waited_for)
{
    CHECK(http_head_length("GET / HTTP/1.1\r\n\r", 17) == 0);
    CHECK(http_head_length("GET / HTTP/1.1\r\n\r\nrest", 22) == 18);
    CHECK(http_head_length("", 0) == 0);
}

TEST(understands_lists_of_types)
{
    CHECK(http_accepts("application/json, text/event-stream", "text/event-stream"));
    CHECK(http_accepts("text/event-stream;q=0.5,application/json", "application/json"));
    CHECK(http_accepts("Application/JSON; charset=utf-8", "application/json"));
    CHECK(http_accepts("*/*", "application/json"));
    CHECK(http_accepts("application/*", "application/json"));
    CHECK(!http_accepts("text/*", "application/json"));
    CHECK(!http_accepts("application/jsonp", "application/json"));
    CHECK(!http_accepts("", "application/json"));
    CHECK(!http_accepts("text/html;a=application/json", "application/json"));
}

static int chunked(const char *bytes, size_t piece, size_t limit, struct buffer *body, size_t *used)
{
    struct http_chunks chunks = { 0 };
    size_t n = strlen(bytes);

    *used = 0;
    while (*used < n) {
        size_t taken = 0;
        size_t now = n - *used < piece ? n - *used : piece;
        int r = http_chunks_take(&chunks, bytes + *used, now, &taken, body, limit);

        *used += taken;
        if (r != 0)
            return r;
    }
    return 0;
}

TEST(joins_chunks_however_they_come)
{
    const char *bytes = "5\r\nhello\r\n6;x=\"y\"\r\n world\r\n0\r\nTrailer: x\r\n\r\nNEXT";

    for (size_t piece = 1; piece < 60; piece++) {
        struct buffer body = { 0 };
        size_t used = 0;

        CHECK(chunked(bytes, piece, 100, &body, &used) == 1);
        CHECK_STR(body.data, "hello world");
        CHECK(used == strlen(bytes) - 4);
        buffer_done(&body);
    }
}

TEST(refuses_bad_chunks)
{
    static const struct {
        const char *bytes;
        int status;
    } bad[] = {
        { "\r\n", 400 },          { "x\r\n", 400 },          { "5\nhello", 400 },
        { "5\r\nhelloX", 400 },   { "5\r\nhello\rX", 400 },  { "-1\r\n", 400 },
        { "100000000\r\n", 400 }, { "b\r\nhello wor", 413 }, { "0\r\n\n", 400 },
        { "5;a\n", 400 },
    };

    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct buffer body = { 0 };
        size_t used;

        if (chunked(bad[i].bytes, 100, 8, &body, &used) != bad[i].status) {
            printf("# %zu\n", i);
            CHECK(!"status");
        }
        buffer_done(&body);
    }
}

TEST(a_trailer_without_end_is_not_read_for_ever)
{
    struct http_chunks chunks = { 0 };
    struct buffer body = { 0 };
    size_t taken;
    int r = http_chunks_take(&chunks, "0\r\n", 3, &taken, &body, 10);

    for (int i = 0; r == 0 && i < 10000; i++)
        r = http_chunks_take(&chunks, "a", 1, &taken, &body, 10);
    CHECK(r == 400);
}
