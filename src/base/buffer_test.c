/* worlds: user */
#include "buffer.h"

#include <stdint.h>
#include <string.h>

#include "test/check.h"

TEST(starts_empty_and_grows)
{
    struct buffer buffer = { 0 };

    for (int i = 0; i < 1000; i++)
        buffer_append(&buffer, "0123456789", 10);
    CHECK(!buffer.failed);
    CHECK(buffer.length == 10000);
    CHECK(buffer.capacity < 4 * buffer.length);
    for (size_t i = 0; i < buffer.length; i++)
        CHECK(buffer.data[i] == (char)('0' + i % 10));
    CHECK(buffer.data[buffer.length] == '\0');
    buffer_done(&buffer);
    CHECK(!buffer.data && buffer.length == 0 && buffer.capacity == 0);
}

TEST(keeps_bytes_that_are_nul)
{
    struct buffer buffer = { 0 };

    buffer_append(&buffer, "a\0b", 3);
    buffer_append_char(&buffer, '\0');
    buffer_append_string(&buffer, "c");
    CHECK(buffer.length == 5);
    CHECK(memcmp(buffer.data, "a\0b\0c", 6) == 0);
    buffer_done(&buffer);
}

TEST(prints_short_and_long_text)
{
    struct buffer buffer = { 0 };
    char expected[1100];

    buffer_printf(&buffer, "%d-%s", 42, "x");
    CHECK_STR(buffer.data, "42-x");
    buffer_printf(&buffer, "%1000s", "y"); /* more than the room that is tried first */
    CHECK(buffer.length == 1004);
    (void)snprintf(expected, sizeof expected, "42-x%1000s", "y");
    CHECK_STR(buffer.data, expected);
    buffer_done(&buffer);
}

TEST(grows_by_doubling)
{
    auto_buffer struct buffer buffer = { 0 };
    size_t n_growths = 0;

    for (size_t i = 0; i < 1u << 16; i++) {
        size_t before = buffer.capacity;

        buffer_append_char(&buffer, 'a');
        n_growths += buffer.capacity != before;
    }
    CHECK(buffer.length == 1u << 16);
    CHECK(n_growths < 20);
}

TEST(prints_any_length_at_any_fill_level)
{
    for (int fill = 0; fill < 140; fill++) {
        for (int width = 1; width < 140; width++) {
            auto_buffer struct buffer buffer = { 0 };

            for (int i = 0; i < fill; i++)
                buffer_append_char(&buffer, 'a');
            buffer_printf(&buffer, "%0*d", width, 7);
            CHECK(!buffer.failed);
            CHECK(buffer.length == (size_t)(fill + width));
            CHECK(strlen(buffer.data) == buffer.length);
            CHECK(buffer.data[buffer.length - 1] == '7');
        }
    }
}

TEST(hands_its_string_on)
{
    struct buffer buffer = { 0 };

    buffer_append_string(&buffer, "text");
    char *string = buffer_take_string(&buffer);
    CHECK_STR(string, "text");
    CHECK(!buffer.data && buffer.length == 0);
    free(string);

    string = buffer_take_string(&buffer);
    CHECK_STR(string, "");
    free(string);
}

TEST(remembers_that_memory_ran_out)
{
    struct buffer buffer = { 0 };

    buffer_append_string(&buffer, "kept");
    CHECK(!buffer_reserve(&buffer, SIZE_MAX - 4)); /* the sum overflows */
    CHECK(buffer.failed);
    buffer_append_string(&buffer, "ignored");
    buffer_printf(&buffer, "%s", "ignored");
    CHECK(!buffer_reserve(&buffer, 1));
    CHECK(buffer.length == 4);
    CHECK_STR(buffer.data, "kept");
    CHECK(!buffer_take_string(&buffer));
    CHECK(!buffer.failed && !buffer.data); /* and is of use again */
    buffer_append_string(&buffer, "new");
    CHECK_STR(buffer.data, "new");
    buffer_done(&buffer);
}

/* Under the address sanitizer, such a request would end the program and not fail. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
    return "allocator_may_return_null=1";
}

TEST(fails_where_the_allocator_does)
{
    struct buffer buffer = { 0 };

    buffer_append_string(&buffer, "kept");
    CHECK(!buffer_reserve(&buffer, SIZE_MAX / 2));
    CHECK(buffer.failed);
    CHECK_STR(buffer.data, "kept");
    buffer_done(&buffer);
}
