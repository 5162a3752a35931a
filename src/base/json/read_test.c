/* worlds: user */
#include "read.h"

#include <errno.h>
#include <stdint.h>

#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "test/check.h"

static const char *refusal(const char *text, size_t n)
{
    static char message[200];
    auto_error coop_error *err = NULL;
    struct json_document document;

    message[0] = '\0';
    if (json_read(text, n, &document, &err) == -EINVAL && !document.root && !document.blocks)
        (void)snprintf(message, sizeof message, "%s", coop_error_message(err));
    else
        json_document_done(&document);
    return message;
}

TEST(reads_every_kind)
{
    static const char text[] =
        " {\"a\": [null, true, false, -1.5e+3, \"x\"], \"b\": {}, \"c\":[]}\n";
    auto_json_document struct json_document document = { 0 };

    CHECK(json_read(text, sizeof text - 1, &document, NULL) == 0);
    CHECK(document.root->kind == JSON_OBJECT);
    const struct json_value *a = json_get(document.root, "a");
    CHECK(a && a->kind == JSON_ARRAY);
    const struct json_value *item = a->first;
    CHECK(item->kind == JSON_NULL && !item->name);
    item = item->next;
    CHECK(item->kind == JSON_BOOL && item->truth);
    item = item->next;
    CHECK(item->kind == JSON_BOOL && !item->truth);
    item = item->next;
    CHECK(item->kind == JSON_NUMBER);
    CHECK_STR(item->text, "-1.5e+3");
    item = item->next;
    CHECK(item->kind == JSON_TEXT && !item->next);
    CHECK_STR(item->text, "x");
    CHECK(json_get(document.root, "b")->kind == JSON_OBJECT);
    CHECK(!json_get(document.root, "b")->first && !json_get(document.root, "c")->first);
    CHECK(!json_get(document.root, "d") && !json_get(a, "a") && !json_get(NULL, "a"));
}

TEST(unescapes)
{
    static const char text[] = "\"\\\"\\\\\\/\\b\\f\\n\\r\\t \\u0041\\u00e4\\u20AC\\ud83d\\ude00\"";
    auto_json_document struct json_document document = { 0 };

    CHECK(json_read(text, sizeof text - 1, &document, NULL) == 0);
    CHECK_STR(document.root->text, "\"\\/\b\f\n\r\t A\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80");
}

TEST(refuses_with_a_place)
{
    static const struct {
        const char *text, *message;
    } cases[] = {
        { "", "line 1, column 1: a value is expected" },
        { " \n ", "line 2, column 2: a value is expected" },
        { "[1,]", "line 1, column 4: a value is expected" },
        { "{\"a\":1,}", "line 1, column 8: the name of a member is expected, in quotes" },
        { "{a:1}", "line 1, column 2: the name of a member is expected, in quotes" },
        { "{\"a\" 1}", "line 1, column 6: a ':' is expected" },
        { "{\"a\":1 \"b\":2}", "line 1, column 8: ',' or '}' is expected" },
        { "[1 2]", "line 1, column 4: ',' or ']' is expected" },
        { "[1", "line 1, column 3: ',' or ']' is expected" },
        { "{\"a\":1,\n\"a\":2}", "line 2, column 4: an object has a member twice" },
        { "{\"a\":1,\"\\u0061\":2}", "line 1, column 16: an object has a member twice" },
        { "1 2", "line 1, column 3: something follows the value" },
        { "01", "line 1, column 2: something follows the value" },
        { "1.", "line 1, column 3: a number is not complete" },
        { "-", "line 1, column 2: a number is not complete" },
        { "1e", "line 1, column 3: a number is not complete" },
        { "+1", "line 1, column 1: a value is expected" },
        { "nul", "line 1, column 1: a value is expected" },
        { "True", "line 1, column 1: a value is expected" },
        { "NaN", "line 1, column 1: a value is expected" },
        { "'a'", "line 1, column 1: a value is expected" },
        { "// x\n1", "line 1, column 1: a value is expected" },
        { "\"a", "line 1, column 2: a text has no end" },
        { "\"a\\", "line 1, column 2: a text has no end" },
        { "\"a\tb\"", "line 1, column 3: a control character stands in a text" },
        { "\"\\x\"", "line 1, column 3: no such escape" },
        { "\"\\u12g4\"", "line 1, column 7: '\\u' needs four hexadecimal digits" },
        { "\"\\u12\"", "line 1, column 4: '\\u' needs four hexadecimal digits" },
        { "\"\\u0000\"", "line 1, column 8: a text holds a NUL" },
        { "\"\\udc00\"", "line 1, column 8: half of a surrogate pair stands alone" },
        { "\"\\ud800x\"", "line 1, column 8: half of a surrogate pair stands alone" },
        { "\"\\ud800\\u0041\"", "line 1, column 14: half of a surrogate pair stands alone" },
        { "\"\xff\"", "line 1, column 2: this is no UTF-8" },
        { "\"\xc3\xa4\xc0\x80\"", "line 1, column 3: this is no UTF-8" },
        { "\xef\xbb\xbf{}", "line 1, column 1: a value is expected" },
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        CHECK_STR(refusal(cases[i].text, strlen(cases[i].text)), cases[i].message);
    CHECK_STR(refusal("\"a\0b\"", 5), "line 1, column 3: a control character stands in a text");
    CHECK_STR(refusal("{}\0", 3), "line 1, column 3: something follows the value");
}

TEST(depth_and_members_are_limited)
{
    struct json_document document;
    auto_buffer struct buffer text = { 0 };

    for (int i = 0; i < JSON_DEPTH_MAX; i++)
        buffer_append_char(&text, '[');
    for (int i = 0; i < JSON_DEPTH_MAX; i++)
        buffer_append_char(&text, ']');
    CHECK(json_read(text.data, text.length, &document, NULL) == 0);
    json_document_done(&document);
    text.length = 0;
    for (int i = 0; i < 100000; i++)
        buffer_append_char(&text, '[');
    CHECK_STR(refusal(text.data, text.length), "line 1, column 65: it is nested too deeply");
    text.length = 0;
    for (int i = 0; i <= JSON_MEMBERS_MAX; i++)
        buffer_printf(&text, "%s\"%d\":0", i > 0 ? "," : "{", i);
    buffer_append_char(&text, '}');
    CHECK(strstr(refusal(text.data, text.length), "too many members"));
}
