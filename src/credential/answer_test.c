#include "credential/answer.h"

#include <string.h>

#include "test/check.h"

static const char *written(const char *head)
{
    static char text[4096];
    const struct redact_secret secret = { "token", "canary-value", strlen("canary-value") };
    struct redact *redact = NULL;
    struct credential_answer answer;
    auto_buffer struct buffer out = { 0 };

    if (credential_answer_parse(head, strlen(head), &answer) != HTTP_COMPLETE)
        return "not complete";
    CHECK(redact_new(&secret, 1, false, &redact) == 0);
    credential_answer_write(head, &answer, redact, &out);
    redact_free(redact);
    (void)stpncpy(text, out.data, sizeof text - 1);
    return text;
}

TEST(all_goes_on_but_the_connection)
{
    CHECK_STR(
        written("HTTP/1.1 200 OK\r\nA: b\r\nConnection: keep-alive\r\nKeep-Alive: timeout=5,\r\n"
                " max=3\r\nSet-Cookie: x\r\nSet-Cookie: y\r\n\r\nbody"),
        "HTTP/1.1 200 OK\r\nA: b\r\nSet-Cookie: x\r\nSet-Cookie: y\r\n"
        "Connection: close\r\n\r\n");
    CHECK_STR(written("HTTP/1.1 100 Continue\r\n\r\n"), "HTTP/1.1 100 Continue\r\n\r\n");
    CHECK_STR(written("HTTP/1.1 101 Switching\r\nConnection: Upgrade\r\n\r\n"),
              "HTTP/1.1 101 Switching\r\nConnection: Upgrade\r\n\r\n");
}

TEST(the_value_is_taken_out_wherever_it_stands)
{
    CHECK_STR(written("HTTP/1.1 200 canary-value\r\nX: Bearer canary-value\r\ncanary-value: y\r\n"
                      "Z: canary-valu\r\n e\r\n\r\n"),
              "HTTP/1.1 200 [secret token]\r\nX: Bearer [secret token]\r\n[secret token]: y\r\n"
              "Z: canary-valu\r\n e\r\nConnection: close\r\n\r\n");
}

static enum http_state parsed(const char *text, struct credential_answer *answer)
{
    return credential_answer_parse(text, strlen(text), answer);
}

TEST(what_is_no_answer_is_refused_at_its_first_byte)
{
    struct credential_answer answer;

    CHECK(parsed("H", &answer) == HTTP_MORE && parsed("HTTP/1.1 2", &answer) == HTTP_MORE);
    CHECK(parsed("HTTP/1.1 200 OK\r\nA: b\r\n", &answer) == HTTP_MORE);
    CHECK(parsed("S", &answer) == HTTP_BAD && parsed("HTTP/2 200\r\n\r\n", &answer) == HTTP_BAD);
    CHECK(parsed("HTTP/1.1 20x OK\r\n\r\n", &answer) == HTTP_BAD);
    CHECK(parsed("HTTP/1.1 2000 OK\r\n\r\n", &answer) == HTTP_BAD);
    CHECK(credential_answer_parse("HTTP/1.1 200 \0\r\n\r\n", 18, &answer) == HTTP_BAD);
    CHECK(parsed("HTTP/1.1 200 OK\r\nA: b\nConnection: keep-alive\r\n\r\n", &answer) == HTTP_BAD);
    CHECK(parsed("HTTP/1.1 200 OK\r\nA: b\rC: d\r\n\r\n", &answer) == HTTP_BAD);
    static char large[CREDENTIAL_ANSWER_MAX + 1];
    memset(large, 'a', sizeof large);
    memcpy(large, "HTTP/1.1 200 ", 13);
    CHECK(credential_answer_parse(large, sizeof large, &answer) == HTTP_BAD);
}

TEST(whether_the_box_can_tell_that_all_has_come)
{
    struct credential_answer answer;

    CHECK(parsed("HTTP/1.1 200 OK\r\ncontent-length: 3\r\n\r\n", &answer) == HTTP_COMPLETE);
    CHECK(answer.is_framed && answer.status == 200 && answer.length == 38);
    CHECK(parsed("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", &answer) ==
          HTTP_COMPLETE);
    CHECK(answer.is_framed);
    CHECK(parsed("HTTP/1.1 200 OK\r\n\r\n", &answer) == HTTP_COMPLETE && !answer.is_framed);
    CHECK(parsed("HTTP/1.0 204\r\n\r\n", &answer) == HTTP_COMPLETE && answer.is_framed);
    CHECK(parsed("HTTP/1.1 103 Early\r\n\r\n", &answer) == HTTP_COMPLETE);
    CHECK(credential_answer_is_interim(&answer));
    CHECK(parsed("HTTP/1.1 101 Now\r\n\r\n", &answer) == HTTP_COMPLETE);
    CHECK(!credential_answer_is_interim(&answer));
}
