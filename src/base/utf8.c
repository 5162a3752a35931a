#include "utf8.h"

/*
 * What may follow a lead byte. The second byte's range is what excludes overlong forms, surrogates
 * and numbers that are too large; all further bytes are 80..BF.
 */
struct lead {
    unsigned char from, to;
    unsigned char length;
    unsigned char second_from, second_to;
};

static const struct lead leads[] = {
    { 0xC2, 0xDF, 2, 0x80, 0xBF }, { 0xE0, 0xE0, 3, 0xA0, 0xBF }, { 0xE1, 0xEC, 3, 0x80, 0xBF },
    { 0xED, 0xED, 3, 0x80, 0x9F }, { 0xEE, 0xEF, 3, 0x80, 0xBF }, { 0xF0, 0xF0, 4, 0x90, 0xBF },
    { 0xF1, 0xF3, 4, 0x80, 0xBF }, { 0xF4, 0xF4, 4, 0x80, 0x8F },
};

static const struct lead *find_lead(unsigned char byte)
{
    for (size_t i = 0; i < sizeof leads / sizeof *leads; i++) {
        if (byte >= leads[i].from && byte <= leads[i].to)
            return &leads[i];
    }
    return NULL;
}

/* The length of the well-formed character or of the maximal subpart at s. */
static size_t sequence(const unsigned char *s, size_t n, bool *out_valid)
{
    *out_valid = false;
    if (n == 0)
        return 0;
    if (s[0] < 0x80) {
        *out_valid = true;
        return 1;
    }
    const struct lead *lead = find_lead(s[0]);
    if (!lead || n < 2 || s[1] < lead->second_from || s[1] > lead->second_to)
        return 1;
    for (size_t i = 2; i < lead->length; i++) {
        if (i >= n || !utf8_is_continuation(s[i]))
            return i;
    }
    *out_valid = true;
    return lead->length;
}

size_t utf8_decode(const unsigned char *s, size_t n, uint32_t *cp)
{
    bool is_valid;
    size_t length = sequence(s, n, &is_valid);

    *cp = UTF8_REPLACEMENT;
    if (!is_valid)
        return length;
    if (length == 1) {
        *cp = s[0];
        return 1;
    }
    uint32_t value = s[0] & (0x7Fu >> length);
    for (size_t i = 1; i < length; i++)
        value = value << 6 | (s[i] & 0x3Fu);
    *cp = value;
    return length;
}

size_t utf8_valid_prefix(const char *s, size_t n)
{
    const unsigned char *bytes = (const unsigned char *)s;
    size_t at = 0;

    while (at < n) {
        bool is_valid;
        size_t length = sequence(bytes + at, n - at, &is_valid);

        if (!is_valid)
            break;
        at += length;
    }
    return at;
}
