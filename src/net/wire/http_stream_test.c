#include "net/wire/http_stream.h"

#include "base/cleanup.h"
#include "test/check.h"

#define HOST "Host: example.org\r\n"
#define GET  "GET / HTTP/1.1\r\n" HOST "\r\n"
#define POST "POST / HTTP/1.1\r\n" HOST

/* What a client's bytes are taken for: a letter for each step, "H" a head, "." a byte of a body,
 * "B" refused; in pieces of that size. */
static const char *steps_of(const char *text, size_t piece, struct http_stream *stream)
{
    static char out[300];
    size_t all = strlen(text);
    size_t n_out = 0;
    size_t at = 0;
    size_t have = piece < all ? piece : all;

    while (n_out < 280) {
        struct http_request request;
        size_t n_passed = 77;
        enum http_stream_step step =
            http_stream_take(stream, text + at, have - at, &n_passed, &request);

        CHECK(n_passed <= have - at);
        CHECK((n_passed > 0) == (step == HTTP_STREAM_HEAD || step == HTTP_STREAM_PASS));
        if (step == HTTP_STREAM_HEAD)
            out[n_out++] = 'H';
        for (size_t i = 0; step == HTTP_STREAM_PASS && i < n_passed; i++)
            out[n_out++] = '.';
        at += n_passed;
        if (step == HTTP_STREAM_BAD || step == HTTP_STREAM_ASKED) {
            out[n_out++] = step == HTTP_STREAM_BAD ? 'B' : 'A';
            break;
        }
        if (step == HTTP_STREAM_MORE && have == all)
            break;
        if (step == HTTP_STREAM_MORE)
            have = have + piece < all ? have + piece : all;
    }
    out[n_out] = '\0';
    return out;
}

static const struct {
    const char *text;
    const char *steps;
} streams[] = {
    { "", "" },
    { GET, "H" },
    { GET GET GET, "HHH" },
    { GET "GE", "H" },
    { GET "\x16", "HB" },
    { POST "Content-Length: 5\r\n\r\nhello" GET, "H.....H" },
    { POST "Content-Length: 5\r\n\r\nhel", "H..." },
    { POST "Content-Length: 0\r\n\r\n" GET, "HH" },
    { POST "Content-Length: 4\r\n\r\nhello" GET, "H....H" }, /* "oGET" is a method like others */
    { POST "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n" GET, "H...............H" },
    { POST "Transfer-Encoding: chunked\r\n\r\n00A\r\n0123456789\r\n0\r\n\r\n" GET,
      "H......................H" },
    { POST "Transfer-Encoding: chunked\r\n\r\n0\r\nA: b\r\nC: d\r\n\r\n" GET,
      "H.................H" },
    { POST "Transfer-Encoding: chunked\r\n\r\n9\r\n012345678\r\n0\r\nZ-_z09: \t\r\n\r\n" GET,
      "H..............................H" },
    { POST "Connection: close\r\n\r\n", "H" },
    { POST "Connection: close\r\n\r\n" GET, "HB" },
    { POST "Connection: close\r\nContent-Length: 2\r\n\r\nab" GET, "H..B" },
    { "GET / HTTP/1.0\r\n" HOST "\r\n" GET, "HB" },
    { "GET / HTTP/1.0\r\n" HOST "Connection: keep-alive\r\n\r\n" GET, "HH" },
    { "GET http://example.org/ HTTP/1.1\r\n" HOST "\r\n" GET, "HH" },
    { "GET http://example.com/ HTTP/1.1\r\n" HOST "\r\n", "B" },
    { "CONNECT example.org:443 HTTP/1.1\r\n" HOST "\r\n", "B" },
    { GET "CONNECT example.org:443 HTTP/1.1\r\n" HOST "\r\n", "HB" },
};

TEST(finds_every_request_in_whatever_pieces_it_comes)
{
    for (size_t i = 0; i < COUNT(streams); i++)
        for (size_t piece = 1; piece < 200; piece++) {
            struct http_stream stream = { 0 };

            CHECK_STR(steps_of(streams[i].text, piece, &stream), streams[i].steps);
        }
}

TEST(refuses_chunks_that_others_might_read_differently)
{
    static const char *const bodies[] = {
        "\r\n",
        "x\r\n",
        " 5\r\nhello",
        "5 \r\nhello",
        "5;a=b\r\nhello",
        "5\nhello",
        "5\rhello",
        "0x5\r\nhello",
        "+5\r\nhello",
        "-5\r\n",
        "5\r\nhello0\r\n",
        "5\r\nhello\n",
        "5\r\nhello\r0",
        "0\r\n \r\n",
        "0\r\nA\r\n",
        "0\r\n: b\r\n",
        "0\r\nA: b\n",
        "0\r\n\n",
        "0\r\nA: b\r\r\n",
        "0\r\nA b\r\n",
        "0\r\nA:\1\r\n",
        "1234567890123456\r\n",
    };

    for (size_t i = 0; i < COUNT(bodies); i++) {
        struct http_stream stream = { 0 };
        char text[200];

        (void)snprintf(text, sizeof text, POST "Transfer-Encoding: chunked\r\n\r\n%s", bodies[i]);
        const char *steps = steps_of(text, sizeof text, &stream);
        if (steps && bodies[i] && !strchr(steps, 'B'))
            printf("# %s: %s\n", bodies[i], steps);
        CHECK(strchr(steps, 'B'));
        CHECK_STR(stream.why, "a chunk of the body cannot be read");
        CHECK_STR(steps_of(GET, 100, &stream), "B"); /* and it stays so */
    }
}

TEST(trailers_have_an_end)
{
    struct http_stream stream = { 0 };
    static char text[10000];
    struct http_request request;
    size_t n_passed = 0;
    size_t head = (size_t)sprintf(text, POST "Transfer-Encoding: chunked\r\n\r\n0\r\nA: ");

    memset(text + head, 'b', sizeof text - head);
    CHECK(http_stream_take(&stream, text, sizeof text, &n_passed, &request) == HTTP_STREAM_HEAD);
    CHECK(http_stream_take(&stream, text + n_passed, sizeof text - n_passed, &n_passed, &request) ==
          HTTP_STREAM_BAD);
}

static size_t take_head(struct http_stream *stream, const char *text)
{
    struct http_request request;
    size_t n_passed = 0;

    CHECK(http_stream_take(stream, text, strlen(text), &n_passed, &request) == HTTP_STREAM_HEAD);
    return n_passed;
}

TEST(bodies_may_be_passed_by_others)
{
    struct http_stream stream = { 0 };

    CHECK(http_stream_body(&stream) == 0);
    (void)take_head(&stream, POST "Content-Length: 5000000000\r\n\r\n");
    CHECK(http_stream_body(&stream) == 5000000000);
    http_stream_skip(&stream, 4999999999);
    CHECK(http_stream_body(&stream) == 1);
    CHECK_STR(steps_of("x" GET, 100, &stream), ".H");
    (void)take_head(&stream, POST "Transfer-Encoding: chunked\r\n\r\n");
    CHECK(http_stream_body(&stream) == 0);
    CHECK_STR(steps_of("ff\r\n", 100, &stream), "....");
    CHECK(http_stream_body(&stream) == 255);
    http_stream_skip(&stream, 255);
    CHECK(http_stream_body(&stream) == 0);
    CHECK_STR(steps_of("\r\n0\r\n\r\n" GET, 100, &stream), ".......H");
    http_stream_skip(&stream, 5); /* between requests it is nothing */
    CHECK_STR(steps_of(GET, 100, &stream), "H");
}

#define UPGRADE "Connection: upgrade\r\nUpgrade: "

TEST(another_protocol_waits_for_the_server)
{
    struct http_stream stream = { 0 };

    CHECK_STR(steps_of("GET / HTTP/1.1\r\n" HOST UPGRADE "WebSocket\r\n\r\n" GET, 200, &stream),
              "HA");
    CHECK_STR(steps_of("", 200, &stream), "A");
    http_stream_answered(&stream, false);
    CHECK_STR(steps_of(GET, 200, &stream), "H");
    CHECK_STR(steps_of("GET / HTTP/1.1\r\n" HOST UPGRADE "websocket\r\n\r\n", 200, &stream), "HA");
    http_stream_answered(&stream, true);
    CHECK(http_stream_body(&stream) == UINT64_MAX);
    CHECK_STR(steps_of("\x81\x05", 200, &stream), "..");
}

TEST(a_protocol_that_nobody_reads_is_refused)
{
    struct http_stream stream = { 0 };

    CHECK_STR(steps_of("GET / HTTP/1.1\r\n" HOST "Upgrade: h2c\r\n\r\n", 200, &stream), "HA");
    http_stream_answered(&stream, true);
    CHECK_STR(steps_of("PRI", 200, &stream), "B");
    CHECK_STR(stream.why, "the server has turned to another protocol than websocket");
}

TEST(an_answer_without_a_question_changes_nothing)
{
    struct http_stream stream = { 0 };

    http_stream_answered(&stream, true);
    CHECK(http_stream_body(&stream) == 0);
    CHECK_STR(steps_of("\x81\x05", 200, &stream), "B");
}

static enum http_state answer(const char *text, bool *is_switched)
{
    return http_stream_read_answer(text, strlen(text), is_switched);
}

TEST(reads_whether_a_server_has_switched)
{
    static const char late[] = "HTTP/1.1 100 Continue\r\nA: b\r\n\r\nHTTP/1.1 101 S\r\n\r\n";
    bool is_switched = true;

    CHECK(answer("HTTP/1.1 200 OK\r\n", &is_switched) == HTTP_COMPLETE && !is_switched);
    CHECK(answer("HTTP/1.1 101 Switching", &is_switched) == HTTP_COMPLETE && is_switched);
    CHECK(answer("HTTP/1.0 101 No", &is_switched) == HTTP_MORE && !is_switched);
    CHECK(answer("HTTP/1.0 200 No", &is_switched) == HTTP_COMPLETE && !is_switched);
    CHECK(answer(late, &is_switched) == HTTP_COMPLETE && is_switched);
    for (size_t n = 0; n < (size_t)(strstr(late, "101") + 3 - late); n++)
        CHECK(http_stream_read_answer(late, n, &is_switched) == HTTP_MORE);
    CHECK(answer("SSH-2.0", &is_switched) == HTTP_BAD);
    CHECK(answer("HTTP/2 ", &is_switched) == HTTP_BAD);
}
