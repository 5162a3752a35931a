/* worlds: user */
#include "media.h"

#include "test/check.h"

#define BYTES(text) text, sizeof(text) - 1

TEST(knows_pictures_and_sounds)
{
    static const struct {
        const char *bytes;
        size_t n;
        const char *type;
    } rows[] = {
        { BYTES("\x89PNG\r\n\x1A\n\0\0\0\rIHDR"), "image/png" },
        { BYTES("\xFF\xD8\xFF\xE0\0\x10JFIF"), "image/jpeg" },
        { BYTES("GIF89a\1\0\1\0"), "image/gif" },
        { BYTES("GIF87a\1\0\1\0"), "image/gif" },
        { BYTES("RIFF\x24\0\0\0WEBPVP8 "), "image/webp" },
        { BYTES("RIFF\x24\0\0\0WAVEfmt "), "audio/wav" },
        { BYTES("BM\x46\0\0\0\0\0\0\0\x36\0\0\0\x28\0\0\0\1\0\0\0"), "image/bmp" },
        { BYTES("ID3\x04\0\0\0\0\0\0"), "audio/mpeg" },
        { BYTES("\xFF\xFB\x90\x64\0\0"), "audio/mpeg" },
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        CHECK_STR(media_type(rows[i].bytes, rows[i].n), rows[i].type);
        CHECK(media_name(rows[i].bytes, rows[i].n) != NULL);
        CHECK(media_is_binary(rows[i].bytes, rows[i].n));
    }
}

TEST(is_not_fooled_by_text_or_by_pieces)
{
    CHECK(media_type(BYTES("BMW builds cars in Munich since 1928")) == NULL);
    CHECK(media_type(BYTES("RIFF raff, and more of it")) == NULL);
    CHECK(media_type(BYTES("ID3 is a tag")) == NULL);
    CHECK(media_type(BYTES("\xFF\xFE"
                           "a\0b\0")) == NULL);
    CHECK(media_type(BYTES("\xFF\xFF\xFF\xFF")) == NULL);
    CHECK(media_type(BYTES("\x89PN")) == NULL);
    CHECK(media_type(BYTES("RIFF\x24\0\0\0WEB")) == NULL);
    CHECK(media_type(BYTES("\x7F"
                           "ELF\2\1\1")) == NULL);
    CHECK(media_type("", 0) == NULL);
    CHECK(media_type(NULL, 0) == NULL);
}

TEST(names_what_is_not_shown)
{
    CHECK_STR(media_name(BYTES("\x7F"
                               "ELF\2\1\1")),
              "ELF program or library");
    CHECK_STR(media_name(BYTES("%PDF-1.7\n")), "PDF document");
    CHECK_STR(media_name(BYTES("BZh91AY&SY")), "bzip2 data");
    CHECK(media_name(BYTES("int main(void)\n")) == NULL);
    CHECK(media_name(NULL, 0) == NULL);
}

TEST(tells_binary_from_text)
{
    CHECK(!media_is_binary(NULL, 0));
    CHECK(!media_is_binary(BYTES("plain\r\n\ttext\f\n")));
    CHECK(!media_is_binary(BYTES("\x1B[31mred\x1B[0m\n")));
    CHECK(!media_is_binary(BYTES("caf\xE9 in Latin-1\n")));
    CHECK(!media_is_binary(BYTES("\xEF\xBB\xBFwith a mark of UTF-8\n")));
    CHECK(media_is_binary(BYTES("a NUL \0 inside")));
    CHECK(media_is_binary(BYTES("\1\2\3\4abcdef")));
    CHECK(media_is_binary(BYTES("%PDF-1.7\n")));
}
