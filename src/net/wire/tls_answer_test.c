#include "net/wire/tls_answer.h"

#include "base/cleanup.h"
#include "test/check.h"

#define BEGIN "\x16\3\3\0\x5a\2\0\0\x56\3\3"
#define RETRY                                                                  \
    "\xcf\x21\xad\x74\xe5\x9a\x61\x11\xbe\x1d\x8c\x02\x1e\x65\xb8\x91\xc2\xa2" \
    "\x11\x16\x7a\xbb\x8c\x5e\x07\x9e\x09\xe2\xc8\xa8\x33\x9c"

static const struct {
    const char *bytes;
    size_t decides_at; /* so many must be there */
    enum tls_answer answer;
} answers[] = {
    { BEGIN RETRY "rest", 43, TLS_ANSWER_MAY_REPEAT },
    { BEGIN "another random number of 32 bytes", 12, TLS_ANSWER_FINAL },
    { BEGIN "\xcf\x21\xad\x74\xe5\x9a\x61\x11 all but the beginning..", 20, TLS_ANSWER_FINAL },
    { "\x15\3\3\0\2\1\x70" BEGIN "x", 1, TLS_ANSWER_MAY_REPEAT },       /* a warning comes first */
    { "\x16\3\3\0\x25\2\0\0\x56\3\3" RETRY, 5, TLS_ANSWER_MAY_REPEAT }, /* in two records */
    { "\x16\3\3\0\x5a\6\0\0\x56\3\3", 6, TLS_ANSWER_MAY_REPEAT },       /* as drafts had it */
    { "\x16\3\3\0\x5a\0\0\0\0", 6, TLS_ANSWER_MAY_REPEAT },
    { "HTTP/1.1 400 Bad Request", 1, TLS_ANSWER_MAY_REPEAT },
};

TEST(only_a_hello_that_is_no_request_for_another_is_final)
{
    for (size_t i = 0; i < COUNT(answers); i++) {
        const uint8_t *bytes = (const uint8_t *)answers[i].bytes;

        for (size_t n = 0; n < answers[i].decides_at; n++)
            CHECK(tls_answer_read(bytes, n) == TLS_ANSWER_MORE);
        for (size_t n = answers[i].decides_at; n < answers[i].decides_at + 3; n++)
            CHECK(tls_answer_read(bytes, n) == answers[i].answer);
    }
}
