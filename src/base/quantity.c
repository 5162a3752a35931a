#include "quantity.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "base/printable.h"

struct unit {
    const char *name;
    uint64_t factor;
};

static const struct unit size_units[] = {
    { "", 1 },
    { "b", 1 },
    { "k", UINT64_C(1) << 10 },
    { "m", UINT64_C(1) << 20 },
    { "g", UINT64_C(1) << 30 },
    { "t", UINT64_C(1) << 40 },
};

static const struct unit duration_units[] = {
    { "d", 24 * 60 * 60 * 1000 },
    { "h", 60 * 60 * 1000 },
    { "m", 60 * 1000 },
    { "s", 1000 },
    { "ms", 1 },
};

static const char size_expected[] = "a number with an optional unit k, m, g or t, for example 512m";
static const char duration_expected[] =
    "a number with an optional unit ms, s, m, h or d, for example 30s or 1h30m";
static const char decimal_expected[] = "a number above 0 with at most 3 decimals, for example 1.5";

/* digits or digits.digits, as read and not yet scaled */
struct number {
    uint64_t whole;
    bool is_huge;         /* whole does not fit */
    const char *fraction; /* the digits behind the point */
    size_t n_fraction;
};

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* Not strncasecmp(): the host program's locale must not change what a policy means. */
static bool equals_folded(const char *text, size_t n, const char *name)
{
    for (size_t i = 0; i < n; i++) {
        char c = text[i] >= 'A' && text[i] <= 'Z' ? (char)(text[i] - 'A' + 'a') : text[i];

        if (c != name[i]) /* also at the end of name */
            return false;
    }
    return name[n] == '\0';
}

/* Returns what follows the number, NULL if there is none. */
static const char *read_number(const char *text, struct number *out)
{
    *out = (struct number){ 0 };
    if (!is_digit(*text))
        return NULL;
    for (; is_digit(*text); text++) {
        if (__builtin_mul_overflow(out->whole, 10, &out->whole) ||
            __builtin_add_overflow(out->whole, (uint64_t)(*text - '0'), &out->whole))
            out->is_huge = true;
    }
    if (*text != '.')
        return text;
    text++;
    out->fraction = text;
    while (is_digit(*text))
        text++;
    out->n_fraction = (size_t)(text - out->fraction);
    return out->n_fraction > 0 ? text : NULL;
}

/* The exact product, rounded down; false if it does not fit. */
static bool scale(const struct number *number, uint64_t factor, uint64_t *out)
{
    uint64_t part = 0;
    uint64_t product;

    /* From the last digit to the first: rounding down at each step equals rounding down once. */
    for (size_t i = number->n_fraction; i > 0; i--)
        part = ((uint64_t)(number->fraction[i - 1] - '0') * factor + part) / 10;
    if (number->is_huge || __builtin_mul_overflow(number->whole, factor, &product))
        return false;
    return !__builtin_add_overflow(product, part, out);
}

static bool is_zero(const struct number *number)
{
    for (size_t i = 0; i < number->n_fraction; i++) {
        if (number->fraction[i] != '0')
            return false;
    }
    return number->whole == 0 && !number->is_huge;
}

enum { SHOWN_BYTES = 80 };

/* The value may come from a file the agent wrote: shown in safe characters, not at any length. */
static int bad(coop_error **err, const char *noun, const char *text, const char *reason)
{
    auto_buffer struct buffer shown = { 0 };
    size_t n = strnlen(text, SHOWN_BYTES + 1);

    if (!err)
        return -EINVAL;
    printable_append(&shown, text, n > SHOWN_BYTES ? SHOWN_BYTES : n);
    if (n > SHOWN_BYTES)
        buffer_append_string(&shown, "...");
    auto_free char *value = buffer_take_string(&shown);
    if (!value)
        return fail_no_memory(err);
    return fail_kind(err, COOP_ERROR_BAD_POLICY, EINVAL, "bad %s '%s': %s", noun, value, reason);
}

static int unexpected(coop_error **err, const char *noun, const char *text, const char *expected)
{
    char reason[128];

    (void)snprintf(reason, sizeof reason, "expected %s", expected);
    return bad(err, noun, text, reason);
}

static const struct unit *find_size_unit(const char *text)
{
    size_t n = strlen(text);

    for (size_t i = 0; i < COUNT(size_units); i++) {
        if (equals_folded(text, n, size_units[i].name))
            return &size_units[i];
        if (n > 1 && size_units[i].factor > 1 && equals_folded(text, 1, size_units[i].name) &&
            (equals_folded(text + 1, n - 1, "i") || equals_folded(text + 1, n - 1, "b") ||
             equals_folded(text + 1, n - 1, "ib")))
            return &size_units[i];
    }
    return NULL;
}

int quantity_size(const char *text, uint64_t *out, coop_error **err)
{
    struct number number;
    const char *rest = read_number(text, &number);
    const struct unit *unit = rest ? find_size_unit(rest) : NULL;
    uint64_t size;

    if (!unit || (unit->factor == 1 && number.n_fraction > 0))
        return unexpected(err, "size", text, size_expected);
    if (!scale(&number, unit->factor, &size) || size > QUANTITY_SIZE_MAX)
        return bad(err, "size", text, "too large, the most is 8388607t");
    if (size == 0 && !is_zero(&number))
        return bad(err, "size", text, "less than one byte");
    *out = size;
    return 0;
}

/* The index into duration_units; their number if there is no such unit. */
static size_t find_duration_unit(const char *text, size_t n)
{
    size_t i = 0;

    while (i < COUNT(duration_units) && !equals_folded(text, n, duration_units[i].name))
        i++;
    return i;
}

/* A part of a duration is a number and its unit; only a lone number may go without. */
struct part {
    struct number number;
    size_t unit;
    const char *rest;
};

static bool read_part(const char *text, bool is_first, struct part *out)
{
    const char *name = read_number(text, &out->number);
    size_t n = 0;

    if (!name)
        return false;
    while (is_letter(name[n]))
        n++;
    out->rest = name + n;
    if (n == 0 && is_first && *name == '\0')
        out->unit = find_duration_unit("s", 1);
    else
        out->unit = find_duration_unit(name, n);
    if (out->unit == COUNT(duration_units))
        return false;
    return out->number.n_fraction == 0 ||
           (*out->rest == '\0' && duration_units[out->unit].factor > 1);
}

int quantity_duration_ms(const char *text, uint64_t *out, coop_error **err)
{
    struct part part = { .rest = text };
    bool is_first = true;
    bool is_large = false;
    bool all_zero = true;
    uint64_t sum = 0;

    do {
        size_t previous = part.unit;
        uint64_t ms;

        if (!read_part(part.rest, is_first, &part) || (!is_first && part.unit <= previous))
            return unexpected(err, "duration", text, duration_expected);
        if (!scale(&part.number, duration_units[part.unit].factor, &ms) ||
            __builtin_add_overflow(sum, ms, &sum))
            is_large = true; /* but a wrong letter further on is the better complaint */
        all_zero = all_zero && is_zero(&part.number);
        is_first = false;
    } while (*part.rest);

    if (is_large || sum > QUANTITY_DURATION_MAX_MS)
        return bad(err, "duration", text, "too long, the most is 100000d");
    if (sum == 0 && !all_zero)
        return bad(err, "duration", text, "less than one millisecond");
    *out = sum;
    return 0;
}

int quantity_count(const char *text, uint64_t min, uint64_t max, uint64_t *out, coop_error **err)
{
    struct number number;
    const char *rest = read_number(text, &number);
    char expected[96];

    if (rest && *rest == '\0' && number.n_fraction == 0 && !number.is_huge && number.whole >= min &&
        number.whole <= max) {
        *out = number.whole;
        return 0;
    }
    (void)snprintf(expected, sizeof expected, "a whole number from %" PRIu64 " to %" PRIu64, min,
                   max);
    return unexpected(err, "count", text, expected);
}

int quantity_decimal_milli(const char *text, uint64_t *out, coop_error **err)
{
    struct number number;
    const char *rest = read_number(text, &number);
    uint64_t milli;

    if (!rest || *rest || number.n_fraction > 3 || is_zero(&number))
        return unexpected(err, "number", text, decimal_expected);
    if (!scale(&number, 1000, &milli) || milli > QUANTITY_DECIMAL_MAX_MILLI)
        return bad(err, "number", text, "too large, the most is 1000000");
    *out = milli;
    return 0;
}

/* "1.5ms"; the decimal is left out where it is 0. */
static void format_tenths(uint64_t tenths, const char *unit, char out[32])
{
    if (tenths % 10)
        (void)snprintf(out, 32, "%" PRIu64 ".%" PRIu64 "%s", tenths / 10, tenths % 10, unit);
    else
        (void)snprintf(out, 32, "%" PRIu64 "%s", tenths / 10, unit);
}

void quantity_format_size(uint64_t size, char out[32])
{
    static const char *const names[] = { " B", " KiB", " MiB", " GiB", " TiB", " PiB", " EiB" };
    uint64_t tenths = 0;
    size_t i;

    for (i = 0; i < COUNT(names); i++) {
        unsigned shift = (unsigned)i * 10;
        uint64_t unit = UINT64_C(1) << shift;

        if (size >> shift >= 1024)
            continue;
        tenths = (size >> shift) * 10 + ((size & (unit - 1)) * 10 + unit / 2) / unit;
        if (tenths < 10240) /* after rounding: 1,048,575 bytes are 1 MiB and not 1024 KiB */
            break;
    }
    format_tenths(tenths, names[i], out);
}

static uint64_t divide_to_nearest(uint64_t value, uint64_t by)
{
    return value / by + (value % by >= by - by / 2);
}

static void format_pair(uint64_t value, uint64_t per_large, const char *large, const char *small,
                        char out[32])
{
    if (value % per_large)
        (void)snprintf(out, 32, "%" PRIu64 "%s%" PRIu64 "%s", value / per_large, large,
                       value % per_large, small);
    else
        (void)snprintf(out, 32, "%" PRIu64 "%s", value / per_large, large);
}

void quantity_format_duration_us(uint64_t us, char out[32])
{
    const uint64_t second = 1000000;
    const uint64_t minute = 60 * second;
    const uint64_t hour = 60 * minute;

    if (us < 1000)
        (void)snprintf(out, 32, "%" PRIu64 "us", us);
    else if (divide_to_nearest(us, 100) < 10000)
        format_tenths(divide_to_nearest(us, 100), "ms", out);
    else if (divide_to_nearest(us, second / 10) < 600)
        format_tenths(divide_to_nearest(us, second / 10), "s", out);
    else if (divide_to_nearest(us, second) < 3600)
        format_pair(divide_to_nearest(us, second), 60, "m", "s", out);
    else if (divide_to_nearest(us, minute) < 24 * 60)
        format_pair(divide_to_nearest(us, minute), 60, "h", "m", out);
    else
        format_pair(divide_to_nearest(us, hour), 24, "d", "h", out);
}
