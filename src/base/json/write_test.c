/* worlds: user */
#include "write.h"

#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "test/check.h"

static void write_sample(struct json_writer *json)
{
    json_write_object_begin(json);
    json_write_key(json, "exit_code");
    json_write_int(json, -1);
    json_write_key(json, "walls");
    json_write_array_begin(json);
    json_write_text(json, "files");
    json_write_object_begin(json);
    json_write_object_end(json);
    json_write_array_begin(json);
    json_write_array_end(json);
    json_write_null(json);
    json_write_array_end(json);
    json_write_key(json, "limits");
    json_write_object_begin(json);
    json_write_key(json, "memory");
    json_write_uint(json, UINT64_MAX);
    json_write_object_end(json);
    json_write_key(json, "oom");
    json_write_bool(json, false);
    json_write_key(json, "hint");
    json_write_text(json, NULL);
    json_write_object_end(json);
    json_write_finish(json);
}

TEST(writes_compact_documents)
{
    auto_buffer struct buffer out = { 0 };
    struct json_writer json;

    json_write_init(&json, &out, false);
    write_sample(&json);
    CHECK_STR(out.data, "{\"exit_code\":-1,\"walls\":[\"files\",{},[],null],"
                        "\"limits\":{\"memory\":18446744073709551615},"
                        "\"oom\":false,\"hint\":null}");
}

TEST(writes_pretty_documents)
{
    auto_buffer struct buffer out = { 0 };
    struct json_writer json;

    json_write_init(&json, &out, true);
    write_sample(&json);
    CHECK_STR(out.data, "{\n"
                        "  \"exit_code\": -1,\n"
                        "  \"walls\": [\n"
                        "    \"files\",\n"
                        "    {},\n"
                        "    [],\n"
                        "    null\n"
                        "  ],\n"
                        "  \"limits\": {\n"
                        "    \"memory\": 18446744073709551615\n"
                        "  },\n"
                        "  \"oom\": false,\n"
                        "  \"hint\": null\n"
                        "}\n");
}

static void expect_string(const char *bytes, size_t n, const char *expected)
{
    auto_buffer struct buffer out = { 0 };
    struct json_writer json;

    json_write_init(&json, &out, false);
    json_write_string(&json, bytes, n);
    json_write_finish(&json);
    CHECK_STR(out.data, expected);
}

#define EXPECT_STRING(literal, expected) expect_string(literal, sizeof(literal) - 1, expected)

TEST(escapes_strings)
{
    expect_string(NULL, 0, "\"\"");
    EXPECT_STRING("plain", "\"plain\"");
    EXPECT_STRING("say \"hi\" \\ /", "\"say \\\"hi\\\" \\\\ /\"");
    EXPECT_STRING("\b\t\n\f\r", "\"\\b\\t\\n\\f\\r\"");
    EXPECT_STRING("\x1b[0m", "\"\\u001b[0m\"");
    EXPECT_STRING("a\0b", "\"a\\u0000b\"");
    EXPECT_STRING("\x7f", "\"\\u007f\"");
    EXPECT_STRING("\xC2\x9B|\xC2\xA0", "\"\\u009b|\xC2\xA0\"");
    EXPECT_STRING("\xE2\x82\xAC\xF0\x9F\x90\x94", "\"\xE2\x82\xAC\xF0\x9F\x90\x94\"");
}

#define REPLACED "\xEF\xBF\xBD"

TEST(replaces_what_is_not_utf8)
{
    EXPECT_STRING("a\xFFz", "\"a" REPLACED "z\"");
    EXPECT_STRING("\xE2\x82", "\"" REPLACED "\"");
    EXPECT_STRING("\xED\xA0\x80", "\"" REPLACED REPLACED REPLACED "\"");
    EXPECT_STRING("\xE1\x80\xE2\xF0\x91\x92\xF1\xBF\x41",
                  "\"" REPLACED REPLACED REPLACED REPLACED "A\"");
    EXPECT_STRING(REPLACED, "\"" REPLACED "\"");
}

TEST(escapes_keys_too)
{
    auto_buffer struct buffer out = { 0 };
    struct json_writer json;

    json_write_init(&json, &out, false);
    json_write_object_begin(&json);
    json_write_key(&json, "a\"\n\xFF");
    json_write_int(&json, INT64_MIN);
    json_write_object_end(&json);
    json_write_finish(&json);
    CHECK_STR(out.data, "{\"a\\\"\\n" REPLACED "\":-9223372036854775808}");
}

TEST(writes_keys_with_any_bytes)
{
    auto_buffer struct buffer out = { 0 };
    struct json_writer json;

    json_write_init(&json, &out, false);
    json_write_object_begin(&json);
    json_write_key_bytes(&json, "a\0b", 3);
    json_write_int(&json, 1);
    json_write_key_bytes(&json, "", 0);
    json_write_int(&json, 2);
    json_write_object_end(&json);
    json_write_finish(&json);
    CHECK_STR(out.data, "{\"a\\u0000b\":1,\"\":2}");
}

TEST(nests_to_the_documented_depth)
{
    auto_buffer struct buffer out = { 0 };
    struct json_writer json;

    json_write_init(&json, &out, false);
    for (int i = 0; i < JSON_WRITE_MAX_DEPTH; i++) {
        if (i % 2) {
            json_write_key(&json, "k");
            json_write_array_begin(&json);
        } else {
            json_write_object_begin(&json);
        }
    }
    json_write_int(&json, 1);
    json_write_int(&json, 2);
    for (int i = JSON_WRITE_MAX_DEPTH; i > 0; i--) {
        if (i % 2)
            json_write_object_end(&json);
        else
            json_write_array_end(&json);
    }
    json_write_finish(&json);
    CHECK(strstr(out.data, "{\"k\":[1,2]}]}"));
    CHECK(strncmp(out.data, "{\"k\":[{\"k\":[", 12) == 0);
    CHECK(out.length == JSON_WRITE_MAX_DEPTH / 2 * 8 + 3);
}

#ifndef NDEBUG
static void key_in_array(struct json_writer *json)
{
    json_write_array_begin(json);
    json_write_key(json, "k");
}

static void value_without_key(struct json_writer *json)
{
    json_write_object_begin(json);
    json_write_int(json, 1);
}

static void key_without_value(struct json_writer *json)
{
    json_write_object_begin(json);
    json_write_key(json, "k");
    json_write_object_end(json);
}

static void two_values_at_the_top(struct json_writer *json)
{
    json_write_null(json);
    json_write_null(json);
}

static void wrong_end(struct json_writer *json)
{
    json_write_array_begin(json);
    json_write_object_end(json);
}

static void end_without_begin(struct json_writer *json)
{
    json_write_array_end(json);
}

static void unfinished(struct json_writer *json)
{
    json_write_array_begin(json);
    json_write_finish(json);
}

static void nothing(struct json_writer *json)
{
    json_write_finish(json);
}

static void too_deep(struct json_writer *json)
{
    for (int i = 0; i <= JSON_WRITE_MAX_DEPTH; i++)
        json_write_array_begin(json);
}

TEST(asserts_on_calls_out_of_order)
{
    static void (*const misuses[])(struct json_writer *) = {
        key_in_array, value_without_key, key_without_value, two_values_at_the_top,
        wrong_end,    end_without_begin, unfinished,        nothing,
        too_deep,
    };

    for (size_t i = 0; i < COUNT(misuses); i++) {
        int status = 0;
        pid_t pid = fork();

        CHECK(pid >= 0);
        if (pid == 0) {
            struct buffer out = { 0 };
            struct json_writer json;

            (void)close(STDERR_FILENO); /* the assertion's words would only confuse */
            json_write_init(&json, &out, false);
            misuses[i](&json);
            _exit(0);
        }
        CHECK(waitpid(pid, &status, 0) == pid);
        CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
    }
}
#endif

/* Plain text is skipped over by the word: nothing may hide in one. */
TEST(every_byte_is_escaped_wherever_it_stands)
{
    for (int c = 1; c < 128; c++)
        for (size_t at = 0; at < 20; at++) {
            char text[21] = "aaaaaaaaaaaaaaaaaaaa";
            struct buffer out = { 0 };
            struct buffer expected = { 0 };
            struct json_writer json;
            bool is_plain = c >= 0x20 && c < 0x7F && c != '"' && c != '\\';

            text[at] = (char)c;
            json_write_init(&json, &out, false);
            json_write_string(&json, text, 20);
            buffer_printf(&expected, "\"%.*s", (int)at, "aaaaaaaaaaaaaaaaaaaa");
            if (is_plain)
                buffer_append_char(&expected, (char)c);
            else
                buffer_append(&expected, out.data + 1 + at, out.length - 2 - 19);
            buffer_printf(&expected, "%.*s\"", (int)(19 - at), "aaaaaaaaaaaaaaaaaaaa");
            CHECK_STR(out.data, expected.data);
            CHECK(is_plain || out.data[1 + at] == '\\');
            buffer_done(&out);
            buffer_done(&expected);
        }
}
