/*
 * private.h - the TOML reader, among its own files
 *
 *   toml.c           a file is lines: [table], [[array of tables]], key = value
 *   config/toml/scan.c      the cursor, and how a mistake is said
 *   config/toml/key.c       keys, and which table each leads to
 *   config/toml/value.c     which kind of value begins here; arrays and inline tables
 *   config/toml/string.c, config/toml/number.c, config/toml/datetime.c
 *
 * Every function that reads returns 0, or a negative number after it has made a finding. The cursor
 * only moves forward, and places are asked for in the order of the text: so the columns of a line
 * are counted once, however long it is.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"
#include "config/node.h"

#define TOML_SYNTAX_ERRORS_MAX 5 /* then the file is probably no TOML */

struct toml {
    const char *at, *end; /* the text ends where it stops being UTF-8 */
    bool is_cut;          /* that is not the end of the file */
    unsigned line;
    const char *counted; /* up to here the columns are counted */
    unsigned column;     /* of `counted` */

    struct document *document;
    struct node_table *table; /* that key = value goes to; NULL after a header that was refused */
    unsigned n_spanning;      /* open things that may go over several lines */
    struct buffer scratch;    /* text of one string or number */

    struct findings *findings;
    unsigned n_syntax_errors;
    unsigned n_errors; /* all */
    bool is_hopeless;  /* going on would make no sense */
};

/* How a table came to be, in node_table.how: it says what may still be added, and by whom. */
enum toml_how {
    TOML_IMPLIED, /* [a.b] makes 'a' */
    TOML_HEADER,  /* [a] */
    TOML_DOTTED,  /* a.b = 1 makes 'a' */
    TOML_INLINE,  /* a = {} */
};

/* ---- config/toml/scan.c */

/* The byte at the cursor, or so many behind it; -1 at the end. */
static inline int toml_peek_at(const struct toml *toml, size_t i)
{
    return (size_t)(toml->end - toml->at) > i ? (unsigned char)toml->at[i] : -1;
}

static inline int toml_peek(const struct toml *toml)
{
    return toml_peek_at(toml, 0);
}

static inline bool toml_is_digit(int c)
{
    return c >= '0' && c <= '9';
}

/* Of names, numbers and dates: a value must not touch one of these. */
static inline bool toml_is_word(int c)
{
    return toml_is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
           c == '-' || c == '+' || c == '.' || c == ':';
}

struct position toml_place(struct toml *toml); /* of the cursor */

void toml_skip_blanks(struct toml *toml);       /* spaces and tabs */
bool toml_skip_newline(struct toml *toml);      /* one, LF or CRLF */
int toml_skip_comment(struct toml *toml);       /* one, up to the newline */
int toml_skip_lines(struct toml *toml);         /* blanks, comments and newlines */
bool toml_take(struct toml *toml, char wanted); /* steps over it if it is there */

/* A mistake in the syntax at `place`; -EINVAL. */
int toml_fail(struct toml *toml, struct position place, const char *fix, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* The same at the cursor: "expected `what`, found 'x'". */
int toml_unexpected(struct toml *toml, const char *what, const char *fix);
/* A mistake in what is said, not in how: reading goes on as if nothing were. */
void toml_complain(struct toml *toml, struct position place, const char *fix, const char *format,
                   ...) __attribute__((format(printf, 4, 5)));
/* What node_table_add() and its kin answered. */
int toml_fail_storing(struct toml *toml, struct position place, int r);
/* Containers deeper than the limit are refused. */
int toml_check_level(struct toml *toml, struct position place, unsigned level);

/* ---- config/toml/key.c */

/* Where a value goes. */
struct toml_slot {
    struct node_table *table; /* NULL: nowhere, a finding says why */
    struct node_string key;
    struct position place;
};

int toml_key(struct toml *toml, struct node_table *table, struct toml_slot *out);
int toml_header(struct toml *toml); /* the cursor is on '[' */

/* ---- values; `level` is the one they lie at */

int toml_key_value(struct toml *toml, struct node_table *table, unsigned level);
int toml_value(struct toml *toml, unsigned level, struct node *out);
int toml_string(struct toml *toml, struct node *out);
int toml_key_string(struct toml *toml, struct node_string *out); /* on one line only */
int toml_number(struct toml *toml, struct node *out);
int toml_datetime(struct toml *toml, struct node *out);
