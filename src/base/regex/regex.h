/*
 * regex.h - which lines of a text match a pattern, in linear time
 *
 *   struct regex *regex;
 *   struct regex_line line = { 0 };
 *   if (regex_new(pattern, strlen(pattern), 0, &regex, &err) == 0)
 *       while (regex_next(regex, text, n, line.next, &line))
 *           show(text + line.begin, line.end - line.begin);
 *   regex_free(regex);
 *
 * Patterns are POSIX extended regular expressions and what is usually written besides:
 *
 *   \d \w \s and \D \W \S      ASCII; in brackets too, as are \t \n \] and the like
 *   \b \B \< \>                ends of words, beginnings, ends
 *   x*? x+? x?? x{2,5}?        the same as without the '?': only whether a line matches is asked
 *   (?:x) (?<name>x) (?i) (?i:x) (?-i)
 *   \xHH \x{HHHH} \uHHHH       a character by its number
 *
 * Characters are those of UTF-8: '.' and [^x] take a whole one, and no byte that is part of none.
 * Nothing matches the end of a line, so each line is judged alone. '$' also stands before the CR of a
 * line that ends in CR LF. Case is ignored where Unicode has simple pairs, for the alphabets in use.
 *
 * Refused, with a message that says so: back references and look-around (no linear time), possessive
 * quantifiers, line breaks, and what would become too large, such as (x{1000}){1000}.
 *
 * Time is (length of the text) times, at the very worst, (size of the compiled pattern, which is
 * limited); usually it is a table look-up for a byte, and less where the pattern holds plain text.
 * Memory is limited and allocated by regex_new(): matching cannot fail.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "coop/error.h"

#define REGEX_PATTERN_MAX 4096 /* bytes */
#define REGEX_REPEAT_MAX  1000 /* in {n,m} */
#define REGEX_NESTING_MAX 200

enum regex_flags {
    REGEX_IGNORE_CASE = 1,
    REGEX_LITERAL = 2 /* the pattern is plain text */
};

struct regex; /* used by one thread at a time: matching fills its tables */

/* Copies. -EINVAL: the pattern is wrong, and the message says where, why and what to write. */
int regex_new(const char *pattern, size_t n, unsigned flags, struct regex **out, coop_error **err);
void regex_free(struct regex *regex); /* NULL is fine */

struct regex_line {
    size_t begin, end; /* without the '\n' */
    size_t hit;        /* an offset in the line, at or shortly behind the end of its first match */
    size_t next;       /* where to go on */
};

/* The first line at or behind `from`, which begins a line, that matches. A '\n' ends a line; so does
 * the end of the text, unless nothing stands behind the last '\n'. */
bool regex_next(struct regex *regex, const char *text, size_t n, size_t from,
                struct regex_line *out);
