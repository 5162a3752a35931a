/*
 * string.c - the four forms of a string
 *
 *   "basic"   """basic, several lines"""   'literal'   '''literal, several lines'''
 */
#include <errno.h>
#include <string.h>

#include "base/hex.h"
#include "base/utf8.h"
#include "config/toml/private.h"

struct form {
    char quote;
    bool is_long; /* three quotes, several lines */
};

static bool has_three(const struct toml *toml, char quote)
{
    return toml_peek(toml) == quote && toml_peek_at(toml, 1) == quote &&
           toml_peek_at(toml, 2) == quote;
}

static void append_character(struct buffer *out, uint32_t cp)
{
    if (cp < 0x80) {
        buffer_append_char(out, (char)cp);
        return;
    }
    if (cp < 0x800) {
        buffer_append_char(out, (char)(0xC0 | cp >> 6));
    } else {
        if (cp < 0x10000) {
            buffer_append_char(out, (char)(0xE0 | cp >> 12));
        } else {
            buffer_append_char(out, (char)(0xF0 | cp >> 18));
            buffer_append_char(out, (char)(0x80 | (cp >> 12 & 0x3F)));
        }
        buffer_append_char(out, (char)(0x80 | (cp >> 6 & 0x3F)));
    }
    buffer_append_char(out, (char)(0x80 | (cp & 0x3F)));
}

/* After \u or \U; `place` is the backslash's. */
static int unicode_escape(struct toml *toml, struct position place, unsigned n_digits)
{
    uint32_t cp = 0;

    for (unsigned i = 0; i < n_digits; i++) {
        int digit = hex_value(toml_peek(toml));

        if (digit < 0)
            return toml_unexpected(toml,
                                   n_digits == 4 ? "four hexadecimal digits after \\u"
                                                 : "eight hexadecimal digits after \\U",
                                   NULL);
        cp = cp << 4 | (uint32_t)digit;
        toml->at++;
    }
    if (cp > 0x10FFFF || (cp >= 0xD800 && cp <= 0xDFFF))
        return toml_fail(toml, place, NULL, "U+%04X is no character that Unicode allows",
                         (unsigned)cp);
    append_character(&toml->scratch, cp);
    return 0;
}

/* A backslash at the end of a line: neither the newline nor what is blank after it counts. */
static bool skip_line_end(struct toml *toml)
{
    const char *start = toml->at;

    toml_skip_blanks(toml);
    if (!toml_skip_newline(toml)) {
        toml->at = start;
        return false;
    }
    do
        toml_skip_blanks(toml);
    while (toml_skip_newline(toml));
    return true;
}

static int escape(struct toml *toml, struct form form)
{
    static const char letters[] = "btnfr\"\\";
    static const char meanings[] = "\b\t\n\f\r\"\\";
    struct position place = toml_place(toml);

    toml->at++;
    if (form.is_long && skip_line_end(toml))
        return 0;
    int c = toml_peek(toml);
    const char *letter = c > 0 ? strchr(letters, c) : NULL;
    if (letter) {
        buffer_append_char(&toml->scratch, meanings[letter - letters]);
        toml->at++;
        return 0;
    }
    if (c == 'u' || c == 'U') {
        toml->at++;
        return unicode_escape(toml, place, c == 'u' ? 4 : 8);
    }
    return toml_unexpected(toml, "one of b t n f r \" \\ u U after a backslash",
                           "write \\\\ for a backslash, or the string in single quotes");
}

/* Quotes inside: up to two, and the closing three may have two of the text before them. */
static bool close_long(struct toml *toml, char quote)
{
    size_t n = 0;

    while (n < 5 && toml_peek_at(toml, n) == quote)
        n++;
    toml->at += n;
    for (size_t i = n >= 3 ? 3 : 0; i < n; i++)
        buffer_append_char(&toml->scratch, quote);
    return n >= 3;
}

static bool is_plain(unsigned char c, char quote)
{
    return (c >= 0x20 || c == '\t') && c != 0x7F && c != (unsigned char)quote &&
           (c != '\\' || quote == '\'');
}

/* From behind the opening quotes to behind the closing ones; the text is put into scratch. */
static int content(struct toml *toml, struct form form)
{
    const char *expected =
        form.is_long ? form.quote == '"' ? "text or the closing \"\"\"" : "text or the closing '''"
        : form.quote == '"' ? "text or the closing \""
                            : "text or the closing '";

    for (;;) {
        const char *run = toml->at;

        while (toml->at < toml->end && is_plain((unsigned char)*toml->at, form.quote))
            toml->at++;
        buffer_append(&toml->scratch, run, (size_t)(toml->at - run));
        int c = toml_peek(toml);
        if (c == form.quote && !form.is_long) {
            toml->at++;
            return 0;
        }
        if (c == form.quote) {
            if (close_long(toml, form.quote))
                return 0;
        } else if (c == '\\') {
            int r = escape(toml, form);
            if (r < 0)
                return r;
        } else if (form.is_long && toml_skip_newline(toml)) {
            buffer_append_char(&toml->scratch, '\n');
        } else {
            return toml_unexpected(toml, expected, NULL);
        }
    }
}

/* Moves what was read into the document. */
static int keep(struct toml *toml, struct position place, struct node_string *out)
{
    struct buffer *text = &toml->scratch;

    out->length = text->length;
    out->bytes = text->failed ? NULL : arena_copy(&toml->document->arena, text->data, text->length);
    return out->bytes ? 0 : toml_fail_storing(toml, place, -ENOMEM);
}

int toml_string(struct toml *toml, struct node *out)
{
    struct form form = { (char)toml_peek(toml), false };

    *out = (struct node){ .kind = NODE_STRING, .place = toml_place(toml) };
    form.is_long = has_three(toml, form.quote);
    toml->scratch.length = 0;
    toml->at += form.is_long ? 3 : 1;
    toml->n_spanning += form.is_long;
    if (form.is_long)
        (void)toml_skip_newline(toml); /* the first is for looks */
    int r = content(toml, form);
    if (r < 0)
        return r;
    toml->n_spanning -= form.is_long;
    return keep(toml, out->place, &out->string);
}

int toml_key_string(struct toml *toml, struct node_string *out)
{
    struct form form = { (char)toml_peek(toml), false };
    struct position place = toml_place(toml);

    if (has_three(toml, form.quote))
        return toml_fail(toml, place, "write it in single or double quotes",
                         "a key cannot be a string of several lines");
    toml->scratch.length = 0;
    toml->at++;
    int r = content(toml, form);
    return r < 0 ? r : keep(toml, place, out);
}
