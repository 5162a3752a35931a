/*
 * atom.c - the smallest parts of a pattern
 */
#include <errno.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/hex.h"
#include "base/regex/parse.h"
#include "base/utf8.h"

static uint32_t next_character(struct regex_parser *parser)
{
    uint32_t c = 0;

    parser->at +=
        utf8_decode((const unsigned char *)parser->at, (size_t)(parser->end - parser->at), &c);
    return c;
}

static bool at_is(const struct regex_parser *parser, const char *text)
{
    size_t n = strlen(text);

    return (size_t)(parser->end - parser->at) >= n && memcmp(parser->at, text, n) == 0;
}

/* ---- escapes */

/* After the letter: \xHH, \x{H...}, \uHHHH, \u{H...}. */
static int read_number(struct regex_parser *parser, size_t n_digits, uint32_t *out)
{
    const char *at = parser->at;
    bool is_braced = at < parser->end && *at == '{';
    size_t most = is_braced ? 6 : n_digits;
    uint32_t value = 0;
    size_t n = 0;

    at += is_braced;
    for (; n < most && at < parser->end && hex_value(*at) >= 0; n++, at++)
        value = value * 16 + (uint32_t)hex_value(*at);
    if (n == 0 || (!is_braced && n < n_digits) || (is_braced && (at == parser->end || *at != '}')))
        return regex_complain(parser, parser->at, "a character's number that is not whole",
                              "write '\\x41', '\\x{20AC}' or '\\u20AC'");
    if (value > 0x10FFFF || (value >= 0xD800 && value <= 0xDFFF))
        return regex_complain(parser, parser->at, "a number that no character has",
                              "Unicode ends at 10FFFF, and D800 to DFFF are none");
    parser->at = at + is_braced;
    *out = value;
    return 1;
}

int regex_parse_escape(struct regex_parser *parser, uint32_t *out)
{
    static const char letters[] = "abefnrtv0";
    static const char values[] = "\a\b\x1B\f\n\r\t\v";
    char letter = *parser->at;
    const char *at = memchr(letters, letter, sizeof letters - 1);

    if (letter == 'x' || letter == 'u') {
        parser->at++;
        return read_number(parser, letter == 'x' ? 2 : 4, out);
    }
    /* '\b' is a backspace in brackets only, where the caller asks; elsewhere it was seen before */
    if (at) {
        parser->at++;
        *out = (unsigned char)values[at - letters];
        return 1;
    }
    bool is_alphanumeric = regex_is_word((unsigned char)letter) && letter != '_';
    if (is_alphanumeric || letter == '<' || letter == '>')
        return 0;
    *out = next_character(parser);
    return 1;
}

static const struct {
    char letter;
    uint8_t assertion;
} assertions[] = {
    { 'b', REGEX_AT_WORD_EDGE }, { 'B', REGEX_NOT_AT_WORD_EDGE }, { '<', REGEX_AT_WORD_BEGIN },
    { '>', REGEX_AT_WORD_END },  { 'A', REGEX_AT_BEGIN },         { '`', REGEX_AT_BEGIN },
    { 'z', REGEX_AT_END },       { 'Z', REGEX_AT_END },           { '\'', REGEX_AT_END },
};

static int64_t add_assertion(struct regex_parser *parser, uint8_t assertion)
{
    return regex_add_node(parser, (struct regex_node){ .kind = REGEX_ASSERTION,
                                                       .assertion = assertion,
                                                       .first = REGEX_NONE,
                                                       .next = REGEX_NONE });
}

static int complain_about_escape(struct regex_parser *parser, const char *backslash)
{
    char letter = *parser->at;

    if ((letter >= '1' && letter <= '9') || letter == 'k' || letter == 'g')
        return regex_complain(parser, backslash, "a back reference",
                              "these are not supported, so that every search takes linear time; "
                              "write out what may stand there");
    if (letter == 'p' || letter == 'P')
        return regex_complain(parser, backslash, "a Unicode property",
                              "these are not supported; write the characters in brackets, as in "
                              "[a-zà-ÿ]");
    return regex_complain(parser, backslash, "an unknown escape",
                          "a letter or digit behind a backslash must be one of d w s h b B A z t r "
                          "f v e a 0 x u (D W S H); a plain backslash is '\\\\'");
}

static int64_t parse_escape(struct regex_parser *parser)
{
    const char *backslash = parser->at++;
    struct regex_set set = { 0 };
    uint32_t c;

    if (parser->at == parser->end)
        return regex_complain(parser, backslash, "a backslash with nothing behind it",
                              "a plain backslash is '\\\\'");
    for (size_t i = 0; i < COUNT(assertions); i++) {
        if (*parser->at == assertions[i].letter) {
            parser->at++;
            return add_assertion(parser, assertions[i].assertion);
        }
    }
    if (regex_set_add_escape(&set, *parser->at)) {
        parser->at++;
        return regex_add_set(parser, &set, false);
    }
    int r = regex_parse_escape(parser, &c);
    if (r < 0)
        return r;
    if (r == 0)
        return complain_about_escape(parser, backslash);
    if (c == '\n')
        return regex_complain(parser, backslash, REGEX_LINE_BREAK, REGEX_LINE_BREAK_INSTEAD);
    return regex_add_character(parser, c);
}

/* ---- groups */

static const struct {
    const char *text;
    const char *problem;
    const char *instead;
} refused_groups[] = {
    { "=", "look-ahead", NULL },
    { "!", "negative look-ahead", NULL },
    { "<=", "look-behind", NULL },
    { "<!", "negative look-behind", NULL },
    { ">", "an atomic group", "write '(?:...)'" },
    { "|", "a branch reset group", "write '(?:...)'" },
    { "(", "a condition", "write alternatives, as in '(?:a|b)'" },
    { "R", "recursion", "write out what may stand there" },
    { "P=", "a back reference", "write out what may stand there" },
    { "P>", "recursion", "write out what may stand there" },
};

/* "(?i-s:" and "(?i)" */
static int parse_letters(struct regex_parser *parser, const char *open)
{
    bool is_on = true;

    for (; parser->at < parser->end; parser->at++) {
        char c = *parser->at;

        if (c == ':' || c == ')') {
            parser->at++;
            return c == ':' ? REGEX_OPTIONS_GROUP : REGEX_OPTIONS_ALONE;
        }
        if (c == '-')
            is_on = false;
        else if (c == 'i')
            parser->ignores_case = is_on;
        else if (c != 'm' && c != 's' && c != 'u') /* these change nothing within one line */
            break;
    }
    return regex_complain(parser, open, "a group that begins with an unknown '(?'",
                          "write '(?:...)' for a group, '(?i)' to ignore case, and '\\(' for a "
                          "plain parenthesis");
}

int regex_parse_options(struct regex_parser *parser, const char *open)
{
    if (parser->at == parser->end || *parser->at != '?')
        return REGEX_OPTIONS_GROUP;
    parser->at++;
    for (size_t i = 0; i < COUNT(refused_groups); i++) {
        if (!at_is(parser, refused_groups[i].text))
            continue;
        const char *instead = refused_groups[i].instead;
        return regex_complain(parser, open, refused_groups[i].problem,
                              instead ? instead
                                      : "this is not supported, so that every search takes linear "
                                        "time; search for the rest and look at what is found, or "
                                        "search twice");
    }
    if (at_is(parser, "<") || at_is(parser, "P<") || at_is(parser, "'")) {
        char close = at_is(parser, "'") ? '\'' : '>';
        parser->at += at_is(parser, "P<") ? 2 : 1;
        const char *end = memchr(parser->at, close, (size_t)(parser->end - parser->at));
        if (!end)
            return regex_complain(parser, open, "a group whose name does not end",
                                  "write '(?<name>...)' or '(...)'");
        parser->at = end + 1;
        return REGEX_OPTIONS_GROUP;
    }
    return parse_letters(parser, open);
}

/* ---- the rest */

static int64_t add_any(struct regex_parser *parser)
{
    struct regex_set none = { 0 };

    return regex_add_set(parser, &none, true);
}

int64_t regex_parse_atom(struct regex_parser *parser)
{
    const char *at = parser->at;

    switch (*at) {
    case '\\':
        return parse_escape(parser);
    case '[':
        return regex_parse_brackets(parser);
    case '(':
        parser->at++;
        return regex_parse_group(parser, at);
    case '.':
        parser->at++;
        return add_any(parser);
    case '^':
        parser->at++;
        return add_assertion(parser, REGEX_AT_BEGIN);
    case '$':
        parser->at++;
        return add_assertion(parser, REGEX_AT_END);
    case '*':
    case '+':
    case '?':
        return regex_complain(parser, at, "a quantifier with nothing to repeat",
                              "'*', '+' and '?' stand behind what they repeat, as in '.*'; for the "
                              "character itself write '\\*', '\\+' or '\\?'");
    default:
        return regex_add_character(parser, next_character(parser));
    }
}
