#include "net/wire/http_head.h"

#include "base/cleanup.h"
#include "test/check.h"

static struct http_request request;

static enum http_state parse(const char *text)
{
    return http_request_parse(text, strlen(text), &request);
}

static const char *why_not(const char *text)
{
    return parse(text) == HTTP_BAD ? request.why : "(not refused)";
}

static bool is(struct http_span span, const char *text)
{
    return span.n == strlen(text) && memcmp(span.at, text, span.n) == 0;
}

#define HOST "Host: example.org\r\n"
#define END  "\r\n"

TEST(reads_a_request)
{
    static const char text[] = "POST /a?b=c HTTP/1.1\r\nHost: Example.org:8080\r\n"
                               "Content-Length: 5\r\nX-Other:   two words \t\r\n\r\nhello";

    CHECK(parse(text) == HTTP_COMPLETE);
    CHECK(request.length == sizeof text - 1 - 5);
    CHECK(is(request.method, "POST") && is(request.target, "/a?b=c") && is(request.path, "/a?b=c"));
    CHECK(request.form == HTTP_ORIGIN && !request.is_old && !request.is_last);
    CHECK_STR(request.host.name, "example.org");
    CHECK(request.port == 8080 && request.has_length && request.content_length == 5);
    CHECK(!request.is_chunked && !request.is_upgrade && !request.expects_continue);
}

TEST(more_is_needed_until_the_empty_line)
{
    static const char text[] = "GET / HTTP/1.1\r\n" HOST "A: b\r\n" END;

    for (size_t n = 0; n < sizeof text - 1; n++)
        CHECK(http_request_parse(text, n, &request) == HTTP_MORE);
    CHECK(http_request_parse(text, sizeof text - 1, &request) == HTTP_COMPLETE);
}

TEST(tells_the_forms_of_targets)
{
    CHECK(parse("GET http://Example.org:81/x HTTP/1.1\r\nHost: example.org:81\r\n" END) ==
          HTTP_COMPLETE);
    CHECK(request.form == HTTP_ABSOLUTE && request.port == 81 && is(request.path, "/x"));
    CHECK_STR(request.host.name, "example.org");
    CHECK(parse("GET HTTP://example.org HTTP/1.1\r\n" HOST END) == HTTP_COMPLETE);
    CHECK(request.form == HTTP_ABSOLUTE && is(request.path, "/") && request.port == 0);
    CHECK(parse("GET http://example.org:80/ HTTP/1.1\r\n" HOST END) == HTTP_COMPLETE);
    CHECK(parse("CONNECT example.org:443 HTTP/1.1\r\n" HOST END) == HTTP_COMPLETE);
    CHECK(request.form == HTTP_AUTHORITY && request.port == 443);
    CHECK_STR(request.host.name, "example.org");
    CHECK(parse("CONNECT [::1]:443 HTTP/1.0\r\n" END) == HTTP_COMPLETE);
    CHECK(request.host.is_address && request.host.address[15] == 1);
    CHECK(parse("OPTIONS * HTTP/1.1\r\n" HOST END) == HTTP_COMPLETE);
    CHECK(request.form == HTTP_ASTERISK);
}

static const struct {
    const char *text;
    const char *why;
} wrong[] = {
#define FIRST "the first line is not that of a request"
    { "\x16\3\1", FIRST },
    { " GET / HTTP/1.1\r\n", FIRST },
    { "\r\nGET / HTTP/1.1\r\n", FIRST },
    { "GET\r\n", FIRST },
    { "GET /\r\n", FIRST },
    { "GET  / HTTP/1.1\r\n", FIRST },
    { "GET\t/ HTTP/1.1\r\n", FIRST },
    { "GET / b HTTP/1.1\r\n", "the first line names no HTTP/1.0 and no HTTP/1.1" },
    { "GET /  HTTP/1.1\r\n", "the first line names no HTTP/1.0 and no HTTP/1.1" },
    { "GET / HTTP/1.1 \r\n", "the first line names no HTTP/1.0 and no HTTP/1.1" },
    { "GET / http/1.1\r\n", "the first line names no HTTP/1.0 and no HTTP/1.1" },
    { "GET / HTTP/1.2\r\n", "the first line names no HTTP/1.0 and no HTTP/1.1" },
    { "GET / HTTP/11\r\n", "the first line names no HTTP/1.0 and no HTTP/1.1" },
    { "PRI * HTTP/2.0\r\n", "the first line names no HTTP/1.0 and no HTTP/1.1" },
    { "G(T / HTTP/1.1\r\n", FIRST },
    { "GET /\xc3\xa9 HTTP/1.1\r\n", FIRST },
#define TARGET "the target is no path, and no address of the web"
    { "GET a HTTP/1.1\r\n", TARGET },
    { "GET * HTTP/1.1\r\n", TARGET },
    { "GET https://example.org/ HTTP/1.1\r\n", TARGET },
    { "GET http:// HTTP/1.1\r\n", TARGET },
    { "GET http:/// HTTP/1.1\r\n", "the target names no host" },
    { "GET http://u@example.org/ HTTP/1.1\r\n", "the target names no host" },
    { "GET http://127.1/ HTTP/1.1\r\n", "the target names no host" },
    { "GET http://example.org\\@example.com/ HTTP/1.1\r\n", "the target names no host" },
    { "GET http://example.org%2f.example.com/ HTTP/1.1\r\n", "the target names no host" },
    { "GET http://example.org:80:81/ HTTP/1.1\r\n", "the target names no host" },
    { "GET http://example.org:/ HTTP/1.1\r\n", "the target names no host" },
    { "GET http:example.org/ HTTP/1.1\r\n", TARGET },
    { "GET http:/example.org/ HTTP/1.1\r\n", TARGET },
    { "GET ws://example.org/ HTTP/1.1\r\n", TARGET },
    { "GET http://a?b HTTP/1.1\r\n", "the target has no path" },
    { "GET /a#b HTTP/1.1\r\n", "the target has a fragment" },
    { "CONNECT / HTTP/1.1\r\n", "the target of CONNECT is no host with a port" },
    { "connect example.org HTTP/1.1\r\n", "the target of CONNECT is no host with a port" },
    { "CONNECT http://a:1/ HTTP/1.1\r\n", "the target of CONNECT is no host with a port" },
#define LINE "a line has a control character in it or does not end with CR LF"
    { "GET / HTTP/1.1\n", LINE },
    { "GET / HTTP/1.1\rHost", LINE },
    { "GET / HTTP/1.1\r\n" HOST "A: b\nContent-Length: 5\r\n", LINE },
    { "GET / HTTP/1.1\r\n" HOST "A: b\rc\r\n", LINE },
    { "GET / HTTP/1.1\r\n" HOST "A: b\x7f", LINE },
    { "GET / HTTP/1.1\r\n" HOST "A: b\v", LINE },
    { "GET / HTTP/1.1\r\n" HOST "\n", LINE },
    { "GET / HTTP/1.1\r\n" HOST " folded\r\n", "a field goes over two lines" },
    { "GET / HTTP/1.1\r\n" HOST "\tfolded\r\n", "a field goes over two lines" },
#define COLON "a field has no name with a colon behind it"
    { "GET / HTTP/1.1\r\n" HOST "A : b\r\n", COLON },
    { "GET / HTTP/1.1\r\n" HOST "A\r\n", COLON },
    { "GET / HTTP/1.1\r\n" HOST ": b\r\n", COLON },
    { "GET / HTTP/1.1\r\n" HOST "A\xc3\xa4: b\r\n", COLON },
    { "GET / HTTP/1.1\r\n" END, "Host is missing" },
    { "GET / HTTP/1.0\r\n" END, "Host is missing" },
    { "GET / HTTP/1.1\r\n" HOST HOST, "Host is given twice" },
    { "GET / HTTP/1.1\r\nHost:\r\n", "Host names no host" },
    { "GET / HTTP/1.1\r\nHost: a b\r\n", "Host names no host" },
    { "GET / HTTP/1.1\r\nHost: a, b\r\n", "Host names no host" },
    { "GET / HTTP/1.1\r\nHost: a:b\r\n", "Host names no host" },
    { "GET / HTTP/1.1\r\nHost: 0x7f000001\r\n", "Host names no host" },
#define TAKEN "Connection takes away a field that says whom the request is for, or how long it is"
    { "GET / HTTP/1.1\r\n" HOST "Connection: keep-alive, host\r\n", TAKEN },
    { "GET / HTTP/1.1\r\n" HOST "Connection: Content-Length\r\n", TAKEN },
    { "GET / HTTP/1.1\r\n" HOST "Connection: transfer-encoding\r\n", TAKEN },
#define DIFFERENT "Host and the target name different hosts"
    { "GET http://example.com/ HTTP/1.1\r\n" HOST, DIFFERENT },
    { "GET http://example.org:81/ HTTP/1.1\r\n" HOST, DIFFERENT },
    { "CONNECT example.com:443 HTTP/1.1\r\n" HOST, DIFFERENT },
    { "CONNECT example.org:443 HTTP/1.1\r\nHost: example.org:444\r\n", DIFFERENT },
    { "GET / HTTP/1.1\r\n" HOST "Content-Length: 5\r\nContent-Length: 5\r\n",
      "Content-Length is given twice" },
    { "GET / HTTP/1.1\r\n" HOST "Content-Length: 5, 5\r\n", "Content-Length is no length" },
    { "GET / HTTP/1.1\r\n" HOST "Content-Length: +5\r\n", "Content-Length is no length" },
    { "GET / HTTP/1.1\r\n" HOST "Content-Length: -5\r\n", "Content-Length is no length" },
    { "GET / HTTP/1.1\r\n" HOST "Content-Length: 0x5\r\n", "Content-Length is no length" },
    { "GET / HTTP/1.1\r\n" HOST "Content-Length:\r\n", "Content-Length is no length" },
    { "GET / HTTP/1.1\r\n" HOST "Content-Length: 99999999999999999999\r\n",
      "Content-Length is no length" },
    { "GET / HTTP/1.1\r\n" HOST "Content_Length: 5\r\n", "a field has '_' where '-' belongs" },
    { "GET / HTTP/1.1\r\n" HOST "TRANSFER_encoding: x\r\n", "a field has '_' where '-' belongs" },
    { "GET / HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n",
      "Transfer-Encoding is given twice" },
    { "GET / HTTP/1.1\r\n" HOST "Transfer-Encoding: gzip, chunked\r\n",
      "Transfer-Encoding is not 'chunked'" },
    { "GET / HTTP/1.1\r\n" HOST "Transfer-Encoding: xchunked\r\n",
      "Transfer-Encoding is not 'chunked'" },
    { "GET / HTTP/1.1\r\n" HOST "Transfer-Encoding:\r\n", "Transfer-Encoding is not 'chunked'" },
    { "GET / HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n" END,
      "Content-Length and Transfer-Encoding are both given" },
    { "GET / HTTP/1.1\r\n" HOST "Content-Length: 0\r\nTransfer-Encoding: chunked\r\n" END,
      "Content-Length and Transfer-Encoding are both given" },
    { "GET / HTTP/1.0\r\n" HOST "Transfer-Encoding: chunked\r\n" END,
      "HTTP/1.0 has no Transfer-Encoding" },
    { "GET / HTTP/1.1\r\n" HOST "Upgrade: a\r\nUpgrade: b\r\n", "Upgrade is given twice" },
};

TEST(refuses_what_others_might_read_differently)
{
    for (size_t i = 0; i < COUNT(wrong); i++) {
        if (strcmp(why_not(wrong[i].text), wrong[i].why) != 0)
            printf("# %s\n", wrong[i].text);
        CHECK_STR(why_not(wrong[i].text), wrong[i].why);
    }
}

TEST(a_nul_is_refused_wherever_it_stands)
{
    static const char text[] = "GET /a HTTP/1.1\r\nHost: example.org\r\nA: b\r\n\r\n";
    char copy[sizeof text];

    for (size_t i = 0; i < sizeof text - 1; i++) {
        memcpy(copy, text, sizeof text);
        copy[i] = '\0';
        CHECK(http_request_parse(copy, sizeof text - 1, &request) == HTTP_BAD);
    }
}

TEST(understands_what_fields_say_of_the_connection)
{
    CHECK(parse("GET / HTTP/1.1\r\n" HOST "Connection: a , CLOSE\r\n" END) == HTTP_COMPLETE);
    CHECK(request.is_last);
    CHECK(parse("GET / HTTP/1.0\r\n" HOST END) == HTTP_COMPLETE && request.is_last);
    CHECK(request.is_old);
    CHECK(parse("GET / HTTP/1.0\r\n" HOST "Connection: Keep-Alive\r\n" END) == HTTP_COMPLETE);
    CHECK(!request.is_last);
    CHECK(parse("GET / HTTP/1.1\r\n" HOST "Connection: closed\r\n" END) == HTTP_COMPLETE);
    CHECK(!request.is_last);
    CHECK(parse("GET / HTTP/1.1\r\n" HOST "Upgrade: websocket\r\nConnection: Upgrade\r\n" END) ==
          HTTP_COMPLETE);
    CHECK(request.is_upgrade && is(request.upgrade, "websocket"));
    CHECK(parse("PUT / HTTP/1.1\r\n" HOST "Expect: 100-Continue\r\n"
                "TRANSFER-encoding: Chunked \r\n" END) == HTTP_COMPLETE);
    CHECK(request.expects_continue && request.is_chunked && !request.has_length);
    CHECK(parse("PUT / HTTP/1.1\r\n" HOST "CONTENT-LENGTH: 999999999999999999\r\n" END) ==
          HTTP_COMPLETE);
    CHECK(request.content_length == 999999999999999999);
}

TEST(hosts_are_names_and_addresses)
{
    CHECK(parse("GET / HTTP/1.1\r\nhOST:[2001:db8::1]:81\r\n" END) == HTTP_COMPLETE);
    CHECK(request.host.is_address && request.port == 81);
    CHECK(parse("GET / HTTP/1.1\r\nHost: 10.0.0.1\r\n" END) == HTTP_COMPLETE);
    CHECK(request.host.is_address && address_is_v4(request.host.address));
    CHECK(parse("GET / HTTP/1.1\r\nHost: Example.ORG.\r\n" END) == HTTP_COMPLETE);
    CHECK_STR(request.host.name, "example.org");
}

TEST(heads_end_at_16_kib)
{
    static char text[HTTP_REQUEST_MAX + 100];
    size_t n = (size_t)sprintf(text, "GET / HTTP/1.1\r\n" HOST "A: ");

    memset(text + n, 'b', sizeof text - n);
    CHECK(http_request_parse(text, HTTP_REQUEST_MAX - 1, &request) == HTTP_MORE);
    CHECK(http_request_parse(text, HTTP_REQUEST_MAX, &request) == HTTP_BAD);
    CHECK_STR(request.why, "the head is longer than 16 KiB");
    memcpy(text + HTTP_REQUEST_MAX - 4, "\r\n\r\n", 4);
    CHECK(http_request_parse(text, HTTP_REQUEST_MAX, &request) == HTTP_COMPLETE);
    CHECK(http_request_parse(text, sizeof text, &request) == HTTP_COMPLETE);
    memcpy(text + HTTP_REQUEST_MAX - 4, "b\r\n\r\n", 5);
    CHECK(http_request_parse(text, sizeof text, &request) == HTTP_BAD);
}

TEST(lists_the_fields)
{
    static const char text[] = "GET / HTTP/1.1\r\n" HOST "A: \r\nB:c d\r\n" END "E: f\r\n";
    struct http_header field;
    size_t at = 0;

    CHECK(parse(text) == HTTP_COMPLETE);
    CHECK(http_request_next_field(text, &request, &at, &field));
    CHECK(http_span_is(field.name, "hOST") && is(field.value, "example.org"));
    CHECK(http_request_next_field(text, &request, &at, &field));
    CHECK(is(field.name, "A") && is(field.value, ""));
    CHECK(http_request_next_field(text, &request, &at, &field));
    CHECK(is(field.name, "B") && is(field.value, "c d"));
    CHECK(!http_request_next_field(text, &request, &at, &field));
}
