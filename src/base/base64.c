#include "base64.h"

#include <stdint.h>

static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

void base64_append(struct buffer *out, const void *bytes, size_t n)
{
    const unsigned char *at = bytes;

    /* what would not fit into a size_t fits into no memory either: buffer_reserve() refuses it */
    if (n == 0 || !buffer_reserve(out, n > SIZE_MAX / 2 ? n : (n + 2) / 3 * 4))
        return;
    for (; n >= 3; n -= 3, at += 3) {
        uint32_t three = (uint32_t)at[0] << 16 | (uint32_t)at[1] << 8 | at[2];
        const char four[] = { letters[three >> 18], letters[three >> 12 & 63],
                              letters[three >> 6 & 63], letters[three & 63] };
        buffer_append(out, four, sizeof four);
    }
    if (n == 0)
        return;
    uint32_t rest = (uint32_t)at[0] << 16 | (n > 1 ? (uint32_t)at[1] << 8 : 0);
    const char four[] = { letters[rest >> 18], letters[rest >> 12 & 63],
                          n > 1 ? letters[rest >> 6 & 63] : '=', '=' };
    buffer_append(out, four, sizeof four);
}
