/*
 * brackets.c - [a-z], [^"\\], [[:alpha:]\d_]
 *
 * A ']' that comes first is a member, as POSIX has it; a backslash escapes, as everybody else has it.
 */
#include <string.h>

#include "base/error.h"
#include "base/regex/parse.h"
#include "base/utf8.h"

/* What stands at the place: a character, or (its members added) a class. */
enum member { MEMBER_CLASS, MEMBER_CHARACTER };

static int complain_about_end(struct regex_parser *parser, const char *open)
{
    return regex_complain(parser, open, "a '[' without its ']'",
                          "close it; for a plain bracket write '\\['");
}

/* After "[:", "[." or "[=" has been seen. */
static int read_named(struct regex_parser *parser, struct regex_set *set)
{
    const char *at = parser->at;
    const char end[] = { at[1], ']' };
    const char *close = memmem(at + 2, (size_t)(parser->end - at - 2), end, sizeof end);

    if (!close) { /* no name, just these characters */
        parser->at++;
        regex_set_add(set, '[', '[');
        return MEMBER_CLASS;
    }
    if (at[1] != ':' || !regex_set_add_posix(set, at + 2, (size_t)(close - at - 2)))
        return regex_complain(parser, at, "an unknown class in brackets",
                              "the names are alpha digit alnum upper lower space blank punct print "
                              "graph cntrl xdigit word, as in '[[:alpha:]_]'");
    parser->at = close + 2;
    return MEMBER_CLASS;
}

static int read_member(struct regex_parser *parser, struct regex_set *set, uint32_t *out)
{
    const char *at = parser->at;
    size_t left = (size_t)(parser->end - at);

    if (left > 2 && at[0] == '[' && (at[1] == ':' || at[1] == '.' || at[1] == '='))
        return read_named(parser, set);
    if (*at != '\\') {
        parser->at += utf8_decode((const unsigned char *)at, left, out);
        return MEMBER_CHARACTER;
    }
    parser->at++;
    if (left < 2)
        return complain_about_end(parser, at);
    if (regex_set_add_escape(set, *parser->at)) {
        parser->at++;
        return MEMBER_CLASS;
    }
    int r = regex_parse_escape(parser, out);
    if (r == 0)
        return regex_complain(parser, at, "an unknown escape in brackets",
                              "a plain backslash is '\\\\'");
    return r < 0 ? r : MEMBER_CHARACTER;
}

/* A member, or a range of them. */
static int read_range(struct regex_parser *parser, struct regex_set *set)
{
    const char *at = parser->at;
    uint32_t from = 0;
    uint32_t to = 0;
    int r = read_member(parser, set, &from);

    if (r != MEMBER_CHARACTER)
        return r;
    if (parser->end - parser->at < 2 || parser->at[0] != '-' || parser->at[1] == ']') {
        regex_set_add(set, from, from);
        return 0;
    }
    parser->at++;
    r = read_member(parser, set, &to);
    if (r < 0)
        return r;
    if (r == MEMBER_CLASS) { /* [a-\d]: a hyphen after all */
        regex_set_add(set, from, from);
        regex_set_add(set, '-', '-');
        return 0;
    }
    if (to < from)
        return regex_complain(parser, at, "a range in brackets that runs backwards",
                              "write the smaller character first, as in [a-z]; a plain '-' stands "
                              "at the end");
    regex_set_add(set, from, to);
    return 0;
}

int64_t regex_parse_brackets(struct regex_parser *parser)
{
    const char *open = parser->at++;
    struct regex_set set = { 0 };
    bool is_negated = parser->at < parser->end && *parser->at == '^';

    parser->at += is_negated;
    const char *first = parser->at;
    while (parser->at < parser->end && (*parser->at != ']' || parser->at == first)) {
        int r = read_range(parser, &set);
        if (r < 0) {
            regex_set_done(&set);
            return r;
        }
    }
    if (parser->at == parser->end) {
        regex_set_done(&set);
        return complain_about_end(parser, open);
    }
    parser->at++;
    return regex_add_set(parser, &set, is_negated);
}
