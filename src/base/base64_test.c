/* worlds: user */
#include "base64.h"

#include "test/check.h"

static const char *encode(const void *bytes, size_t n)
{
    static char *text;
    struct buffer out = { 0 };

    free(text);
    buffer_append_string(&out, "");
    base64_append(&out, bytes, n);
    text = buffer_take_string(&out);
    return text;
}

TEST(agrees_with_the_vectors_of_rfc_4648)
{
    CHECK_STR(encode("", 0), "");
    CHECK_STR(encode("f", 1), "Zg==");
    CHECK_STR(encode("fo", 2), "Zm8=");
    CHECK_STR(encode("foo", 3), "Zm9v");
    CHECK_STR(encode("foob", 4), "Zm9vYg==");
    CHECK_STR(encode("fooba", 5), "Zm9vYmE=");
    CHECK_STR(encode("foobar", 6), "Zm9vYmFy");
}

TEST(takes_every_byte)
{
    CHECK_STR(encode("\xFF\xFE\xFD\x00\x01\x02", 6), "//79AAEC");
    CHECK_STR(encode("\xFB\xEF\xBE", 3), "++++");
    CHECK_STR(encode("\x80", 1), "gA==");
}

TEST(pieces_of_three_make_the_same_text)
{
    unsigned char bytes[257];
    struct buffer out = { 0 };

    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (unsigned char)(i * 7);
    base64_append(&out, bytes, 120);
    base64_append(&out, bytes + 120, 137);
    CHECK_STR(encode(bytes, sizeof bytes), out.data);
    CHECK(out.length == (257 + 2) / 3 * 4);
    buffer_done(&out);
}
