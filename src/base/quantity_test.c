/* worlds: user */
#include "quantity.h"

#include <errno.h>
#include <string.h>

#include "base/cleanup.h"
#include "test/check.h"

#define KIB (UINT64_C(1) << 10)
#define MIB (UINT64_C(1) << 20)
#define GIB (UINT64_C(1) << 30)
#define TIB (UINT64_C(1) << 40)

struct good {
    const char *text;
    uint64_t value;
};

typedef int parser(const char *, uint64_t *, coop_error **);

static void check_good(parser *parse, const struct good *cases, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        auto_error coop_error *err = NULL;
        uint64_t value = 77;
        int r = parse(cases[i].text, &value, &err);

        if (r != 0 || value != cases[i].value)
            printf("# '%s' gives %d, %llu: %s\n", cases[i].text, r, (unsigned long long)value,
                   coop_error_message(err));
        CHECK(r == 0);
        CHECK(!err);
        CHECK(value == cases[i].value);
    }
}

static void check_bad(parser *parse, const char *const *texts, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        auto_error coop_error *err = NULL;
        uint64_t value = 77;
        int r = parse(texts[i], &value, &err);

        if (r != -EINVAL)
            printf("# '%s' gives %d, %llu\n", texts[i], r, (unsigned long long)value);
        CHECK(r == -EINVAL);
        CHECK(value == 77);
        CHECK(coop_error_get_kind(err) == COOP_ERROR_BAD_POLICY);
        CHECK(coop_error_errno(err) == EINVAL);
        CHECK(strncmp(coop_error_message(err), "bad ", 4) == 0);
        CHECK(parse(texts[i], &value, NULL) == -EINVAL);
    }
}

static void check_message(parser *parse, const char *text, const char *expected)
{
    auto_error coop_error *err = NULL;
    uint64_t value;

    CHECK(parse(text, &value, &err) == -EINVAL);
    CHECK_STR(coop_error_message(err), expected);
}

TEST(reads_sizes)
{
    static const struct good cases[] = {
        { "0", 0 },
        { "512", 512 },
        { "007", 7 },
        { "10b", 10 },
        { "64k", 64 * KIB },
        { "2g", 2 * GIB },
        { "2G", 2 * GIB },
        { "2GiB", 2 * GIB },
        { "2gb", 2 * GIB },
        { "2Gi", 2 * GIB },
        { "2gIb", 2 * GIB },
        { "1.5g", GIB + GIB / 2 },
        { "1.5KB", 1536 },
        { "0.5m", MIB / 2 },
        { "3t", 3 * TIB },
        { "0.0g", 0 },
        { "1.3k", 1331 },                       /* 1331.2 */
        { "0.1t", 109951162777 },               /* 109951162777.6 */
        { "1.9999999999999999999999k", 2047 },  /* more digits than any integer holds */
        { "1.00000000000000000000001k", 1024 }, /* and no carry from them */
        { "9223372036854775807", QUANTITY_SIZE_MAX },
        { "8388607t", 8388607 * TIB },
    };

    check_good(quantity_size, cases, COUNT(cases));
}

TEST(refuses_bad_sizes)
{
    static const char *const texts[] = {
        "",
        " ",
        "x2",
        "2x",
        "g",
        "-1",
        "+1",
        " 1",
        "1 ",
        "1 g",
        "1\n",
        "1.",
        ".5g",
        "1.g",
        "1..5g",
        "1.5.5g",
        "1.5",
        "1.5b",
        "2gg",
        "2gib2",
        "2gibb",
        "2bi",
        "2ib",
        "2i",
        "0x10",
        "1e3",
        "1,5g",
        "1p",
        "2g ",
        "inf",
        "nan",
        "2\xC4",
        "0.0001k",
        "9223372036854775808",
        "18446744073709551616",
        "99999999999999999999999",
        "8388608t",
        "8388607.99999999999999999999t9",
    };

    check_bad(quantity_size, texts, COUNT(texts));
}

TEST(says_what_is_wrong_with_a_size)
{
    check_message(quantity_size, "x2",
                  "bad size 'x2': expected a number with an optional unit k, m, g or t, for "
                  "example 512m");
    check_message(quantity_size, "8388608t",
                  "bad size '8388608t': too large, the most is 8388607t");
    check_message(quantity_size, "0.0001k", "bad size '0.0001k': less than one byte");
}

TEST(shows_a_hostile_value_safely)
{
    auto_error coop_error *err = NULL;
    char text[1000];
    uint64_t value;

    check_message(quantity_size, "\x1b[2J\n\xFF",
                  "bad size '\\x1b[2J\\n\\xff': expected a number with an optional unit k, m, g "
                  "or t, for example 512m");
    memset(text, 'y', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    CHECK(quantity_size(text, &value, &err) == -EINVAL);
    CHECK(strspn(coop_error_message(err) + strlen("bad size '"), "y") == 80);
    CHECK(strstr(coop_error_message(err), "y...': expected"));
}

TEST(reads_durations)
{
    static const struct good cases[] = {
        { "0", 0 },
        { "0s", 0 },
        { "30", 30000 },
        { "30s", 30000 },
        { "30S", 30000 },
        { "500ms", 500 },
        { "2m", 120000 },
        { "1h", 3600000 },
        { "1d", 86400000 },
        { "1h30m", 5400000 },
        { "1d2h3m4s5ms", 93784005 },
        { "1m1ms", 60001 },
        { "1.5s", 1500 },
        { "1.5", 1500 },
        { "0.001", 1 },
        { "1h1.5m", 3690000 },
        { "1.0009s", 1000 },
        { "90m", 5400000 },
        { "100000d", QUANTITY_DURATION_MAX_MS },
    };

    check_good(quantity_duration_ms, cases, COUNT(cases));
}

TEST(refuses_bad_durations)
{
    static const char *const texts[] = {
        "",
        "s",
        "x",
        "-1s",
        "+1s",
        " 1s",
        "1s ",
        "1 s",
        "1h30",
        "30m1h",
        "1m1m",
        "1.5h30m",
        "1.s",
        ".5s",
        "1.5ms",
        "1us",
        "1sec",
        "1min",
        "1hm",
        "1s-",
        "1h 30m",
        "1w",
        "1e3s",
        "0.0001s",
        "100000d1ms",
        "100001d",
        "99999999999999999999s",
        "18446744073709551615d",
        "18446744073709551615ms",
        "0d0h0.0001s",
    };

    check_bad(quantity_duration_ms, texts, COUNT(texts));
}

TEST(says_what_is_wrong_with_a_duration)
{
    check_message(quantity_duration_ms, "soon",
                  "bad duration 'soon': expected a number with an optional unit ms, s, m, h or d, "
                  "for example 30s or 1h30m");
    check_message(quantity_duration_ms, "100001d",
                  "bad duration '100001d': too long, the most is 100000d");
    check_message(quantity_duration_ms, "0.0001s",
                  "bad duration '0.0001s': less than one millisecond");
    check_message(quantity_duration_ms, "99999999999999999999d1x",
                  "bad duration '99999999999999999999d1x': expected a number with an optional "
                  "unit ms, s, m, h or d, for example 30s or 1h30m");
}

TEST(reads_counts_within_bounds)
{
    static const char *const bad[] = { "",
                                       "0",
                                       "513",
                                       "-1",
                                       "+1",
                                       " 1",
                                       "1 ",
                                       "1.",
                                       "1.0",
                                       "1k",
                                       "0x1",
                                       "x",
                                       "18446744073709551617" };
    uint64_t value = 77;

    CHECK(quantity_count("1", 1, 512, &value, NULL) == 0 && value == 1);
    CHECK(quantity_count("512", 1, 512, &value, NULL) == 0 && value == 512);
    CHECK(quantity_count("0", 0, 0, &value, NULL) == 0 && value == 0);
    CHECK(quantity_count("18446744073709551615", 0, UINT64_MAX, &value, NULL) == 0);
    CHECK(value == UINT64_MAX);
    CHECK(quantity_count("18446744073709551616", 0, UINT64_MAX, &value, NULL) == -EINVAL);
    value = 77;
    for (size_t i = 0; i < COUNT(bad); i++) {
        auto_error coop_error *err = NULL;
        char expected[128];

        CHECK(quantity_count(bad[i], 1, 512, &value, &err) == -EINVAL);
        CHECK(value == 77);
        CHECK(coop_error_get_kind(err) == COOP_ERROR_BAD_POLICY);
        (void)snprintf(expected, sizeof expected,
                       "bad count '%s': expected a whole number from 1 to 512", bad[i]);
        CHECK_STR(coop_error_message(err), expected);
    }
}

TEST(reads_decimals_as_thousandths)
{
    static const struct good cases[] = {
        { "1", 1000 },   { "1.5", 1500 },   { "0.25", 250 }, { "0.001", 1 },
        { "2.0", 2000 }, { "1.125", 1125 }, { "16", 16000 }, { "1000000", 1000000000 },
    };
    static const char *const texts[] = {
        "",
        "0",
        "0.0",
        "0.000",
        "1.2345",
        "1.0000",
        "-1",
        "+1",
        " 1",
        "1 ",
        ".5",
        "1.",
        "1,5",
        "1e3",
        "x",
        "1.5x",
        "1000000.001",
        "1000001",
        "99999999999999999999",
    };

    check_good(quantity_decimal_milli, cases, COUNT(cases));
    check_bad(quantity_decimal_milli, texts, COUNT(texts));
    check_message(quantity_decimal_milli, "1.2345",
                  "bad number '1.2345': expected a number above 0 with at most 3 decimals, for "
                  "example 1.5");
}

TEST(formats_sizes)
{
    static const struct good cases[] = {
        { "0 B", 0 },
        { "1 B", 1 },
        { "1023 B", 1023 },
        { "1 KiB", 1024 },
        { "1.5 KiB", 1536 },
        { "2 KiB", 2047 },
        { "1 MiB", MIB - 1 },
        { "1023.9 KiB", 1048474 },
        { "512 MiB", 512 * MIB },
        { "2 GiB", 2 * GIB },
        { "1 TiB", TIB },
        { "8 EiB", INT64_MAX },
        { "16 EiB", UINT64_MAX },
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        char out[32];

        quantity_format_size(cases[i].value, out);
        CHECK_STR(out, cases[i].text);
    }
}

TEST(formats_durations)
{
    static const struct good cases[] = {
        { "0us", 0 },
        { "850us", 850 },
        { "999us", 999 },
        { "1ms", 1000 },
        { "12.3ms", 12345 },
        { "999.9ms", 999949 },
        { "1s", 999950 },
        { "1.5s", 1500000 },
        { "59.9s", 59949999 },
        { "1m", 59950000 },
        { "2m5s", 125000000 },
        { "1h", 3599500000 },
        { "1h30m", UINT64_C(5400000000) },
        { "1d", UINT64_C(86399999999) },
        { "3d4h", UINT64_C(273600000000) },
        { "213503982d8h", UINT64_MAX },
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        char out[32];

        quantity_format_duration_us(cases[i].value, out);
        CHECK_STR(out, cases[i].text);
    }
}
