/*
 * scan.c - the cursor, and how a mistake is said
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/utf8.h"
#include "config/toml/private.h"

struct position toml_place(struct toml *toml)
{
    for (; toml->counted < toml->at; toml->counted++)
        toml->column += !utf8_is_continuation((unsigned char)*toml->counted);
    return (struct position){ toml->line, toml->column };
}

void toml_skip_blanks(struct toml *toml)
{
    while (toml->at < toml->end && (*toml->at == ' ' || *toml->at == '\t'))
        toml->at++;
}

bool toml_take(struct toml *toml, char wanted)
{
    if (toml_peek(toml) != wanted)
        return false;
    toml->at++;
    return true;
}

bool toml_skip_newline(struct toml *toml)
{
    if (toml_peek(toml) == '\n')
        toml->at++;
    else if (toml_peek(toml) == '\r' && toml_peek_at(toml, 1) == '\n')
        toml->at += 2;
    else
        return false;
    toml->line++;
    toml->column = 1;
    toml->counted = toml->at;
    return true;
}

int toml_skip_comment(struct toml *toml)
{
    if (!toml_take(toml, '#'))
        return 0;
    for (; toml->at < toml->end; toml->at++) {
        unsigned char c = (unsigned char)*toml->at;

        if (c == '\n' || (c == '\r' && toml_peek_at(toml, 1) == '\n'))
            return 0;
        if ((c < 0x20 && c != '\t') || c == 0x7F)
            return toml_unexpected(toml, "text in the comment", NULL);
    }
    return 0;
}

int toml_skip_lines(struct toml *toml)
{
    for (;;) {
        toml_skip_blanks(toml);
        int r = toml_skip_comment(toml);
        if (r < 0)
            return r;
        if (!toml_skip_newline(toml))
            return 0;
    }
}

__attribute__((format(printf, 4, 0))) static void
add(struct toml *toml, struct position place, const char *fix, const char *format, va_list args)
{
    char message[512];

    (void)vsnprintf(message, sizeof message, format, args);
    toml->n_errors++;
    findings_add(toml->findings, SEVERITY_ERROR, node_origin(toml->document, place), fix, "%s",
                 message);
}

int toml_fail(struct toml *toml, struct position place, const char *fix, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    add(toml, place, fix, format, args);
    va_end(args);
    toml->n_syntax_errors++;
    return -EINVAL;
}

void toml_complain(struct toml *toml, struct position place, const char *fix, const char *format,
                   ...)
{
    va_list args;

    va_start(args, format);
    add(toml, place, fix, format, args);
    va_end(args);
}

/* The character at the cursor, in words. */
static void describe(const struct toml *toml, char *out, size_t size)
{
    uint32_t cp;
    size_t n = utf8_decode((const unsigned char *)toml->at, (size_t)(toml->end - toml->at), &cp);

    if (n == 0)
        (void)snprintf(out, size, "the end of the file");
    else if (cp == '\n' || (cp == '\r' && toml_peek_at(toml, 1) == '\n'))
        (void)snprintf(out, size, "the end of the line");
    else if (cp == '\r')
        (void)snprintf(out, size, "a carriage return without a line feed");
    else if (cp < 0x20 || (cp >= 0x7F && cp < 0xA0))
        (void)snprintf(out, size, "the control character U+%04X", (unsigned)cp);
    else if (cp == '\'')
        (void)snprintf(out, size, "\"'\"");
    else
        (void)snprintf(out, size, "'%.*s'", (int)n, toml->at);
}

int toml_unexpected(struct toml *toml, const char *what, const char *fix)
{
    char found[64];

    if (toml->at == toml->end && toml->is_cut) {
        toml->is_hopeless = true;
        return toml_fail(toml, toml_place(toml), "save the file as UTF-8",
                         "the byte 0x%02X is not part of valid UTF-8", (unsigned char)*toml->end);
    }
    describe(toml, found, sizeof found);
    return toml_fail(toml, toml_place(toml), fix, "expected %s, found %s", what, found);
}

int toml_fail_storing(struct toml *toml, struct position place, int r)
{
    toml->is_hopeless = true;
    if (r == -E2BIG)
        return toml_fail(toml, place, NULL, "the file holds more than %d values", NODE_COUNT_MAX);
    toml->findings->failed = true;
    return -ENOMEM;
}

int toml_check_level(struct toml *toml, struct position place, unsigned level)
{
    if (level <= NODE_DEPTH_MAX)
        return 0;
    toml->is_hopeless = true;
    return toml_fail(toml, place, NULL, "tables and arrays lie more than %d deep in each other",
                     NODE_DEPTH_MAX);
}
