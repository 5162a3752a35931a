#include "printable.h"

#include <stdbool.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "base/utf8.h"

static const struct {
    uint32_t from, to;
} unprintable[] = {
    { 0x0000, 0x001F }, /* C0, ESC among them */
    { 0x007F, 0x009F }, /* DEL and C1: U+009B is CSI to some terminals */
    { 0x061C, 0x061C }, /* Arabic letter mark */
    { 0x200E, 0x200F }, /* left-to-right and right-to-left mark */
    { 0x2028, 0x202E }, /* line and paragraph separator, bidirectional embedding and override */
    { 0x2066, 0x2069 }, /* bidirectional isolates */
};

static bool is_printable(uint32_t cp)
{
    for (size_t i = 0; i < COUNT(unprintable); i++) {
        if (cp >= unprintable[i].from && cp <= unprintable[i].to)
            return false;
    }
    return true;
}

static void append_escaped(struct buffer *out, const char *bytes, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (bytes[i] == '\n')
            buffer_append_string(out, "\\n");
        else
            buffer_printf(out, "\\x%02x", (unsigned char)bytes[i]);
    }
}

static void append_valid(struct buffer *out, const char *text, size_t n)
{
    for (size_t at = 0; at < n;) {
        uint32_t cp;
        size_t length = utf8_decode((const unsigned char *)text + at, n - at, &cp);

        if (is_printable(cp))
            buffer_append(out, text + at, length);
        else
            append_escaped(out, text + at, length);
        at += length;
    }
}

void printable_append(struct buffer *out, const char *bytes, size_t n)
{
    while (n > 0) {
        size_t n_valid = utf8_valid_prefix(bytes, n);

        append_valid(out, bytes, n_valid);
        bytes += n_valid;
        n -= n_valid;
        if (n > 0) {
            append_escaped(out, bytes, 1);
            bytes++;
            n--;
        }
    }
}
