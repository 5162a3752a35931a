#include "media.h"

#include <stdint.h>
#include <string.h>

static uint32_t little_endian(const unsigned char *at)
{
    return at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

/* "BM" begins many a text: the rest of the header must make sense as well. */
static bool is_bmp(const unsigned char *at, size_t n)
{
    static const uint32_t header_sizes[] = { 12, 40, 52, 56, 64, 108, 124 };

    if (n < 18 || little_endian(at + 6) != 0)
        return false;
    for (size_t i = 0; i < sizeof header_sizes / sizeof *header_sizes; i++) {
        if (little_endian(at + 14) == header_sizes[i])
            return true;
    }
    return false;
}

/* A frame of MPEG audio layer III without a tag in front: the sync bits, then fields of which not all
 * values are taken. */
static bool is_mp3_frame(const unsigned char *at, size_t n)
{
    if (n < 4 || (at[1] & 0xE6) != 0xE2 || (at[1] & 0x18) == 0x08)
        return false;
    unsigned bitrate = at[2] >> 4;
    unsigned rate = at[2] >> 2 & 3;
    return bitrate != 0 && bitrate != 15 && rate != 3 && (at[3] & 3) != 2;
}

struct format {
    const char *magic;
    unsigned char length;
    unsigned char further_at; /* where `further` stands; 0: there is none */
    const char *further;
    bool (*check)(const unsigned char *at, size_t n);
    const char *type; /* NULL: not for showing */
    const char *name;
};

#define MAGIC(text) text, sizeof(text) - 1

static const struct format formats[] = {
    { MAGIC("\x89PNG\r\n\x1A\n"), 0, NULL, NULL, "image/png", "PNG picture" },
    { MAGIC("\xFF\xD8\xFF"), 0, NULL, NULL, "image/jpeg", "JPEG picture" },
    { MAGIC("GIF87a"), 0, NULL, NULL, "image/gif", "GIF picture" },
    { MAGIC("GIF89a"), 0, NULL, NULL, "image/gif", "GIF picture" },
    { MAGIC("RIFF"), 8, "WEBP", NULL, "image/webp", "WebP picture" },
    { MAGIC("BM"), 0, NULL, is_bmp, "image/bmp", "BMP picture" },
    { MAGIC("RIFF"), 8, "WAVE", NULL, "audio/wav", "WAV sound" },
    { MAGIC("ID3\x02"), 0, NULL, NULL, "audio/mpeg", "MP3 sound" },
    { MAGIC("ID3\x03"), 0, NULL, NULL, "audio/mpeg", "MP3 sound" },
    { MAGIC("ID3\x04"), 0, NULL, NULL, "audio/mpeg", "MP3 sound" },
    { MAGIC("\xFF"), 0, NULL, is_mp3_frame, "audio/mpeg", "MP3 sound" },
    { MAGIC("\x7F"
            "ELF"),
      0, NULL, NULL, NULL, "ELF program or library" },
    { MAGIC("%PDF-"), 0, NULL, NULL, NULL, "PDF document" },
    { MAGIC("PK\x03\x04"), 0, NULL, NULL, NULL, "zip archive" },
    { MAGIC("\x1F\x8B\x08"), 0, NULL, NULL, NULL, "gzip data" },
    { MAGIC("BZh"), 4, "1AY&SY", NULL, NULL, "bzip2 data" },
    { MAGIC("\xFD"
            "7zXZ\0"),
      0, NULL, NULL, NULL, "xz data" },
    { MAGIC("\x28\xB5\x2F\xFD"), 0, NULL, NULL, NULL, "zstd data" },
    { MAGIC("7z\xBC\xAF\x27\x1C"), 0, NULL, NULL, NULL, "7z archive" },
    { MAGIC("!<arch>\n"), 0, NULL, NULL, NULL, "ar archive" },
    { MAGIC("SQLite format 3\0"), 0, NULL, NULL, NULL, "SQLite database" },
    { MAGIC("\0asm"), 0, NULL, NULL, NULL, "WebAssembly program" },
    { MAGIC("OggS\0"), 0, NULL, NULL, NULL, "Ogg sound or film" },
    { MAGIC("fLaC\0"), 0, NULL, NULL, NULL, "FLAC sound" },
    { MAGIC("\xFF\xFE"), 0, NULL, NULL, NULL, "UTF-16 text" },
    { MAGIC("\xFE\xFF"), 0, NULL, NULL, NULL, "UTF-16 text" },
};

static const struct format *find(const unsigned char *at, size_t n)
{
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        const struct format *format = &formats[i];
        size_t further = format->further ? strlen(format->further) : 0;

        if (n < format->length || memcmp(at, format->magic, format->length) != 0)
            continue;
        if (further > 0 && (n < format->further_at + further ||
                            memcmp(at + format->further_at, format->further, further) != 0))
            continue;
        if (!format->check || format->check(at, n))
            return format;
    }
    return NULL;
}

const char *media_type(const void *bytes, size_t n)
{
    const struct format *format = n > 0 ? find(bytes, n) : NULL;

    return format ? format->type : NULL;
}

const char *media_name(const void *bytes, size_t n)
{
    const struct format *format = n > 0 ? find(bytes, n) : NULL;

    return format ? format->name : NULL;
}

/* What a text may hold: tabs and ends of lines and pages, and what colours a terminal. */
static bool is_odd_control(unsigned char c)
{
    return (c < 0x20 && !(c >= '\b' && c <= '\r') && c != 0x1B) || c == 0x7F;
}

bool media_is_binary(const void *bytes, size_t n)
{
    const unsigned char *at = bytes;
    size_t n_odd = 0;

    if (n == 0)
        return false;
    if (memchr(bytes, '\0', n) || find(at, n))
        return true;
    for (size_t i = 0; i < n; i++)
        n_odd += is_odd_control(at[i]);
    return n_odd > n / 10;
}
