/* worlds: user */
#include "base/json/copy.h"

#include <string.h>

#include "test/check.h"

static const char *copied(const char *text, struct buffer *out)
{
    struct json_document document;
    struct json_writer json;

    if (json_read(text, strlen(text), &document, NULL) < 0)
        return "not JSON";
    json_write_init(&json, out, false);
    json_copy(&json, document.root);
    json_write_finish(&json);
    json_document_done(&document);
    return out->data;
}

TEST(writes_what_was_read)
{
    static const char *const same[] = {
        "null",
        "true",
        "\"a\\nb\"",
        "[]",
        "{}",
        "[1,[2,{\"a\":null}],\"x\"]",
        "{\"b\":1,\"a\":{\"c\":[false]}}",
    };

    for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
        struct buffer out = { 0 };

        CHECK_STR(copied(same[i], &out), same[i]);
        buffer_done(&out);
    }
}

TEST(keeps_the_characters_of_numbers)
{
    static const char *const same[] = { "1", "1.0", "-0", "1e400",
                                        "123456789012345678901234567890" };

    for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
        struct buffer out = { 0 };

        CHECK_STR(copied(same[i], &out), same[i]);
        buffer_done(&out);
    }
}

TEST(drops_only_white_space)
{
    struct buffer out = { 0 };

    CHECK_STR(copied(" { \"a\" : [ 1 , 2 ] }\n", &out), "{\"a\":[1,2]}");
    buffer_done(&out);
}
