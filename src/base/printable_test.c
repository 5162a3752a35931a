/* worlds: user */
#include "printable.h"

#include <stdint.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/utf8.h"
#include "test/check.h"

static void expect(const char *bytes, size_t n, const char *expected)
{
    struct buffer out = { 0 };

    printable_append(&out, bytes, n);
    auto_free char *text = buffer_take_string(&out);
    CHECK_STR(text, expected);
}

#define EXPECT(literal, expected) expect(literal, sizeof(literal) - 1, expected)

TEST(leaves_ordinary_text_alone)
{
    EXPECT("", "");
    EXPECT("/work/a file.c", "/work/a file.c");
    EXPECT("C:\\dir '\"", "C:\\dir '\"");
    EXPECT("gr\xC3\xBC\xC3\x9F \xE2\x82\xAC \xF0\x9F\x90\x94",
           "gr\xC3\xBC\xC3\x9F \xE2\x82\xAC \xF0\x9F\x90\x94");
}

TEST(escapes_what_a_terminal_obeys)
{
    EXPECT("\x1b[31mred\x1b[0m", "\\x1b[31mred\\x1b[0m");
    EXPECT("\x1b]52;c;aGk=\a", "\\x1b]52;c;aGk=\\x07");
    EXPECT("a\rb\tc\bd", "a\\x0db\\x09c\\x08d");
    EXPECT("one\ntwo", "one\\ntwo");
    EXPECT("\x7f", "\\x7f");
    EXPECT("a\0b", "a\\x00b");
    EXPECT("\xC2\x9B"
           "31m",
           "\\xc2\\x9b31m"); /* U+009B, CSI in one character */
    EXPECT("\x9B"
           "31m",
           "\\x9b31m");
}

TEST(escapes_what_turns_or_breaks_the_line)
{
    EXPECT("abc\xE2\x80\xAEtxt.exe", "abc\\xe2\\x80\\xaetxt.exe");
    EXPECT("\xE2\x80\xA8", "\\xe2\\x80\\xa8");
    EXPECT("\xE2\x81\xA6", "\\xe2\\x81\\xa6");
}

TEST(escapes_what_is_not_utf8)
{
    EXPECT("a\xFFz", "a\\xffz");
    EXPECT("\xE2\x82", "\\xe2\\x82");
    EXPECT("\xE2\x82(\xE2\x82\xAC", "\\xe2\\x82(\xE2\x82\xAC");
    EXPECT("\xC0\x8A", "\\xc0\\x8a"); /* an overlong newline */
    EXPECT("\xED\xA0\x80", "\\xed\\xa0\\x80");
}

TEST(never_lets_a_control_character_through)
{
    for (uint32_t i = 0; i < 1u << 16; i++) {
        const char pair[2] = { (char)(i >> 8), (char)i };
        struct buffer out = { 0 };

        printable_append(&out, pair, 2);
        CHECK(!out.failed && utf8_valid_prefix(out.data, out.length) == out.length);
        for (size_t at = 0; at < out.length;) {
            uint32_t cp;

            at += utf8_decode((const unsigned char *)out.data + at, out.length - at, &cp);
            CHECK(cp >= 0x20 && !(cp >= 0x7F && cp < 0xA0));
        }
        buffer_done(&out);
    }
}
