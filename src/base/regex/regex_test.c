/* worlds: user */
#include "regex.h"

#include <errno.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "test/check.h"

static coop_error *error;

static struct regex *make(const char *pattern, unsigned flags)
{
    struct regex *regex = NULL;

    coop_error_free(error);
    error = NULL;
    int r = regex_new(pattern, strlen(pattern), flags, &regex, &error);
    if ((r < 0) != (regex == NULL) || (r < 0) != (error != NULL))
        abort();
    return regex;
}

/* The lines that match, joined with '|'; what is wrong with the pattern, if something is. */
static const char *lines_of(const char *pattern, unsigned flags, const char *text, size_t n)
{
    static char out[4096];
    size_t length = 0;
    struct regex_line line = { 0 };
    struct regex *regex = make(pattern, flags);

    if (!regex)
        return coop_error_message(error);
    while (regex_next(regex, text, n, line.next, &line)) {
        if (line.hit < line.begin || line.hit > line.end || line.next <= line.begin)
            abort();
        length += (size_t)snprintf(out + length, sizeof out - length, "%s%.*s", length ? "|" : "",
                                   (int)(line.end - line.begin), text + line.begin);
    }
    out[length] = 0;
    regex_free(regex);
    return out;
}

#define LINES(pattern, text) lines_of(pattern, 0, text, sizeof(text) - 1)

static bool matches_with(const char *pattern, unsigned flags, const char *text)
{
    struct regex_line line;
    struct regex *regex = make(pattern, flags);

    if (!regex) {
        printf("# %s\n", coop_error_message(error));
        return false;
    }
    bool is_match = regex_next(regex, text, strlen(text), 0, &line);
    regex_free(regex);
    return is_match;
}

static bool matches(const char *pattern, const char *text)
{
    return matches_with(pattern, 0, text);
}

TEST(finds_the_lines_that_match)
{
    CHECK_STR(LINES("foo", "foo bar\nbar\nxfoo\n"), "foo bar|xfoo");
    CHECK_STR(LINES("^b", "ab\nb\nba"), "b|ba");
    CHECK_STR(LINES("b$", "ab\nb\nba"), "ab|b");
    CHECK_STR(LINES("a.*c", "a\nc\nabc\nac"), "abc|ac");
    CHECK_STR(LINES("[^x]", "x\n\ny\nxx"), "y");
    CHECK_STR(LINES("x|y|z", "a\ny\nz"), "y|z");
}

TEST(a_text_ends_its_last_line)
{
    CHECK_STR(LINES("c$", "a\nc"), "c");
    CHECK_STR(LINES("c$", "a\nc\n"), "c");
    struct regex *regex = make("^$", 0);
    struct regex_line line;
    CHECK(!regex_next(regex, "", 0, 0, &line));
    CHECK(!regex_next(regex, "a\n", 2, 0, &line));
    CHECK(!regex_next(regex, "a\n", 2, 2, &line));
    CHECK(regex_next(regex, "\n", 1, 0, &line));
    CHECK(line.begin == 0 && line.end == 0 && line.next == 1);
    CHECK(regex_next(regex, "a\n\nb", 4, 0, &line));
    CHECK(line.begin == 2 && line.end == 2 && line.next == 3);
    regex_free(regex);
    regex = make("x*", 0);
    CHECK(regex_next(regex, "a\n\nb", 4, 2, &line) && line.begin == 2 && line.end == 2);
    CHECK(regex_next(regex, "a\n\nb", 4, 3, &line) && line.begin == 3 && line.end == 4);
    CHECK(!regex_next(regex, "a\n\nb", 4, 4, &line));
    regex_free(regex);
}

TEST(knows_the_operators)
{
    CHECK(matches("^a{3}$", "aaa") && !matches("^a{3}$", "aa") && !matches("^a{3}$", "aaaa"));
    CHECK(matches("^a{2,}$", "aaaaa") && !matches("^a{2,}$", "a"));
    CHECK(matches("^a{,2}$", "") == false); /* no line at all */
    CHECK(matches("^xa{,2}$", "xaa") && !matches("^xa{,2}$", "xaaa"));
    CHECK(matches("^(ab|c)+d?$", "abcab") && !matches("^(ab|c)+d?$", "abcad"));
    CHECK(matches("^(a|)b$", "b"));
    CHECK(matches("^(a*)*$", "aaa") && matches("^(a*)*b$", "b") && matches("^(a?){3}b$", "aab"));
    CHECK(matches("^a+?b*?c??$", "aabb"));
    CHECK(matches("^(?:a)(?<n>b)(?P<m>c)$", "abc"));
    CHECK(matches("^()$|x", "x"));
}

TEST(braces_that_repeat_nothing_are_braces)
{
    CHECK(matches("^a{$", "a{") && matches("^{}$", "{}") && matches("^a{x}$", "a{x}"));
    CHECK(matches("interface{}", "interface{}") && matches("\\{\\{name\\}\\}", "{{name}}"));
    CHECK(matches("^a{1$", "a{1") && matches("^a{,}$", "a{,}"));
}

TEST(knows_escapes_and_classes)
{
    CHECK(matches("^\\d\\D\\w\\W\\s\\S$", "1a_- x"));
    CHECK(!matches("\\d", "x\xD9\xA1")); /* an Arabic digit */
    CHECK(matches("^[[:alpha:]][[:digit:][:upper:]]+$", "aZ9"));
    CHECK(matches("^[]a]+$", "]a]") && matches("^[^]a]+$", "bc") && !matches("^[^]a]+$", "b]"));
    CHECK(matches("^[a\\]\\-\\\\]+$", "a]-\\"));
    CHECK(matches("^[\\w.-]+$", "a.b-c_9") && matches("^[a-\\d]+$", "a-5"));
    CHECK(matches("^[^\\s\\n]+$", "abc") && !matches("^[^\\s]+$", "a c"));
    CHECK(matches("\\x41\\u00e9\\x{20AC}", "A\xC3\xA9\xE2\x82\xAC"));
    CHECK(matches("a\\tb\\.\\*\\/\\\"", "a\tb.*/\""));
    CHECK(matches("^[[:]+$", "[:") && matches("^[.[]+$", "[."));
}

TEST(knows_words_and_ends)
{
    CHECK(matches("\\bfoo\\b", "a foo.") && !matches("\\bfoo\\b", "afoo foob foo_"));
    CHECK(matches("\\Boo\\B", "foob") && !matches("\\Boo\\B", "oo foo"));
    CHECK(!matches("\\B", "c\xE2\x82\xAC"
                          "a")); /* not within a character */
    CHECK(matches("\\<a\\>", "b a c") && !matches("\\<a", "ba"));
    CHECK(matches("^\\b", "a") && !matches("^\\b", " a") && matches("a\\b$", "a"));
    CHECK(matches("(^|x)a", "a") && matches("a(x|$)", "a") && !matches("a^b", "ab"));
    CHECK(matches("x$", "x\r\n") && matches("^$", "\r\n") && !matches("^$", "x\r\n"));
    CHECK(matches("\\Aab\\z", "ab"));
}

TEST(takes_whole_characters)
{
    CHECK(matches("^.$", "\xC3\xA9") && !matches("^..$", "\xC3\xA9"));
    CHECK(matches("^...$", "a\xE2\x82\xAC\xF0\x9F\x98\x80"));
    CHECK(matches("^[\xC3\xA0-\xC3\xBF]+$", "\xC3\xA9\xC3\xA8"));
    CHECK(!matches("[\xC3\xA0-\xC3\xBF]", "\xC3\x89 \xC3 \xA9"));
    CHECK(matches("^[^a]$", "\xF4\x8F\xBF\xBF") && !matches(".", "\xF4\x90\x80\x80"));
    CHECK(!matches("^.$", "\xFF") && !matches(".", "\xED\xA0\x80") && !matches(".", "\xC0\x80"));
    CHECK(matches("a.*b", "a\xE2\x82\xAC"
                          "b") &&
          !matches("a.b", "a\xE9"
                          "b"));
    CHECK(matches("\xE2\x82\xAC", "5 \xE2\x82\xAC"));
}

TEST(ignores_case_where_asked)
{
    CHECK(matches_with("straSSe [a-c]", REGEX_IGNORE_CASE, "STRasse B"));
    CHECK(matches_with("\xC3\xA9\xD0\xB6\xCF\x83", REGEX_IGNORE_CASE, "\xC3\x89\xD0\x96\xCE\xA3"));
    CHECK(matches_with("[\xC3\xA0-\xC3\xBF]", REGEX_IGNORE_CASE, "\xC3\x89"));
    CHECK(!matches_with("[^a]", REGEX_IGNORE_CASE, "aA"));
    CHECK(matches("a(?i)b", "aB") && !matches("a(?i)b", "AB"));
    CHECK(matches("(?i:a)b", "Ab") && !matches("(?i:a)b", "aB"));
    CHECK(matches("((?i)a)b", "Ab") && !matches("((?i)a)b", "AB"));
    CHECK(matches("(?i)a(?-i)b", "Ab") && !matches("(?i)a(?-i)b", "AB"));
    CHECK(!matches("a", "A"));
}

TEST(plain_text_is_plain)
{
    CHECK(matches_with("a.b(*[", REGEX_LITERAL, "xa.b(*[y") &&
          !matches_with("a.b", REGEX_LITERAL, "axb"));
    CHECK(matches_with("a.B", REGEX_LITERAL | REGEX_IGNORE_CASE, "A.b"));
    CHECK(matches_with("\xC3\x89", REGEX_LITERAL | REGEX_IGNORE_CASE, "\xC3\xA9"));
}

TEST(texts_longer_than_the_fast_search_takes_are_found)
{
    char text[300];

    memset(text, 'a', sizeof text - 1);
    text[sizeof text - 1] = 0;
    CHECK(matches_with(text, REGEX_LITERAL, text));
    CHECK(!matches_with(text, REGEX_LITERAL, text + 1));
    text[100] = 'b';
    CHECK(matches("^a{100}ba{198}$", text));
}

TEST(says_what_is_wrong_and_what_to_write)
{
    static const struct {
        const char *pattern;
        const char *problem;
    } rows[] = {
        { "(a)\\1", "a back reference at character 4" },
        { "(?<n>a)\\k<n>", "a back reference" },
        { "a(?=b)", "look-ahead at character 2" },
        { "a(?!b)", "negative look-ahead" },
        { "(?<=a)b", "look-behind" },
        { "(?<!a)b", "negative look-behind" },
        { "(?>a)", "an atomic group" },
        { "(?x)a", "an unknown '(?'" },
        { "foo(", "a '(' without its ')' at character 4: close it; for a plain parenthesis" },
        { "foo)", "a ')' without its '('" },
        { "[a", "a '[' without its ']' at character 1" },
        { "[a\\", "a '[' without its ']'" },
        { "[]", "a '[' without its ']'" },
        { "[b-a]", "a range in brackets that runs backwards" },
        { "[[:foo:]]", "an unknown class" },
        { "*.c", "a quantifier with nothing to repeat at character 1" },
        { "a|*", "a quantifier with nothing to repeat" },
        { "a**", "a quantifier behind another one" },
        { "a*+", "possessive" },
        { "a{1001}", "more than 1000 times" },
        { "a{99999999999999999999}", "more than 1000 times" },
        { "a{3,2}", "m smaller than n" },
        { "a\\", "a backslash with nothing behind it" },
        { "\\y", "an unknown escape" },
        { "\\pL", "a Unicode property" },
        { "a\\nb", "a line break at character 2" },
        { "a\nb", "a line break at character 2" },
        { "\\x4", "a character's number that is not whole" },
        { "\\x{110000}", "a number that no character has" },
        { "\\ud800", "a number that no character has" },
        { "a\xFF", "not UTF-8" },
        { "\xC3\xA9(", "at character 2" }, /* characters, not bytes */
        { "(a{1000}){1000}", "too large" },
        { "((((){1000}){1000}){1000}){1000}", "too large" },
        { ".{1000}.{1000}.{1000}", "too large" },
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct regex *regex = make(rows[i].pattern, 0);
        if (regex)
            printf("# taken: %s\n", rows[i].pattern);
        CHECK(!regex && coop_error_errno(error) == EINVAL);
        if (!strstr(coop_error_message(error), rows[i].problem))
            CHECK_STR(coop_error_message(error), rows[i].problem);
    }
}

TEST(depth_is_limited)
{
    char pattern[1024] = "";

    for (size_t i = 0; i < 200; i++) {
        pattern[i] = '(';
        pattern[i + 201] = ')';
    }
    pattern[200] = 'a';
    CHECK(matches(pattern, "a"));
    memset(pattern, '(', 500);
    memset(pattern + 500, ')', 500);
    CHECK(!make(pattern, 0));
    CHECK(strstr(coop_error_message(error), "more than 200 deep"));
}

/* The number of sets of states grows with 2^20: the rows run out again and again. */
TEST(more_sets_than_rows_make_no_difference)
{
    enum { LENGTH = 60000 };
    auto_free char *text = malloc(LENGTH);
    uint32_t random = 1;

    for (size_t i = 0; i < LENGTH; i++) {
        random = random * 1664525 + 1013904223;
        text[i] = random >> 28 < 8 ? 'a' : 'b';
        if (i % 1000 == 999)
            text[i] = '\n';
    }
    struct regex *regex = make("a[ab]{20}c", 0);
    struct regex_line line;
    CHECK(regex);
    CHECK(!regex_next(regex, text, LENGTH, 0, &line));
    memcpy(text + LENGTH - 500, "abbbbbaaaaabbbbbaaaaac", 22);
    CHECK(regex_next(regex, text, LENGTH, 0, &line));
    CHECK(line.begin == LENGTH - 1000 && line.end == LENGTH - 1);
    regex_free(regex);
    regex = make("a[ab]{20}\\b.?$", 0);
    size_t n = 0;
    for (line.next = 0; regex_next(regex, text, LENGTH, line.next, &line);)
        n++;
    size_t expected = 0;
    for (size_t begin = 0; begin < LENGTH; begin += 1000)
        expected += text[begin + 978] == 'a';
    CHECK(n == expected && n > 10 && n < 50);
    regex_free(regex);
}

TEST(a_literal_in_many_lines_that_do_not_match_changes_nothing)
{
    char text[20000];
    size_t n = 0;

    while (n < sizeof text - 20)
        n += (size_t)sprintf(text + n, "%zu = foo\n", n);
    size_t begin = n;
    n += (size_t)sprintf(text + n, "foo = 1\n");
    struct regex *regex = make("foo = \\d", 0);
    struct regex_line line;
    CHECK(regex_next(regex, text, n, 0, &line) && line.begin == begin);
    CHECK(!regex_next(regex, text, n, line.next, &line));
    regex_free(regex);
}
