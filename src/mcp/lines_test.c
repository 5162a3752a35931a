/* worlds: user */
#include "mcp/lines.h"

#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#include "test/check.h"

static struct lines lines_of(const char *bytes, size_t n, size_t limit)
{
    int fd = memfd_create("lines", MFD_CLOEXEC);

    CHECK(fd >= 0 && write(fd, bytes, n) == (ssize_t)n && lseek(fd, 0, SEEK_SET) == 0);
    return (struct lines){ .fd = fd, .limit = limit };
}

static void check_line(struct lines *lines, const char *expected)
{
    const char *text = NULL;
    size_t n = 0;

    CHECK(lines_next(lines, &text, &n) == 1);
    CHECK(n == strlen(expected) && memcmp(text, expected, n) == 0);
}

static void check_end(struct lines *lines)
{
    const char *text;
    size_t n;

    CHECK(lines_next(lines, &text, &n) == 0);
    CHECK(lines_next(lines, &text, &n) == 0);
    lines_done(lines);
    CHECK(close(lines->fd) == 0);
}

TEST(splits_at_newlines)
{
    struct lines lines = lines_of("one\n\ntwo\nthree", 14, 100);

    check_line(&lines, "one");
    check_line(&lines, "");
    check_line(&lines, "two");
    check_line(&lines, "three");
    check_end(&lines);
}

TEST(nothing_is_the_end)
{
    struct lines lines = lines_of("", 0, 100);

    check_end(&lines);
}

TEST(a_long_message_is_told_once_and_the_next_is_read)
{
    size_t n = 300000;
    char *bytes = malloc(n + 10);
    const char *text;

    CHECK(bytes);
    memset(bytes, 'x', n);
    memcpy(bytes + n, "\nnext\n", 6);
    struct lines lines = lines_of(bytes, n + 6, 1000);
    CHECK(lines_next(&lines, &text, &n) == -E2BIG);
    CHECK(lines.read.capacity < 200000);
    check_line(&lines, "next");
    check_end(&lines);
    free(bytes);
}

TEST(the_limit_itself_is_allowed)
{
    struct lines lines = lines_of("12345\n123456\n1", 14, 5);
    const char *text;
    size_t n;

    check_line(&lines, "12345");
    CHECK(lines_next(&lines, &text, &n) == -E2BIG);
    check_line(&lines, "1");
    check_end(&lines);
}

TEST(messages_of_all_sizes_come_whole)
{
    struct buffer all = { 0 };

    for (size_t i = 0; i < 600; i++) {
        for (size_t j = 0; j < i; j++)
            buffer_append_char(&all, (char)('a' + i % 26));
        buffer_append_char(&all, '\n');
    }
    struct lines lines = lines_of(all.data, all.length, 600);
    for (size_t i = 0; i < 600; i++) {
        const char *text;
        size_t n;

        CHECK(lines_next(&lines, &text, &n) == 1 && n == i);
        CHECK(i == 0 || (text[0] == (char)('a' + i % 26) && text[n - 1] == text[0]));
    }
    check_end(&lines);
    buffer_done(&all);
}
