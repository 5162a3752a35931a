/* worlds: user */
#include "utf8.h"

#include <string.h>

#include "test/check.h"

/* The definition, by encoding: well-formed is what an encoder of scalar values can produce. */
static size_t encode(uint32_t cp, unsigned char out[4])
{
    if (cp < 0x80) {
        out[0] = (unsigned char)cp;
        return 1;
    }
    if (cp < 0x800) {
        out[0] = (unsigned char)(0xC0 | cp >> 6);
        out[1] = (unsigned char)(0x80 | (cp & 0x3F));
        return 2;
    }
    if (cp < 0x10000) {
        out[0] = (unsigned char)(0xE0 | cp >> 12);
        out[1] = (unsigned char)(0x80 | (cp >> 6 & 0x3F));
        out[2] = (unsigned char)(0x80 | (cp & 0x3F));
        return 3;
    }
    out[0] = (unsigned char)(0xF0 | cp >> 18);
    out[1] = (unsigned char)(0x80 | (cp >> 12 & 0x3F));
    out[2] = (unsigned char)(0x80 | (cp >> 6 & 0x3F));
    out[3] = (unsigned char)(0x80 | (cp & 0x3F));
    return 4;
}

TEST(decodes_every_scalar_value)
{
    for (uint32_t cp = 0; cp <= 0x10FFFF; cp++) {
        unsigned char bytes[4];
        uint32_t decoded = 0;

        if (cp >= 0xD800 && cp <= 0xDFFF)
            continue;
        size_t n = encode(cp, bytes);
        CHECK(utf8_decode(bytes, n, &decoded) == n);
        CHECK(decoded == cp);
        CHECK(utf8_valid_prefix((const char *)bytes, n) == n);
    }
}

TEST(refuses_every_other_sequence_of_three_bytes)
{
    unsigned n_valid = 0;

    for (uint32_t i = 0; i < 1u << 24; i++) {
        const unsigned char s[3] = { (unsigned char)(i >> 16), (unsigned char)(i >> 8),
                                     (unsigned char)i };
        unsigned char again[4];
        uint32_t cp;
        size_t n = utf8_decode(s, 3, &cp);

        CHECK(n >= 1 && n <= 3);
        if (cp != UTF8_REPLACEMENT) {
            CHECK(encode(cp, again) == n && memcmp(again, s, n) == 0);
            n_valid += n == 3;
        }
    }
    CHECK(n_valid == 0x10000 - 0x800 - 0x800 - 1); /* less surrogates, shorter ones, U+FFFD */
}

TEST(replaces_one_maximal_subpart_at_a_time)
{
    static const struct {
        const char *bytes;
        size_t lengths[8]; /* of what is consumed, 0-ended; + 100 where a character is read */
    } cases[] = {
        { "\x80", { 1 } },
        { "\xBF\xBF", { 1, 1 } },
        { "\xC0\xAF", { 1, 1 } },
        { "\xC3(", { 1, 101 } },
        { "\xE0\x80\xAF", { 1, 1, 1 } },
        { "\xE2\x82", { 2 } },
        { "\xE2\x82(", { 2, 101 } },
        { "\xED\xA0\x80", { 1, 1, 1 } },
        { "\xF0\x9F\x98", { 3 } },
        { "\xF0\x9F\x98\x80", { 104 } },
        { "\xF0\x80\x80\xAF", { 1, 1, 1, 1 } },
        { "\xF4\x90\x80\x80", { 1, 1, 1, 1 } },
        { "\xF4\x8F\xBF\xBF", { 104 } },
        { "\xFE\xFF", { 1, 1 } },
        /* Unicode, table 3-11 */
        { "\xE1\x80\xE2\xF0\x91\x92\xF1\xBF\x41", { 2, 1, 3, 2, 101 } },
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const unsigned char *s = (const unsigned char *)cases[i].bytes;
        size_t left = strlen(cases[i].bytes);

        for (const size_t *expected = cases[i].lengths; *expected; expected++) {
            uint32_t cp;
            size_t n = utf8_decode(s, left, &cp);

            CHECK(n == *expected % 100);
            CHECK((cp != UTF8_REPLACEMENT) == (*expected >= 100));
            s += n;
            left -= n;
        }
        CHECK(left == 0);
    }
}

TEST(reads_nothing_from_nothing)
{
    uint32_t cp = 0;

    CHECK(utf8_decode((const unsigned char *)"", 0, &cp) == 0);
    CHECK(cp == UTF8_REPLACEMENT);
    CHECK(utf8_valid_prefix("", 0) == 0);
}

TEST(finds_where_the_valid_part_ends)
{
    CHECK(utf8_valid_prefix("plain", 5) == 5);
    CHECK(utf8_valid_prefix("a\0b", 3) == 3);
    CHECK(utf8_valid_prefix("gr\xC3\xBC\xC3\x9F", 6) == 6);
    CHECK(utf8_valid_prefix("gr\xC3\xBC\xC3\x9F", 5) == 4); /* cut within the last */
    CHECK(utf8_valid_prefix("ab\xFF"
                            "cd",
                            5) == 2);
    CHECK(utf8_valid_prefix("\xEF\xBF\xBD!", 4) == 4); /* U+FFFD itself is fine */
}

TEST(knows_continuation_bytes)
{
    for (unsigned byte = 0; byte < 256; byte++)
        CHECK(utf8_is_continuation((unsigned char)byte) == (byte >= 0x80 && byte <= 0xBF));
}
