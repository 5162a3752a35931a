/* worlds: user */
#include "policy/path/path_set.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "test/check.h"

#define N 3000

/* The set as init gets it: in memory of its own, aligned. */
static void *packed(const char *paths, bool ignore_case)
{
    auto_buffer struct buffer out = { 0 };

    buffer_append_string(&out, "head"); /* something before it */
    path_set_pack(&out, paths, ignore_case);
    CHECK(!out.failed && out.length % 4 == 0);
    char *copy = malloc(out.length - 4);
    memcpy(copy, out.data + 4, out.length - 4);
    return copy;
}

TEST(what_is_in_it_is_found_and_nothing_else)
{
    void *set = packed("/work\0/work/a\0/work/a/b\0/work/a\0", false);

    CHECK(path_set_has(set, "/work", false));
    CHECK(path_set_has(set, "/work/a", false));
    CHECK(path_set_has(set, "/work/a/b", false));
    CHECK(!path_set_has(set, "/work/a/", false));
    CHECK(!path_set_has(set, "/work/A", false));
    CHECK(!path_set_has(set, "/wor", false));
    CHECK(!path_set_has(set, "", false));
    free(set);
}

TEST(an_empty_one_holds_nothing)
{
    void *set = packed(NULL, false);

    CHECK(!path_set_has(set, "/work", false));
    CHECK(!path_set_has(set, "", false));
    free(set);
}

TEST(case_is_ignored_where_the_file_system_does)
{
    void *set = packed("/work/Conf\0", true);

    CHECK(path_set_has(set, "/work/CONF", true));
    CHECK(path_set_has(set, "/work/conf", true));
    CHECK(path_set_has(set, "/wor\u212A/conf", true)); /* a Kelvin sign */
    CHECK(!path_set_has(set, "/work/con", true));
    free(set);
}

TEST(many_are_all_found)
{
    auto_buffer struct buffer paths = { 0 };
    char path[64];

    for (int i = 0; i < N; i++) {
        (void)snprintf(path, sizeof path, "/work/d%d/e%d", i % 100, i);
        buffer_append(&paths, path, strlen(path) + 1);
    }
    buffer_append_char(&paths, '\0');
    void *set = packed(paths.data, false);
    for (int i = 0; i < N; i++) {
        (void)snprintf(path, sizeof path, "/work/d%d/e%d", i % 100, i);
        CHECK(path_set_has(set, path, false));
        (void)snprintf(path, sizeof path, "/work/d%d/f%d", i % 100, i);
        CHECK(!path_set_has(set, path, false));
    }
    free(set);
}

TEST(what_is_too_long_to_be_looked_up_counts_as_held)
{
    char path[PATH_SET_MAX_PATH + 1];
    void *set = packed("/work\0", false);

    memset(path, 'x', sizeof path);
    path[sizeof path - 1] = '\0';
    CHECK(path_set_has(set, path, false));
    path[sizeof path - 2] = '\0';
    CHECK(!path_set_has(set, path, false));
    free(set);
}
