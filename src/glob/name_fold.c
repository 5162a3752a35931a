#include "name_fold.h"

#include <stdint.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/utf8.h"

/* All that is not ASCII and becomes ASCII alone, by canonical decomposition and full case folding. */
static const struct {
    uint32_t character;
    char ascii[4];
} to_ascii[] = {
    { 0x00DF, "ss" },  { 0x017F, "s" },  { 0x037E, ";" },  { 0x1E9E, "ss" }, { 0x1FEF, "`" },
    { 0x212A, "k" },   { 0xFB00, "ff" }, { 0xFB01, "fi" }, { 0xFB02, "fl" }, { 0xFB03, "ffi" },
    { 0xFB04, "ffl" }, { 0xFB05, "st" }, { 0xFB06, "st" },
};

/* Default_Ignorable_Code_Point. */
static const struct {
    uint32_t from, to;
} ignored[] = {
    { 0x00AD, 0x00AD },   { 0x034F, 0x034F }, { 0x061C, 0x061C },   { 0x115F, 0x1160 },
    { 0x17B4, 0x17B5 },   { 0x180B, 0x180F }, { 0x200B, 0x200F },   { 0x202A, 0x202E },
    { 0x2060, 0x206F },   { 0x3164, 0x3164 }, { 0xFE00, 0xFE0F },   { 0xFEFF, 0xFEFF },
    { 0xFFA0, 0xFFA0 },   { 0xFFF0, 0xFFF8 }, { 0x1BCA0, 0x1BCA3 }, { 0x1D173, 0x1D17A },
    { 0xE0000, 0xE0FFF },
};

/* A character of several bytes; what it becomes is ASCII, itself, or nothing, and never longer. */
static size_t fold_wide(const char *name, size_t length, uint32_t character, char *out)
{
    for (size_t i = 0; i < COUNT(ignored); i++) {
        if (character >= ignored[i].from && character <= ignored[i].to)
            return 0;
    }
    for (size_t i = 0; i < COUNT(to_ascii); i++) {
        if (character == to_ascii[i].character) {
            size_t n = strlen(to_ascii[i].ascii);

            memcpy(out, to_ascii[i].ascii, n);
            return n;
        }
    }
    memcpy(out, name, length);
    return length;
}

size_t name_fold(const char *name, size_t n, char *out)
{
    size_t n_out = 0;

    for (size_t at = 0; at < n;) {
        unsigned char byte = (unsigned char)name[at];

        if (byte < 0x80) {
            out[n_out++] = (char)(byte >= 'A' && byte <= 'Z' ? byte + ('a' - 'A') : byte);
            at++;
            continue;
        }
        uint32_t character;
        size_t length = utf8_decode((const unsigned char *)name + at, n - at, &character);
        n_out += fold_wide(name + at, length, character, out + n_out);
        at += length;
    }
    return n_out;
}
