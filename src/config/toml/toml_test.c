/* worlds: user */
#include "toml.h"

#include <errno.h>
#include <math.h>

#include "base/buffer.h"
#include "config/decode.h"
#include "test/check.h"

#define S(text) text, sizeof(text) - 1

/* ---- where mistakes are, and what is said */

struct mistake {
    const char *text;
    size_t n;
    unsigned line, column;
    const char *fragment;
};

static const struct mistake mistakes[] = {
    /* keys */
    { S("= 1"), 1, 1, "expected a key, found '='" },
    { S("a"), 1, 2, "expected '=' after the key, found the end of the file" },
    { S("a\n"), 1, 2, "expected '=' after the key, found the end of the line" },
    { S("a b = 1"), 1, 3, "expected '=' after the key, found 'b'" },
    { S("a. = 1"), 1, 4, "expected a key, found '='" },
    { S("a..b = 1"), 1, 3, "expected a key, found '.'" },
    { S(".a = 1"), 1, 1, "expected a key, found '.'" },
    { S("\n\n\tk\xC3\xA9y = 1"), 3, 3, "expected '=' after the key, found '\xC3\xA9'" },
    { S("\xE2\x82\xAC = 1"), 1, 1, "expected a key, found '\xE2\x82\xAC'" },
    { S("\"\"\"k\"\"\" = 1"), 1, 1, "a key cannot be a string of several lines" },
    { S("'k\n"), 1, 3, "expected text or the closing ', found the end of the line" },
    { S("a = 1 = 2"), 1, 7, "expected the end of the line, found '='" },
    { S("a = 1 b = 2"), 1, 7, "expected the end of the line, found 'b'" },
    /* headers */
    { S("[]"), 1, 2, "expected a key, found ']'" },
    { S("[a"), 1, 3, "expected ']' after the name, found the end of the file" },
    { S("[a\n"), 1, 3, "expected ']' after the name, found the end of the line" },
    { S("[a b]"), 1, 4, "expected ']' after the name, found 'b'" },
    { S("[[a]"), 1, 5, "expected a second ']', found the end of the file" },
    { S("[[a] ]"), 1, 5, "expected a second ']', found ' '" },
    { S("[ [a]]"), 1, 3, "expected a key, found '['" },
    { S("[a]]"), 1, 4, "expected the end of the line, found ']'" },
    { S("[a] b = 1"), 1, 5, "expected the end of the line, found 'b'" },
    { S("[a.]"), 1, 4, "expected a key, found ']'" },
    /* values */
    { S("a ="), 1, 4, "expected a value, found the end of the file" },
    { S("a = \n"), 1, 5, "expected a value, found the end of the line" },
    { S("a = # no"), 1, 5, "expected a value, found '#'" },
    { S("a = True"), 1, 5, "found the word 'True'; write true, in lower case" },
    { S("a = FALSE"), 1, 5, "found the word 'FALSE'; write false, in lower case" },
    { S("a = yes"), 1, 5, "found the word 'yes'; write text in quotes" },
    { S("a = truer"), 1, 5, "found the word 'truer'" },
    { S("a = info"), 1, 5, "found the word 'info'" },
    /* numbers */
    { S("a = 01"), 1, 5, "a number does not begin with a zero" },
    { S("a = -01"), 1, 6, "a number does not begin with a zero" },
    { S("a = 1__2"), 1, 7, "expected a digit after '_', found '_'" },
    { S("a = 1_"), 1, 7, "expected a digit after '_', found the end of the file" },
    { S("a = 12x"), 1, 7, "expected the end of the number, found 'x'" },
    { S("a = 1."), 1, 7, "expected a digit, found the end of the file" },
    { S("a = .5"), 1, 5, "expected a value, found '.'; write a digit before the point" },
    { S("a = 1e"), 1, 7, "expected a digit, found the end of the file" },
    { S("a = 1.e2"), 1, 7, "expected a digit, found 'e'" },
    { S("a = ++1"), 1, 6, "expected a digit, found '+'" },
    { S("a = 0x"), 1, 7, "expected a hexadecimal digit, found the end of the file" },
    { S("a = 0xG"), 1, 7, "expected a hexadecimal digit, found 'G'" },
    { S("a = 0o8"), 1, 7, "expected an octal digit, found '8'" },
    { S("a = 0b12"), 1, 8, "expected the end of the number, found '2'" },
    { S("a = +0x1"), 1, 7, "expected the end of the number, found 'x'" },
    { S("a = 9223372036854775808"), 1, 5, "the integer does not fit into 64 bits; the range is" },
    { S("a = -9223372036854775809"), 1, 5, "the integer does not fit into 64 bits" },
    { S("a = 0x8000000000000000"), 1, 5, "the integer does not fit into 64 bits" },
    { S("a = 1e999"), 1, 5, "the float is too large" },
    { S("a = +infinity"), 1, 9, "expected the end of the number, found 'i'" },
    /* dates and times */
    { S("a = 1979-13-01"), 1, 10, "the month is 1 to 12, not 13" },
    { S("a = 1979-00-01"), 1, 10, "the month is 1 to 12, not 0" },
    { S("a = 1979-01-32"), 1, 13, "the day is 1 to 31, not 32" },
    { S("a = 2023-02-29"), 1, 13, "month 2 of 2023 has 28 days, not 29" },
    { S("a = 1900-02-29"), 1, 13, "month 2 of 1900 has 28 days, not 29" },
    { S("a = 1979-1-01"), 1, 11, "expected two digits for the month, found '-'" },
    { S("a = 199-01-01"), 1, 8, "expected four digits for the year, found '-'" },
    { S("a = 10000-01-01"), 1, 9, "expected '-' after the year, found '0'" },
    { S("a = 1979-01-01T"), 1, 16, "expected two digits for the hour, found the end of the file" },
    { S("a = 24:00:00"), 1, 5, "the hour is 0 to 23, not 24" },
    { S("a = 00:60:00"), 1, 8, "the minute is 0 to 59, not 60" },
    { S("a = 00:00:61"), 1, 11, "the second is 0 to 60, not 61" },
    { S("a = 00:00"), 1, 10, "expected ':' and the seconds after the minute" },
    { S("a = 00:00:00."), 1, 14, "expected a digit after the point" },
    { S("a = 00:00:00Z"), 1, 13, "expected the end of the date or time, found 'Z'" },
    { S("a = 123:00:00"), 1, 7, "expected ':' after the hour, found '3'" },
    { S("a = 1979-01-01T00:00:00+24:00"), 1, 25, "the hour is 0 to 23, not 24" },
    { S("a = 1979-01-01T00:00:00+1"), 1, 26, "expected two digits for the hour" },
    { S("a = 1979-01-01 x"), 1, 16, "expected the end of the line, found 'x'" },
    /* strings */
    { S("a = \"b"), 1, 7, "expected text or the closing \", found the end of the file" },
    { S("a = \"b\n"), 1, 7, "expected text or the closing \", found the end of the line" },
    { S("a = \"\\q\""), 1, 7, "after a backslash, found 'q'" },
    { S("a = \"\\x41\""), 1, 7, "after a backslash, found 'x'" },
    { S("a = \"\xE2\x82\xAC\\u12G4\""), 1, 11,
      "expected four hexadecimal digits after \\u, found 'G'" },
    { S("a = \"\\U0011\""), 1, 12, "expected eight hexadecimal digits after \\U, found '\"'" },
    { S("a = \"xy\\uD800\""), 1, 8, "U+D800 is no character that Unicode allows" },
    { S("a = \"\\U00110000\""), 1, 6, "U+110000 is no character that Unicode allows" },
    { S("a = \"\"\"\nb\n"), 3, 1,
      "expected text or the closing \"\"\", found the end of the file" },
    { S("a = \"\"\"\nb \\ c\"\"\""), 2, 4, "after a backslash, found ' '" },
    { S("a = '''b''\n"), 2, 1, "expected text or the closing ''', found the end of the file" },
    { S("a = \"\"\"b\"\"\"\"\"\""), 1, 14, "expected the end of the line, found '\"'" },
    { S("a = \"b\0\""), 1, 7, "found the control character U+0000" },
    { S("a = 'b\x7F'"), 1, 7, "found the control character U+007F" },
    { S("a = '''\nb\r'''"), 2, 2, "found a carriage return without a line feed" },
    /* arrays and inline tables */
    { S("a = [1"), 1, 7, "expected ',' or ']' in the array, found the end of the file" },
    { S("a = [1 2]"), 1, 8, "expected ',' or ']' in the array, found '2'" },
    { S("a = [1,,2]"), 1, 8, "expected a value, found ','" },
    { S("a = [,]"), 1, 6, "expected a value, found ','" },
    { S("a = [\n  1,\n  2\nb = 3"), 4, 1, "in the array that begins at 1:5, found 'b'" },
    { S("a = [\n  \"\xC3\xA9\xC3\xA9\" x"), 2, 8, "expected ',' or ']'" },
    { S("a = {b = 1"), 1, 11,
      "expected ',' or '}' in the inline table, found the end of the file" },
    { S("a = {b = 1,}"), 1, 12, "found '}'; write no comma after the last value" },
    { S("a = {\nb = 1}"), 1, 6,
      "found the end of the line; an inline table is written on one line" },
    { S("a = {b = 1\n}"), 1, 11, "found the end of the line; an inline table is written" },
    { S("a = {b = 1 c = 2}"), 1, 12, "expected ',' or '}' in the inline table, found 'c'" },
    /* bytes */
    { S("# \x01"), 1, 3, "found the control character U+0001" },
    { S("a = 1\r"), 1, 6, "expected the end of the line, found a carriage return without" },
    { S("# a\rb\n"), 1, 4, "a carriage return without a line feed" },
    { S("a = 1\nb = \"x\xFF\""), 2, 7, "the byte 0xFF is not part of valid UTF-8" },
    { S("# \xC3\xA9\xC3"), 1, 4, "the byte 0xC3 is not part of valid UTF-8" },
    { S("\xFF\xFE"), 1, 1, "the byte 0xFF is not part of valid UTF-8" },
    { S("a = 1 \xED\xA0\x80"), 1, 7, "the byte 0xED is not part of valid UTF-8" },
    { S("a = \"\"\"\n\xC0\x80"), 2, 1, "the byte 0xC0 is not part of valid UTF-8" },
    { S("a\0 = 1"), 1, 2, "found the control character U+0000" },
    { S("\xEF\xBB\xBF!"), 1, 1, "expected a key, found '!'" },
    { S("a = 1\n\xEF\xBB\xBF"), 2, 1, "expected a key, found" },
    { S("a = 1\r\nb = 2\r\n!"), 3, 1, "expected a key, found '!'" },
    { S("a\xC2\x85= 1"), 1, 2, "found the control character U+0085" },
    /* what is defined twice */
    { S("a = 1\na = 2"), 2, 1, "the key 'a' is repeated (first defined at 1:1)" },
    { S("\n  a = 1\n b = 2\n   'a' = 3"), 4, 4,
      "the key ''a'' is repeated (first defined at 2:3)" },
    { S("a.b = 1\na.b = 2"), 2, 3, "the key 'a.b' is repeated (first defined at 1:3)" },
    { S("a = {b.c = 1, b.c = 2}"), 1, 17, "the key 'b.c' is repeated (first defined at 1:8)" },
    { S("a = 1\na.b = 2"), 2, 1,
      "the key 'a' is an integer and holds no keys (first defined at 1:1)" },
    { S("a = {}\na.b = 2"), 2, 1, "the inline table 'a' is complete (first defined at 1:1)" },
    { S("[a.b]\n[a]\nb.c = 1"), 3, 1, "cannot add to the table 'b' (first defined at 1:4)" },
    { S("[a]\n[b]\n[a]"), 3, 2, "the table 'a' is repeated (first defined at 1:2)" },
    { S("[a]\nb.c = 1\n[a.b]"), 3, 4, "the table 'a.b' is repeated (first defined at 2:1)" },
    { S("[a.b.c]\n[a]\nb.d = 1\n[a.b]"), 4, 4,
      "the table 'a.b' is repeated (first defined at 3:1)" },
    { S("[a.b.c]\n[a]\nb.c.d = 1"), 3, 3, "cannot add to the table 'b.c' (first defined at 1:6)" },
    { S("[a.b]\nc.d = 1\n[a]\nb.c.e = 1"), 4, 1,
      "cannot add to the table 'b' (first defined at 1:4)" },
    { S("a = 1\n[a]"), 2, 2, "the key 'a' is already an integer (first defined at 1:1)" },
    { S("a = 1\n[a.b]"), 2, 2, "the key 'a' is an integer and cannot hold a table" },
    { S("a = {}\n[a]"), 2, 2, "is already an inline table, which is complete (first" },
    { S("a = {b = {}}\n[a.b.c]"), 2, 2, "the key 'a' is an inline table, which is complete and" },
    { S("a = [{}]\n[[a]]"), 2, 3, "the key 'a' is already an array (first defined at 1:1)" },
    { S("a = []\n[a.b]"), 2, 2, "the key 'a' is an array and cannot hold a table" },
    { S("[a]\n[[a]]"), 2, 3, "the key 'a' is already a table (first defined at 1:2)" },
    { S("[a.b]\n[[a]]"), 2, 3, "the key 'a' is already a table (first defined at 1:2)" },
    { S("[[a]]\n[a]"), 2, 2,
      "is already an array of tables (first defined at 1:3); write [[...]]" },
    { S("[a]\nb = 1\n[c]\n[a.b.c]"), 4, 4, "the key 'a.b' is an integer and cannot hold" },
};

/* The whole line as it is printed, for the fragment may be in the fix. */
static char *line_of(const struct findings *findings, size_t i)
{
    struct buffer text = { 0 };

    finding_print(&text, &findings->items[i]);
    return buffer_take_string(&text);
}

TEST(a_mistake_is_named_where_it_is)
{
    size_t n_wrong = 0;

    for (size_t i = 0; i < sizeof mistakes / sizeof *mistakes; i++) {
        const struct mistake *mistake = &mistakes[i];
        struct document *document = NULL;
        struct findings findings = { 0 };
        int r = toml_parse("f", mistake->text, mistake->n, &document, &findings);
        char *line = findings.n > 0 ? line_of(&findings, 0) : NULL;

        if (r != -EINVAL || document || findings.n != 1 ||
            findings.items[0].origin.line != mistake->line ||
            findings.items[0].origin.column != mistake->column ||
            findings.items[0].severity != SEVERITY_ERROR || !strstr(line, mistake->fragment)) {
            printf("# row %zu, expected %u:%u %s\n#   r = %d, %zu findings, first: %s", i,
                   mistake->line, mistake->column, mistake->fragment, r, findings.n,
                   line ? line : "none\n");
            n_wrong++;
        }
        free(line);
        findings_done(&findings);
    }
    CHECK(n_wrong == 0);
}

/* ---- several mistakes */

/* What is found, as printed. */
static char *findings_of(const char *text)
{
    struct document *document = NULL;
    struct findings findings = { 0 };
    struct buffer out = { 0 };

    CHECK(toml_parse("f", text, strlen(text), &document, &findings) == -EINVAL && !document);
    for (size_t i = 0; i < findings.n; i++)
        buffer_printf(&out, "%u:%u ", findings.items[i].origin.line,
                      findings.items[i].origin.column);
    findings_done(&findings);
    return buffer_take_string(&out);
}

static void check_findings(const char *text, const char *expected)
{
    char *places = findings_of(text);

    CHECK_STR(places, expected);
    free(places);
}

TEST(goes_on_after_a_mistake_on_one_line)
{
    check_findings("a = x\nb = 1\nb = 2\n[c\nd = 'e\n", "1:5 3:1 4:3 5:7 ");
    check_findings("a = {b = 1,}\nc = 01\n", "1:12 2:5 ");
    check_findings("# \x01\na = \n", "1:3 2:5 ");
}

TEST(does_not_guess_where_something_of_several_lines_ends)
{
    check_findings("a = [\n1 2\n]\nb = x\n", "2:3 ");
    check_findings("a = \"\"\"\n\\q\n\"\"\"\nb = x\n", "2:2 ");
    check_findings("a = [{b = 1,}]\nc = x\n", "1:13 ");
}

TEST(keys_under_a_refused_header_are_read_but_not_compared)
{
    check_findings("[a]\nb = 1\n[a]\nb = 2\nc = x\n[d\nb = 3\nb = 4\n[e]\nf = 1\nf = 2\n",
                   "3:2 5:5 6:3 11:1 ");
}

TEST(what_is_no_toml_is_given_up_soon)
{
    check_findings("!\n!\n!\n!\n!\n!\n!\n", "1:1 2:1 3:1 4:1 5:1 ");
}

TEST(counts_more_mistakes_than_it_keeps)
{
    struct buffer text = { 0 };
    struct document *document = NULL;
    struct findings findings = { 0 };

    for (int i = 0; i < 1001; i++)
        buffer_append_string(&text, "a = 1\n");
    CHECK(toml_parse("f", text.data, text.length, &document, &findings) == -EINVAL);
    CHECK(findings.n == FINDINGS_MAX && findings.n_errors == 1000 && findings.n_dropped == 900);
    findings_done(&findings);
    buffer_done(&text);
}

TEST(a_long_key_is_cut_in_the_sentence)
{
    char text[2 * 302 + 20] = { 0 };
    struct document *document = NULL;
    struct findings findings = { 0 };

    for (int i = 0; i < 2; i++) {
        strcat(text, "\"");
        for (int j = 0; j < 100; j++)
            strcat(text, "\xE2\x82\xAC");
        strcat(text, "\" = 1\n");
    }
    CHECK(toml_parse("f", text, strlen(text), &document, &findings) == -EINVAL);
    CHECK(findings.n == 1 && findings.items[0].origin.line == 2);
    CHECK(strlen(findings.items[0].message) < 120);
    CHECK(strstr(findings.items[0].message, "\xE2\x82\xAC' is repeated"));
    findings_done(&findings);
}

/* ---- what is right */

static struct document *parse(const char *text, size_t n)
{
    struct document *document = NULL;
    struct findings findings = { 0 };
    int r = toml_parse("f", text, n, &document, &findings);

    for (size_t i = 0; i < findings.n; i++) {
        char *line = line_of(&findings, i);
        printf("# %s", line);
        free(line);
    }
    CHECK(r == 0 && document && findings.n == 0);
    return document;
}

static void check_decoded(const char *text, size_t n, const char *expected)
{
    struct document *document = parse(text, n);
    struct buffer out = { 0 };

    decode_print(&out, document);
    CHECK_STR(out.data, expected);
    buffer_done(&out);
    document_free(document);
}

/* One value each, and how the conformance tests would write it. */
static const struct {
    const char *text, *type, *value;
} values[] = {
    { "0", "integer", "0" },
    { "+0", "integer", "0" },
    { "-0", "integer", "0" },
    { "1_000", "integer", "1000" },
    { "9223372036854775807", "integer", "9223372036854775807" },
    { "-9223372036854775808", "integer", "-9223372036854775808" },
    { "0xdead_BEEF", "integer", "3735928559" },
    { "0x7fffffffffffffff", "integer", "9223372036854775807" },
    { "0o0755", "integer", "493" },
    { "0b1101", "integer", "13" },
    { "1.5", "float", "1.5" },
    { "-0.0", "float", "-0" },
    { "1e06", "float", "1000000" },
    { "1_0.0_1e+0_2", "float", "1001" },
    { "0.1", "float", "0.1" },
    { "0.30000000000000004", "float", "0.30000000000000004" },
    { "1e-999", "float", "0" },
    { "inf", "float", "inf" },
    { "-inf", "float", "-inf" },
    { "+nan", "float", "nan" },
    { "true", "bool", "true" },
    { "false", "bool", "false" },
    { "1979-05-27T07:32:00Z", "datetime", "1979-05-27T07:32:00Z" },
    { "1979-05-27 07:32:00.999999999999-07:30", "datetime", "1979-05-27T07:32:00.999999999-07:30" },
    { "1979-05-27t07:32:00.50z", "datetime", "1979-05-27T07:32:00.5Z" },
    { "2000-02-29T23:59:60+00:00", "datetime", "2000-02-29T23:59:60Z" },
    { "1979-05-27T07:32:00", "datetime-local", "1979-05-27T07:32:00" },
    { "0001-01-01", "date-local", "0001-01-01" },
    { "1979-05-27 # day", "date-local", "1979-05-27" },
    { "07:32:00.000001", "time-local", "07:32:00.000001" },
    { "\"\"", "string", "" },
    { "\"\\b\\t\\n\\f\\r\\\"\\\\\"", "string", "\\b\\t\\n\\f\\r\\\"\\\\" },
    { "\"\\u0000\\u00e9\\U0001F600\"", "string", "\\u0000\xC3\xA9\xF0\x9F\x98\x80" },
    { "\"a\tb\"", "string", "a\\tb" },
    { "'C:\\x'", "string", "C:\\\\x" },
    { "''''a''''", "string", "'a'" },
    { "\"\"\"\"\"a\"\"\"\"\"", "string", "\\\"\\\"a\\\"\\\"" },
    { "\"\"\"\n\na \\  \n\n  b\"\"\"", "string", "\\na b" },
    { "\"\"\"\r\na\r\nb\"\"\"", "string", "a\\nb" },
    { "'''\n'''", "string", "" },
};

TEST(reads_every_kind_of_value)
{
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        char text[128];
        char expected[256];

        (void)snprintf(text, sizeof text, "k = %s", values[i].text);
        (void)snprintf(expected, sizeof expected, "{\"k\":{\"type\":\"%s\",\"value\":\"%s\"}}\n",
                       values[i].type, values[i].value);
        check_decoded(text, strlen(text), expected);
    }
}

TEST(tables_can_be_written_in_pieces)
{
    check_decoded(S("[a.b]\n[a]\nc.d = 1\nc.e = 2\n[a.c.f]\n"),
                  "{\"a\":{\"b\":{},\"c\":{\"d\":{\"type\":\"integer\",\"value\":\"1\"},"
                  "\"e\":{\"type\":\"integer\",\"value\":\"2\"},\"f\":{}}}}\n");
    check_decoded(S("[[a]]\n[a.b]\n[[a.c]]\n[[a]]\n[a.b]\n[[a.c]]\n[[a.c]]\n"),
                  "{\"a\":[{\"b\":{},\"c\":[{}]},{\"b\":{},\"c\":[{},{}]}]}\n");
    check_decoded(S("[a.b.c]\n[a]\nb.d = {}\n[a.b.e]\n"),
                  "{\"a\":{\"b\":{\"c\":{},\"d\":{},\"e\":{}}}}\n");
    check_decoded(S("[[a.b]]\n[a]\nc = []\n"), "{\"a\":{\"b\":[{}],\"c\":[]}}\n");
    check_decoded(S("\"\" = {\"\".'' = {}}\n"), "{\"\":{\"\":{\"\":{}}}}\n");
    check_decoded(S("\"a\\u0000b\" = {}\n\"a\" = {}"), "{\"a\\u0000b\":{},\"a\":{}}\n");
}

TEST(the_order_of_the_file_is_kept)
{
    check_decoded(S("b = []\na = [[], {}]\n[c]\n"), "{\"b\":[],\"a\":[[],{}],\"c\":{}}\n");
}

TEST(nothing_is_a_document_too)
{
    check_decoded(S(""), "{}\n");
    check_decoded(NULL, 0, "{}\n");
    check_decoded(S("\xEF\xBB\xBF"), "{}\n");
    check_decoded(S("# comment"), "{}\n");
    check_decoded(S("\r\n \t\r\n"), "{}\n");
}

TEST(a_byte_order_mark_and_crlf_make_no_difference)
{
    check_decoded(S("\xEF\xBB\xBF[a] # c\r\nb = [\r\n]\r\n"), "{\"a\":{\"b\":[]}}\n");
}

/* ---- places in the tree */

static void check_place(struct position place, unsigned line, unsigned column)
{
    if (place.line != line || place.column != column)
        printf("# %u:%u, expected %u:%u\n", place.line, place.column, line, column);
    CHECK(place.line == line && place.column == column);
}

static const struct node_entry *entry_of(const struct node *table, const char *key)
{
    const struct node_entry *entry = node_table_find(table->table, key, strlen(key));

    CHECK(entry);
    return entry;
}

TEST(every_key_and_value_knows_its_place)
{
    struct document *document = parse(S("a = 1\n"
                                        "  \"\xC3\xA9\"  =  [ 'x', # c\n"
                                        "\ttrue]\n"
                                        "[t.u] # \xE2\x82\xAC\n"));
    const struct node *root = &document->root;
    const struct node_entry *entry = entry_of(root, "a");

    check_place(entry->key_place, 1, 1);
    check_place(entry->value.place, 1, 5);
    entry = entry_of(root, "\xC3\xA9");
    check_place(entry->key_place, 2, 3);
    check_place(entry->value.place, 2, 11);
    check_place(entry->value.array->first->place, 2, 13);
    check_place(entry->value.array->last->place, 3, 2);
    entry = entry_of(root, "t");
    check_place(entry->key_place, 4, 2);
    check_place(entry->value.place, 4, 2);
    entry = entry_of(&entry->value, "u");
    check_place(entry->key_place, 4, 4);
    check_place(entry->value.place, 4, 1);
    document_free(document);

    document = parse(S("k . l = {m = \"\"\"\n\"\"\", n = 1}\n [[ v ]]\n[[v]]\n[v.w.x]\n[v.w]"));
    root = &document->root;
    entry = entry_of(root, "k");
    check_place(entry->key_place, 1, 1);
    entry = entry_of(&entry->value, "l");
    check_place(entry->key_place, 1, 5);
    check_place(entry->value.place, 1, 9);
    check_place(entry_of(&entry->value, "m")->value.place, 1, 14);
    check_place(entry_of(&entry->value, "n")->key_place, 2, 6);
    check_place(entry_of(&entry->value, "n")->value.place, 2, 10);
    entry = entry_of(root, "v");
    check_place(entry->key_place, 3, 5);
    check_place(entry->value.place, 3, 2);
    check_place(entry->value.array->first->place, 3, 2);
    check_place(entry->value.array->last->place, 4, 1);
    entry = entry_of(entry->value.array->last, "w");
    check_place(entry->key_place, 6, 4); /* where it is defined, not where it was implied */
    check_place(entry->value.place, 6, 1);
    document_free(document);
}

/* ---- limits */

static int parse_buffer(struct buffer *text, struct document **out, struct findings *findings)
{
    CHECK(!text->failed);
    int r = toml_parse("f", text->data, text->length, out, findings);
    buffer_done(text);
    return r;
}

static void append_times(struct buffer *text, const char *string, int n)
{
    for (int i = 0; i < n; i++)
        buffer_append_string(text, string);
}

/* Fits n_max times, but not once more; then n_passed of them stand before the place. */
static void check_depth(const char *before, const char *open, const char *middle, const char *close,
                        int n_max, size_t n_passed)
{
    for (int more = 0; more <= 2; more++) {
        int n = more == 2 ? 10000 : n_max + more;
        struct document *document = NULL;
        struct findings findings = { 0 };
        struct buffer text = { 0 };

        buffer_append_string(&text, before);
        append_times(&text, open, n);
        buffer_append_string(&text, middle);
        append_times(&text, close, n);
        int r = parse_buffer(&text, &document, &findings);
        if (more == 0) {
            CHECK(r == 0);
            decode_print(&text, document);
            CHECK(!text.failed);
            buffer_done(&text);
        } else {
            CHECK(r == -EINVAL && findings.n == 1 && !document);
            CHECK(strstr(findings.items[0].message, "more than 512 deep"));
            CHECK(findings.items[0].origin.column == strlen(before) + strlen(open) * n_passed + 1);
        }
        document_free(document);
        findings_done(&findings);
    }
}

TEST(nesting_ends_somewhere_in_every_form)
{
    check_depth("a = ", "[", "", "]", NODE_DEPTH_MAX, NODE_DEPTH_MAX);
    check_depth("a = ", "{a=", "{}", "}", NODE_DEPTH_MAX - 1, NODE_DEPTH_MAX);
    check_depth("", "a.", "a = 1", "", NODE_DEPTH_MAX, NODE_DEPTH_MAX);
    check_depth("[", "a.", "a]", "", NODE_DEPTH_MAX - 1, NODE_DEPTH_MAX);
    check_depth("a = {", "a.", "a = 1}", "", NODE_DEPTH_MAX - 1, NODE_DEPTH_MAX - 1);
}

TEST(forms_of_nesting_add_up)
{
    struct document *document = NULL;
    struct findings findings = { 0 };
    struct buffer text = { 0 };

    buffer_append_string(&text, "[[");
    append_times(&text, "a.", 300);
    buffer_append_string(&text, "a]]\n"); /* 300 tables, an array, a table */
    append_times(&text, "b.", 100);
    buffer_append_string(&text, "b = ");
    append_times(&text, "[", 200);
    CHECK(parse_buffer(&text, &document, &findings) == -EINVAL && findings.n == 1);
    CHECK(findings.items[0].origin.line == 2);
    CHECK(findings.items[0].origin.column == 200 + 5 + NODE_DEPTH_MAX - 402);
    findings_done(&findings);
}

static size_t count_keys(unsigned n)
{
    struct document *document = NULL;
    struct findings findings = { 0 };
    struct buffer text = { 0 };

    for (unsigned i = 0; i < n; i++)
        buffer_printf(&text, "key%u = %u\n", i, i);
    CHECK(parse_buffer(&text, &document, &findings) == 0);
    size_t count = document->n_nodes;
    CHECK(document->root.table->n == n);
    char last[32];
    (void)snprintf(last, sizeof last, "key%u", n - 1);
    const struct node_entry *entry = entry_of(&document->root, last);
    CHECK(entry->value.integer == n - 1 && entry->key_place.line == n);
    document_free(document);
    return count;
}

TEST(reads_many_keys)
{
    CHECK(count_keys(10000) == 10000);
    CHECK(count_keys(100000) == 100000);
}

/* Columns of a long line are counted once, not anew for each value. */
TEST(reads_ten_mebibytes_on_one_line)
{
    struct document *document = NULL;
    struct findings findings = { 0 };
    struct buffer text = { 0 };
    size_t n = 10 * 1024 * 1024 / 10;

    buffer_append_string(&text, "a = [");
    append_times(&text, "\"\xC3\xA9\xC3\xA9\", 1,", (int)n / 2 * 2);
    buffer_append_string(&text, "]");
    CHECK(text.length > 10 * 1024 * 1024);
    CHECK(parse_buffer(&text, &document, &findings) == -EINVAL); /* more than NODE_COUNT_MAX */
    CHECK(strstr(findings.items[0].message, "more than 2000000 values"));
    CHECK(findings.items[0].origin.column == 6 + 8 * (NODE_COUNT_MAX / 2));
    findings_done(&findings);

    findings = (struct findings){ 0 };
    buffer_append_string(&text, "a = [");
    append_times(&text, "\"ten bytes..\",", 750000);
    buffer_append_string(&text, "]");
    CHECK(text.length > 10 * 1024 * 1024);
    CHECK(parse_buffer(&text, &document, &findings) == 0);
    const struct node *array = node_get(&document->root, "a");
    CHECK(array->array->n == 750000 && document->n_nodes == 750001);
    check_place(array->array->last->place, 1, 6 + 749999 * 14);
    document_free(document);
}

TEST(reads_numbers_and_keys_of_a_mebibyte)
{
    struct document *document = NULL;
    struct findings findings = { 0 };
    struct buffer text = { 0 };

    append_times(&text, "key-", 1 << 18);
    buffer_append_string(&text, " = 0.");
    append_times(&text, "1234", 1 << 18);
    buffer_append_string(&text, "\nb = 1");
    append_times(&text, "0000", 1 << 18);
    CHECK(parse_buffer(&text, &document, &findings) == -EINVAL && findings.n == 1);
    CHECK(findings.items[0].origin.line == 2);
    CHECK(strstr(findings.items[0].message, "does not fit into 64 bits"));
    findings_done(&findings);
}

TEST(refuses_more_than_the_largest_size)
{
    struct document *document = NULL;
    struct findings findings = { 0 };
    char *text = calloc(1, NODE_TEXT_MAX + 1);

    memset(text, ' ', NODE_TEXT_MAX + 1);
    CHECK(toml_parse("f", text, NODE_TEXT_MAX + 1, &document, &findings) == -EINVAL);
    CHECK(findings.n == 1 && strstr(findings.items[0].message, "larger than 16 MiB"));
    CHECK(findings.items[0].origin.line == 0 && !document);
    findings_done(&findings);
    findings = (struct findings){ 0 };
    CHECK(toml_parse("f", text, NODE_TEXT_MAX, &document, &findings) == 0);
    document_free(document);
    free(text);
}
