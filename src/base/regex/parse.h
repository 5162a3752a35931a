/*
 * parse.h - what the files of the parser share
 */
#pragma once

#include "base/regex/private.h"

struct regex_parser {
    const char *begin, *at, *end;
    bool ignores_case;
    unsigned depth; /* of groups */
    struct regex_tree *tree;
    coop_error **err;
};

#define REGEX_LINE_BREAK "a line break"
#define REGEX_LINE_BREAK_INSTEAD                                            \
    "lines are searched one by one, so no match can span them; search for " \
    "what stands in one line, and ask for context"

/* "the pattern has PROBLEM at character N: INSTEAD" */
int regex_complain(struct regex_parser *parser, const char *at, const char *problem,
                   const char *instead);

int64_t regex_add_node(struct regex_parser *parser, struct regex_node node);
int64_t regex_add_character(struct regex_parser *parser, uint32_t c);
int64_t regex_add_set(struct regex_parser *parser, struct regex_set *set, bool is_negated);

int64_t regex_parse_atom(struct regex_parser *parser);
int64_t regex_parse_group(struct regex_parser *parser, const char *open);
int64_t regex_parse_brackets(struct regex_parser *parser);
/* After a '(': reads "?:", "?i:" and so on. */
enum { REGEX_OPTIONS_GROUP, REGEX_OPTIONS_ALONE };
int regex_parse_options(struct regex_parser *parser, const char *open);

/* After a backslash, which is not the last: the character that \t, \x41 or \. stands for. 0: it is
 * none of these, and nothing was read. */
int regex_parse_escape(struct regex_parser *parser, uint32_t *out);
