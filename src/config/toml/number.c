/*
 * number.c - integers of four bases, and floats
 */
#include <errno.h>
#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "config/toml/private.h"

static const char range[] = "the range is -9223372036854775808 to 9223372036854775807";

struct base {
    char letter;
    unsigned radix;
    const char *digit; /* for the sentence */
};

static const struct base decimal = { 0, 10, "a digit" };
static const struct base bases[] = {
    { 'x', 16, "a hexadecimal digit" },
    { 'o', 8, "an octal digit" },
    { 'b', 2, "a binary digit" },
};

static bool is_digit_of(const struct base *base, int c)
{
    if (base->radix == 16 && ((c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F')))
        return true;
    return c >= '0' && c < '0' + (int)(base->radix < 10 ? base->radix : 10);
}

/* Digits with single underscores between them; without those they go to scratch. */
static int digits(struct toml *toml, const struct base *base)
{
    if (!is_digit_of(base, toml_peek(toml)))
        return toml_unexpected(toml, base->digit, NULL);
    for (;;) {
        while (is_digit_of(base, toml_peek(toml)))
            buffer_append_char(&toml->scratch, *toml->at++);
        if (!toml_take(toml, '_'))
            return 0;
        if (!is_digit_of(base, toml_peek(toml)))
            return toml_unexpected(toml, "a digit after '_'", NULL);
    }
}

static int number_end(struct toml *toml)
{
    return toml_is_word(toml_peek(toml)) ? toml_unexpected(toml, "the end of the number", NULL) : 0;
}

static int keep_integer(struct toml *toml, struct node *out, const struct base *base)
{
    if (toml->scratch.failed)
        return toml_fail_storing(toml, out->place, -ENOMEM);
    errno = 0;
    out->kind = NODE_INTEGER;
    out->integer = strtoll(toml->scratch.data, NULL, (int)base->radix);
    return errno == ERANGE
               ? toml_fail(toml, out->place, range, "the integer does not fit into 64 bits")
               : 0;
}

/* The point is a point, whatever the program's locale thinks. */
static int keep_float(struct toml *toml, struct node *out)
{
    if (toml->scratch.failed)
        return toml_fail_storing(toml, out->place, -ENOMEM);
    locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (!plain)
        return toml_fail_storing(toml, out->place, -ENOMEM);
    out->kind = NODE_FLOAT;
    out->number = strtod_l(toml->scratch.data, NULL, plain);
    freelocale(plain);
    return isinf(out->number) ? toml_fail(toml, out->place, NULL, "the float is too large") : 0;
}

/* inf and nan, behind a sign perhaps. */
static bool take_word(struct toml *toml, const char *word)
{
    if (toml->end - toml->at < 3 || memcmp(toml->at, word, 3) != 0)
        return false;
    toml->at += 3;
    return true;
}

static int special(struct toml *toml, struct node *out, bool is_negative, double value)
{
    out->kind = NODE_FLOAT;
    out->number = is_negative ? -value : value;
    return number_end(toml);
}

/* What follows the whole part of a float. */
static int fraction_and_exponent(struct toml *toml)
{
    if (toml_take(toml, '.')) {
        buffer_append_char(&toml->scratch, '.');
        int r = digits(toml, &decimal);
        if (r < 0)
            return r;
    }
    if (toml_peek(toml) != 'e' && toml_peek(toml) != 'E')
        return 0;
    buffer_append_char(&toml->scratch, *toml->at++);
    if (toml_peek(toml) == '+' || toml_peek(toml) == '-')
        buffer_append_char(&toml->scratch, *toml->at++);
    return digits(toml, &decimal);
}

static int decimal_number(struct toml *toml, struct node *out)
{
    if (toml_peek(toml) == '0' &&
        (toml_is_digit(toml_peek_at(toml, 1)) || toml_peek_at(toml, 1) == '_'))
        return toml_fail(toml, toml_place(toml), "write it without the zero, or in quotes",
                         "a number does not begin with a zero");
    int r = digits(toml, &decimal);
    int c = toml_peek(toml);
    bool is_float = c == '.' || c == 'e' || c == 'E';
    if (r == 0 && is_float)
        r = fraction_and_exponent(toml);
    if (r == 0)
        r = number_end(toml);
    if (r < 0)
        return r;
    return is_float ? keep_float(toml, out) : keep_integer(toml, out, &decimal);
}

int toml_number(struct toml *toml, struct node *out)
{
    int sign = toml_peek(toml);

    *out = (struct node){ .place = toml_place(toml) };
    toml->scratch.length = 0;
    if (sign == '+' || sign == '-')
        buffer_append_char(&toml->scratch, *toml->at++);
    if (take_word(toml, "inf"))
        return special(toml, out, sign == '-', HUGE_VAL);
    if (take_word(toml, "nan"))
        return special(toml, out, sign == '-', (double)NAN);
    if (toml_peek(toml) == '0' && sign != '+' && sign != '-') {
        for (size_t i = 0; i < sizeof bases / sizeof *bases; i++) {
            if (toml_peek_at(toml, 1) != bases[i].letter)
                continue;
            toml->at += 2;
            int r = digits(toml, &bases[i]);
            if (r == 0)
                r = number_end(toml);
            return r < 0 ? r : keep_integer(toml, out, &bases[i]);
        }
    }
    return decimal_number(toml, out);
}
