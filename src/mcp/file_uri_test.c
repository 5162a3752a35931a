/* worlds: user */
#include "mcp/file_uri.h"

#include "test/check.h"

TEST(reads_addresses)
{
    static const struct {
        const char *uri, *path;
    } good[] = {
        { "file:///work/a.c", "/work/a.c" },
        { "file:/work", "/work" },
        { "FILE://localhost/a", "/a" },
        { "file:///a%20b%C3%A4%2f%25", "/a b\xC3\xA4/%" },
        { "file:///%0A", "/\n" },
    };

    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        char *path = file_uri_path(good[i].uri);

        CHECK_STR(path, good[i].path);
        free(path);
    }
}

TEST(refuses_what_is_no_file_here)
{
    static const char *const bad[] = {
        "",           "file:",      "file://host/a", "file://",      "file:a",        "http:///a",
        "/a",         "file:///a%", "file:///a%2",   "file:///a%zz", "file:///a%00b", "file:///a?b",
        "file:///a#b"
    };

    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        CHECK(!file_uri_path(bad[i]));
}

TEST(any_name_survives)
{
    char name[300] = "/";
    struct buffer uri = { 0 };

    for (int i = 1; i < 256; i++)
        name[i] = (char)i;
    file_uri_append(&uri, name);
    char *back = file_uri_path(uri.data);
    CHECK_STR(back, name);
    CHECK(!strpbrk(uri.data, " \n\"<>\\^`{|}\x7f"));
    free(back);
    buffer_done(&uri);
}
