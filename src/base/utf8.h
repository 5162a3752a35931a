/*
 * utf8.h - reading bytes that may or may not be UTF-8
 *
 * Well-formed means what Unicode says (table 3-7): no overlong forms, no surrogates, nothing above
 * U+10FFFF. A malformed place is answered with U+FFFD once per maximal subpart, the practice that
 * Unicode recommends and browsers and Python follow.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define UTF8_REPLACEMENT 0xFFFDu

/*
 * Reads one character. Returns the bytes it takes, at least 1 unless n is 0; *cp is U+FFFD where
 * they are malformed, and also where they are a well-formed U+FFFD.
 */
size_t utf8_decode(const unsigned char *s, size_t n, uint32_t *cp);

/* How many bytes at the start are whole, well-formed characters. */
size_t utf8_valid_prefix(const char *s, size_t n);

static inline bool utf8_is_continuation(unsigned char byte)
{
    return (byte & 0xC0) == 0x80;
}
