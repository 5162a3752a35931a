/* worlds: user */
#include "sha256.h"

#include <string.h>

#include "test/check.h"

static const char *digest_of(const void *bytes, size_t n, size_t piece)
{
    static char hex[SHA256_HEX_SIZE];
    unsigned char digest[SHA256_BYTES];
    struct sha256 hash;

    sha256_init(&hash);
    for (size_t at = 0; at < n; at += piece)
        sha256_update(&hash, (const char *)bytes + at, n - at < piece ? n - at : piece);
    sha256_final(&hash, digest);
    sha256_hex(digest, hex);
    return hex;
}

TEST(agrees_with_the_vectors_of_fips_180)
{
    static const char two_blocks[] = "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq";
    static const char long_blocks[] =
        "abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmnoijklmnopjklmnopqklmnopqr"
        "lmnopqrsmnopqrstnopqrstu";
    static char million[1000000];

    CHECK_STR(digest_of("", 0, 1),
              "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    CHECK_STR(digest_of("abc", 3, 3),
              "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    CHECK_STR(digest_of(two_blocks, strlen(two_blocks), 100),
              "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
    CHECK_STR(digest_of(long_blocks, strlen(long_blocks), 200),
              "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1");
    memset(million, 'a', sizeof million);
    CHECK_STR(digest_of(million, sizeof million, sizeof million),
              "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(does_not_depend_on_how_the_input_is_cut)
{
    unsigned char bytes[300];

    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (unsigned char)(i * 7);
    for (size_t n = 0; n <= sizeof bytes; n++) {
        char whole[SHA256_HEX_SIZE];

        memcpy(whole, digest_of(bytes, n, sizeof bytes), sizeof whole);
        for (size_t piece = 1; piece < 140; piece += 9)
            CHECK_STR(digest_of(bytes, n, piece), whole);
    }
}
