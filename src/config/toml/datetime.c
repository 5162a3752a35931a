/*
 * datetime.c - dates and times, as RFC 3339 writes them
 *
 *   1979-05-27T07:32:00.5-07:00   1979-05-27 07:32:00   1979-05-27   07:32:00
 */
#include "config/toml/private.h"

static bool is_leap_year(unsigned year)
{
    return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
}

static unsigned days_in(unsigned year, unsigned month)
{
    static const unsigned char days[] = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };

    return days[month - 1] + (month == 2 && is_leap_year(year));
}

struct field {
    unsigned n_digits;
    unsigned from, to;
    const char *expected; /* for the two sentences */
    const char *name;
};

static const struct field fields[] = {
#define FIELD_YEAR 0
    { 4, 0, 9999, "four digits for the year", "year" },
#define FIELD_MONTH 1
    { 2, 1, 12, "two digits for the month", "month" },
#define FIELD_DAY 2
    { 2, 1, 31, "two digits for the day", "day" },
#define FIELD_HOUR 3
    { 2, 0, 23, "two digits for the hour", "hour" },
#define FIELD_MINUTE 4
    { 2, 0, 59, "two digits for the minute", "minute" },
#define FIELD_SECOND 5
    { 2, 0, 60, "two digits for the second", "second" }, /* 60: a leap second */
};

static int number(struct toml *toml, const struct field *field, unsigned *out)
{
    struct position place = toml_place(toml);
    unsigned value = 0;

    for (unsigned i = 0; i < field->n_digits; i++) {
        int c = toml_peek(toml);

        if (!toml_is_digit(c))
            return toml_unexpected(toml, field->expected, NULL);
        value = value * 10 + (unsigned)(c - '0');
        toml->at++;
    }
    if (value < field->from || value > field->to)
        return toml_fail(toml, place, NULL, "the %s is %u to %u, not %u", field->name, field->from,
                         field->to, value);
    *out = value;
    return 0;
}

static int separator(struct toml *toml, char wanted, const char *expected)
{
    return toml_take(toml, wanted) ? 0 : toml_unexpected(toml, expected, NULL);
}

static int date(struct toml *toml, struct node_datetime *out)
{
    unsigned year = 0;
    unsigned month = 0;
    unsigned day = 0;
    int r = number(toml, &fields[FIELD_YEAR], &year);

    if (r == 0)
        r = separator(toml, '-', "'-' after the year");
    if (r == 0)
        r = number(toml, &fields[FIELD_MONTH], &month);
    if (r == 0)
        r = separator(toml, '-', "'-' after the month");
    struct position day_place = toml_place(toml);
    if (r == 0)
        r = number(toml, &fields[FIELD_DAY], &day);
    if (r < 0)
        return r;
    if (day > days_in(year, month))
        return toml_fail(toml, day_place, NULL, "month %u of %u has %u days, not %u", month, year,
                         days_in(year, month), day);
    out->year = (uint16_t)year;
    out->month = (uint8_t)month;
    out->day = (uint8_t)day;
    return 0;
}

/* Any number of digits; those beyond the ninth are cut off. */
static int fraction(struct toml *toml, uint32_t *out)
{
    uint32_t value = 0;
    uint32_t unit = 100000000;

    if (!toml_is_digit(toml_peek(toml)))
        return toml_unexpected(toml, "a digit after the point", NULL);
    for (; toml_is_digit(toml_peek(toml)); toml->at++, unit /= 10)
        value += unit * (uint32_t)(*toml->at - '0');
    *out = value;
    return 0;
}

static int hour_and_minute(struct toml *toml, unsigned *out_hour, unsigned *out_minute)
{
    int r = number(toml, &fields[FIELD_HOUR], out_hour);

    if (r == 0)
        r = separator(toml, ':', "':' after the hour");
    return r < 0 ? r : number(toml, &fields[FIELD_MINUTE], out_minute);
}

static int time_of_day(struct toml *toml, struct node_datetime *out)
{
    unsigned hour = 0;
    unsigned minute = 0;
    unsigned second = 0;
    int r = hour_and_minute(toml, &hour, &minute);

    if (r == 0)
        r = separator(toml, ':', "':' and the seconds after the minute");
    if (r == 0)
        r = number(toml, &fields[FIELD_SECOND], &second);
    if (r == 0 && toml_take(toml, '.'))
        r = fraction(toml, &out->nanosecond);
    if (r < 0)
        return r;
    out->hour = (uint8_t)hour;
    out->minute = (uint8_t)minute;
    out->second = (uint8_t)second;
    return 0;
}

/* Z, +hh:mm or -hh:mm; without one the time is local. */
static int offset(struct toml *toml, struct node *out)
{
    int sign = toml_peek(toml);
    unsigned hour = 0;
    unsigned minute = 0;

    if (sign != 'Z' && sign != 'z' && sign != '+' && sign != '-')
        return 0;
    toml->at++;
    out->kind = NODE_DATETIME;
    if (sign == 'Z' || sign == 'z')
        return 0;
    int r = hour_and_minute(toml, &hour, &minute);
    int minutes = (int)(hour * 60 + minute);
    out->datetime.offset_minutes = (int16_t)(sign == '-' ? -minutes : minutes);
    return r;
}

static int datetime_end(struct toml *toml)
{
    return toml_is_word(toml_peek(toml))
               ? toml_unexpected(toml, "the end of the date or time", NULL)
               : 0;
}

int toml_datetime(struct toml *toml, struct node *out)
{
    size_t n = 0;
    int r;

    *out = (struct node){ .kind = NODE_LOCAL_TIME, .place = toml_place(toml) };
    while (toml_is_digit(toml_peek_at(toml, n)))
        n++;
    if (toml_peek_at(toml, n) == ':') {
        r = time_of_day(toml, &out->datetime);
        return r < 0 ? r : datetime_end(toml);
    }
    out->kind = NODE_LOCAL_DATE;
    r = date(toml, &out->datetime);
    if (r < 0)
        return r;
    int c = toml_peek(toml);
    if (c == 'T' || c == 't' || (c == ' ' && toml_is_digit(toml_peek_at(toml, 1)))) {
        toml->at++;
        out->kind = NODE_LOCAL_DATETIME;
        r = time_of_day(toml, &out->datetime);
        if (r == 0)
            r = offset(toml, out);
    }
    return r < 0 ? r : datetime_end(toml);
}
