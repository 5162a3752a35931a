/* worlds: user */
#include "find_bytes.h"

#include <strings.h>

#include "test/check.h"

/* One place after the other. */
static size_t find_slowly(const char *needle, size_t m, bool folds, const char *text, size_t n,
                          size_t from)
{
    for (; from + m <= n; from++) {
        if (folds ? strncasecmp(text + from, needle, m) == 0 : memcmp(text + from, needle, m) == 0)
            return from;
    }
    return FIND_BYTES_NOT;
}

TEST(finds_what_a_slow_search_finds)
{
    char text[200];
    char needle[FIND_BYTES_MAX];
    unsigned seed = 1;
    size_t n_found = 0;

    for (unsigned round = 0; round < 20000; round++) {
        struct find_bytes find;
        seed = seed * 1664525 + 1013904223;
        size_t n = seed >> 8 & 127;
        size_t m = 1 + (seed >> 20) % (round % 3 ? 3 : FIND_BYTES_MAX);
        bool folds = seed >> 30 & 1;

        for (size_t i = 0; i < n; i++) {
            seed = seed * 1664525 + 1013904223;
            text[i] = "aAb_[{\xE9"[(seed >> 16) % 7];
        }
        for (size_t i = 0; i < m; i++) {
            seed = seed * 1664525 + 1013904223;
            needle[i] = "aAb_[{\xE9"[(seed >> 16) % 7];
        }
        if (round % 3 == 0 && n > m)
            memcpy(needle, text + (seed >> 8) % (n - m), m);
        find_bytes_init(&find, needle, m, folds);
        size_t from = n / 4;
        size_t expected = find_slowly(needle, m, folds, text, n, from);
        CHECK(find_bytes_in(&find, text, n, from) == expected);
        n_found += expected != FIND_BYTES_NOT;
    }
    CHECK(n_found > 2000 && n_found < 18000);
}

TEST(the_end_of_a_text_is_no_place)
{
    struct find_bytes find;

    find_bytes_init(&find, "abc", 3, false);
    CHECK(find_bytes_in(&find, "abcabc", 6, 0) == 0);
    CHECK(find_bytes_in(&find, "abcabc", 6, 1) == 3);
    CHECK(find_bytes_in(&find, "abcabc", 6, 4) == FIND_BYTES_NOT);
    CHECK(find_bytes_in(&find, "abcabc", 6, 6) == FIND_BYTES_NOT);
    CHECK(find_bytes_in(&find, "abcabc", 5, 1) == FIND_BYTES_NOT);
    CHECK(find_bytes_in(&find, "", 0, 0) == FIND_BYTES_NOT);
}

TEST(counts)
{
    char text[100];

    memset(text, 'x', sizeof text);
    for (size_t i = 0; i < sizeof text; i += 7)
        text[i] = '\n';
    for (size_t n = 0; n <= sizeof text; n++)
        CHECK(count_bytes(text, n, '\n') == (n + 6) / 7);
}
