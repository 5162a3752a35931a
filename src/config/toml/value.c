/*
 * value.c - which kind of value begins here; arrays and inline tables
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/cleanup.h"
#include "config/toml/private.h"

#define WORD_SHOWN_MAX 40

static int array(struct toml *toml, unsigned level, struct node *out);
static int inline_table(struct toml *toml, unsigned level, struct node *out);

/* What begins with a letter: the words that have a meaning, and others in want of quotes. */
static int word(struct toml *toml, struct node *out)
{
    struct position place = toml_place(toml);
    const char *start = toml->at;
    const char *fix = "write text in quotes";

    while (toml_is_word(toml_peek(toml)))
        toml->at++;
    size_t n = (size_t)(toml->at - start);
    bool is_true = n == 4 && strncasecmp(start, "true", n) == 0;
    bool is_false = n == 5 && strncasecmp(start, "false", n) == 0;

    if ((is_true && memcmp(start, "true", n) == 0) ||
        (is_false && memcmp(start, "false", n) == 0)) {
        *out = (struct node){ .kind = NODE_BOOLEAN, .place = place, .boolean = is_true };
        return 0;
    }
    if (is_true || is_false)
        fix = is_true ? "write true, in lower case" : "write false, in lower case";
    return toml_fail(toml, place, fix, "expected a value, found the word '%.*s%s'",
                     (int)(n > WORD_SHOWN_MAX ? WORD_SHOWN_MAX : n), start,
                     n > WORD_SHOWN_MAX ? "..." : "");
}

/* 1979-05-27, 07:32:00: digits, then one of two characters that no number has in that place. */
static bool is_datetime(const struct toml *toml)
{
    size_t n = 0;

    while (n < 5 && toml_is_digit(toml_peek_at(toml, n)))
        n++;
    int c = toml_peek_at(toml, n);
    return n > 0 && (c == '-' || c == ':');
}

int toml_value(struct toml *toml, unsigned level, struct node *out)
{
    int c = toml_peek(toml);

    switch (c) {
    case '"':
    case '\'':
        return toml_string(toml, out);
    case '[':
        return array(toml, level, out);
    case '{':
        return inline_table(toml, level, out);
    case 'i':
    case 'n':
        if (toml->end - toml->at >= 3 &&
            (memcmp(toml->at, "inf", 3) == 0 || memcmp(toml->at, "nan", 3) == 0) &&
            !toml_is_word(toml_peek_at(toml, 3)))
            return toml_number(toml, out);
        return word(toml, out);
    default:
        break;
    }
    if (is_datetime(toml))
        return toml_datetime(toml, out);
    if (toml_is_digit(c) || c == '+' || c == '-')
        return toml_number(toml, out);
    if (toml_is_word(c) && c != '.' && c != ':')
        return word(toml, out);
    return toml_unexpected(toml, "a value", c == '.' ? "write a digit before the point" : NULL);
}

int toml_key_value(struct toml *toml, struct node_table *table, unsigned level)
{
    struct toml_slot slot;
    struct node value;
    int r = toml_key(toml, table, &slot);

    if (r < 0)
        return r;
    toml_skip_blanks(toml);
    if (!toml_take(toml, '='))
        return toml_unexpected(toml, "'=' after the key", NULL);
    toml_skip_blanks(toml);
    r = toml_value(toml, slot.table ? slot.table->level + 1 : level, &value);
    if (r < 0 || !slot.table)
        return r;
    r = node_table_add(toml->document, slot.table, slot.key, slot.place, &value);
    return r < 0 ? toml_fail_storing(toml, slot.place, r) : 0;
}

/* Of an array that began on another line, the place says more than the cursor's. */
static int array_unexpected(struct toml *toml, struct position began)
{
    char what[96] = "',' or ']' in the array";

    if (began.line != toml->line)
        (void)snprintf(what, sizeof what, "',' or ']' in the array that begins at %u:%u",
                       began.line, began.column);
    return toml_unexpected(toml, what, NULL);
}

static int array_items(struct toml *toml, struct node *out)
{
    struct node_array *items = out->array;

    for (;;) {
        struct node item = { 0 };
        int r = toml_skip_lines(toml);

        if (r < 0)
            return r;
        if (toml_take(toml, ']'))
            return 0;
        r = toml_value(toml, items->level + 1, &item);
        if (r < 0)
            return r;
        r = node_array_add(toml->document, items, &item);
        if (r < 0)
            return toml_fail_storing(toml, item.place, r);
        r = toml_skip_lines(toml);
        if (r < 0)
            return r;
        if (!toml_take(toml, ',') && toml_peek(toml) != ']')
            return array_unexpected(toml, out->place);
    }
}

static int array(struct toml *toml, unsigned level, struct node *out)
{
    struct position place = toml_place(toml);
    int r = toml_check_level(toml, place, level);

    if (r < 0)
        return r;
    *out = (struct node){ .kind = NODE_ARRAY, .place = place };
    out->array = document_array(toml->document, level);
    if (!out->array)
        return toml_fail_storing(toml, place, -ENOMEM);
    toml->at++;
    toml->n_spanning++;
    r = array_items(toml, out);
    if (r == 0)
        toml->n_spanning--;
    return r;
}

/* A newline where none may be: its author thinks that the table goes on, nobody knows how far. */
static int inline_unexpected(struct toml *toml, const char *what, const char *fix)
{
    if (toml_peek(toml) != '\n' && toml_peek(toml) != '\r')
        return toml_unexpected(toml, what, fix);
    toml->n_spanning++;
    return toml_unexpected(toml, what, "an inline table is written on one line");
}

static int inline_entries(struct toml *toml, struct node_table *table)
{
    toml_skip_blanks(toml);
    if (toml_take(toml, '}'))
        return 0;
    for (;;) {
        int c = toml_peek(toml);

        if (c == '}' || c == '\n' || c == '\r')
            return inline_unexpected(toml, "a key", "write no comma after the last value");
        int r = toml_key_value(toml, table, table->level + 1);
        if (r < 0)
            return r;
        toml_skip_blanks(toml);
        if (toml_take(toml, '}'))
            return 0;
        if (!toml_take(toml, ','))
            return inline_unexpected(toml, "',' or '}' in the inline table", NULL);
        toml_skip_blanks(toml);
    }
}

static int inline_table(struct toml *toml, unsigned level, struct node *out)
{
    struct position place = toml_place(toml);
    int r = toml_check_level(toml, place, level);

    if (r < 0)
        return r;
    *out = (struct node){ .kind = NODE_TABLE, .place = place };
    out->table = document_table(toml->document, level);
    if (!out->table)
        return toml_fail_storing(toml, place, -ENOMEM);
    out->table->how = TOML_INLINE;
    toml->at++;
    return inline_entries(toml, out->table);
}
