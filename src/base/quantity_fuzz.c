/*
 * The parsers against their grammar, written once more as regular expressions, and against floating
 * point for the value. Whatever is refused must say so in one safe line and leave the output alone.
 */
#include "quantity.h"

#include <errno.h>
#include <math.h>
#include <regex.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "test/fuzz.h"

#define NUMBER "[0-9]+(\\.[0-9]+)?"

/* A pattern and what it compiles to, at its first use. */
struct grammar {
    const char *pattern;
    bool is_ready;
    regex_t regex;
};

static bool matches(struct grammar *grammar, const char *text)
{
    if (!grammar->is_ready &&
        regcomp(&grammar->regex, grammar->pattern, REG_EXTENDED | REG_ICASE | REG_NOSUB) != 0)
        abort();
    grammar->is_ready = true;
    return regexec(&grammar->regex, text, 0, NULL, 0) == 0;
}

/* What the text is worth, with the error of a long double; it is known to be well-formed. */
static long double value_of(const char *text, bool is_duration)
{
    long double sum = 0;

    while (*text) {
        char *unit;
        long double value = strtold(text, &unit);
        size_t n = strspn(unit, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ");
        char letter = (char)(*unit | 0x20);

        if (is_duration && n == 2)
            sum += value;
        else if (is_duration)
            sum += value * 1000 *
                   (letter == 'd'   ? 86400
                    : letter == 'h' ? 3600
                    : letter == 'm' ? 60
                                    : 1);
        else
            sum += ldexpl(value, letter == 'k'   ? 10
                                 : letter == 'm' ? 20
                                 : letter == 'g' ? 30
                                 : letter == 't' ? 40
                                                 : 0);
        text = unit + n;
    }
    return sum;
}

static void check_refusal(const char *text, coop_error *err, int r, uint64_t out)
{
    REQUIRE_OF(text, r == -EINVAL && out == 77);
    REQUIRE_OF(text, coop_error_get_kind(err) == COOP_ERROR_BAD_POLICY);
    const char *message = coop_error_message(err);
    size_t n = strlen(message);
    REQUIRE_OF(text, n < 500 && strncmp(message, "bad ", 4) == 0);
    REQUIRE_OF(text, utf8_valid_prefix(message, n) == n);
    for (size_t i = 0; i < n; i++)
        REQUIRE_OF(text, (unsigned char)message[i] >= 0x20 && message[i] != 0x7F);
    coop_error_free(err);
}

/* 1.5 and 2^63 are exact in a long double, what lies between is so nearly. */
static void check_value(const char *text, int r, uint64_t out, uint64_t max, bool is_duration)
{
    long double expected = value_of(text, is_duration);
    long double slack = 1 + expected * 1e-15L;

    if (r == 0) {
        REQUIRE_OF(text, out <= max);
        REQUIRE_OF(text,
                   (long double)out >= expected - slack && (long double)out <= expected + slack);
        REQUIRE_OF(text, out > 0 || strpbrk(text, "123456789") == NULL);
    } else {
        REQUIRE_OF(text, expected < 1.001L || expected > (long double)max - slack);
    }
}

static void fuzz_size(const char *text)
{
    static struct grammar size = { .pattern = "^(" NUMBER "[kmgt](i|b|ib)?|[0-9]+b?)$" };
    coop_error *err = NULL;
    uint64_t out = 77;
    int r = quantity_size(text, &out, &err);

    REQUIRE_OF(text, (r == 0) == !err);
    if (matches(&size, text))
        check_value(text, r, out, QUANTITY_SIZE_MAX, false);
    else
        REQUIRE_OF(text, r < 0);
    if (r < 0)
        check_refusal(text, err, r, out);
}

static void fuzz_duration(const char *text)
{
    static struct grammar whole = { .pattern =
                                        "^([0-9]+d)?([0-9]+h)?([0-9]+m)?([0-9]+s)?([0-9]+ms)?$" };
    static struct grammar with_fraction = { .pattern = "^([0-9]+d)?([0-9]+h)?([0-9]+m)?" NUMBER
                                                       "s$|^([0-9]+d)?([0-9]+h)?" NUMBER "m$|"
                                                       "^([0-9]+d)?" NUMBER "h$|^" NUMBER "d?$" };
    coop_error *err = NULL;
    uint64_t out = 77;
    int r = quantity_duration_ms(text, &out, &err);

    REQUIRE_OF(text, (r == 0) == !err);
    if (*text && (matches(&whole, text) || matches(&with_fraction, text)))
        check_value(text, r, out, QUANTITY_DURATION_MAX_MS, true);
    else
        REQUIRE_OF(text, r < 0);
    if (r < 0)
        check_refusal(text, err, r, out);
}

static void fuzz_count_and_decimal(const char *text)
{
    static struct grammar count = { .pattern = "^[0-9]+$" };
    static struct grammar decimal = { .pattern = "^[0-9]+(\\.[0-9]{1,3})?$" };
    coop_error *err = NULL;
    uint64_t out = 77;
    int r = quantity_count(text, 5, 1u << 20, &out, &err);
    bool is_count =
        matches(&count, text) && strtold(text, NULL) >= 5 && strtold(text, NULL) <= 1u << 20;

    REQUIRE_OF(text, (r == 0) == is_count);
    if (r < 0)
        check_refusal(text, err, r, out);
    else
        REQUIRE_OF(text, out == strtoull(text, NULL, 10));

    err = NULL;
    out = 77;
    r = quantity_decimal_milli(text, &out, &err);
    bool is_decimal =
        matches(&decimal, text) && strtold(text, NULL) > 0 && strtold(text, NULL) <= 1e6L;
    REQUIRE_OF(text, (r == 0) == is_decimal);
    if (r < 0)
        check_refusal(text, err, r, out);
    else
        REQUIRE_OF(text, out == (uint64_t)llroundl(strtold(text, NULL) * 1000));
}

/* What is shown for a duration of a millisecond and more can be read back, to the same text. */
static void fuzz_formats(uint64_t value)
{
    char text[32];
    char again[32];
    uint64_t ms;

    quantity_format_size(value, text);
    REQUIRE_OF(text, strlen(text) <= 10);
    quantity_format_duration_us(value, text);
    REQUIRE_OF(text, strlen(text) <= 13);
    if (value < 1000 || value / 1000 > QUANTITY_DURATION_MAX_MS)
        return;
    if (strstr(text, "ms") && strchr(text, '.'))
        return; /* tenths of a millisecond are only shown */
    REQUIRE_OF(text, quantity_duration_ms(text, &ms, NULL) == 0);
    quantity_format_duration_us(ms * 1000, again);
    REQUIRE_OF(text, strcmp(text, again) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char text[256];
    uint64_t value = 0;

    if (size >= sizeof text)
        return 0;
    if (size > 0)
        memcpy(text, data, size);
    text[size] = '\0';
    fuzz_size(text);
    fuzz_duration(text);
    fuzz_count_and_decimal(text);
    memcpy(&value, text, size < sizeof value ? size : sizeof value);
    fuzz_formats(value);
    return 0;
}
