#include "name_filter.h"

#include <errno.h>

#include "base/cleanup.h"
#include "test/check.h"

static bool takes_kind(const char *pattern, const char *path, enum walk_kind kind)
{
    struct name_filter *filter = NULL;
    coop_error *err = NULL;

    if (name_filter_new(pattern, &filter, &err) < 0) {
        printf("# %s: %s\n", pattern, coop_error_message(err));
        coop_error_free(err);
        return false;
    }
    bool takes = name_filter_takes(filter, path, kind);
    name_filter_free(filter);
    return takes;
}

static bool takes(const char *pattern, const char *path)
{
    return takes_kind(pattern, path, WALK_FILE);
}

TEST(a_pattern_without_a_slash_is_about_names)
{
    CHECK(takes("*.c", "a.c") && takes("*.c", "x/y/a.c") && !takes("*.c", "a.h"));
    CHECK(takes("Makefile", "x/Makefile") && takes(".*", "x/.env"));
}

TEST(a_pattern_with_a_slash_is_about_paths)
{
    CHECK(takes("src/*.c", "src/a.c") && !takes("src/*.c", "src/x/a.c"));
    CHECK(takes("./src/*.c", "src/a.c") && takes("src/**/*.c", "src/a.c"));
    CHECK(takes("src/**/*.c", "src/x/y/a.c") && !takes("src/**/*.c", "lib/a.c"));
    CHECK(takes("./*.c", "a.c") && !takes("./*.c", "x/a.c"));
    CHECK(takes("**/x/*.c", "a/x/b.c") && takes("**", "a/b/c"));
}

TEST(braces_are_alternatives)
{
    CHECK(takes("*.{c,h}", "x/a.h") && !takes("*.{c,h}", "a.o"));
    CHECK(takes("{src,lib/x}/**/a.{c,h,S}", "lib/x/y/a.S"));
    CHECK(takes("a{,b{1,2}}c", "ac") && takes("a{,b{1,2}}c", "ab2c"));
    CHECK(!takes("a{,b{1,2}}c", "abc"));
    CHECK(takes("{a}", "{a}") && takes("a{", "a{") && takes("a},b", "a},b"));
    CHECK(takes("\\{a,b\\}", "{a,b}") && takes("[{,}]x", ",x") && takes("{[,],b}", ","));
    CHECK(takes("{a,b}{c,d}{e,f}", "bde"));
}

TEST(directories_are_meant_by_a_slash_or_a_name)
{
    CHECK(takes_kind("src/", "src", WALK_DIRECTORY) && takes_kind("src/", "x/src", WALK_DIRECTORY));
    CHECK(!takes("src/", "src"));
    CHECK(takes_kind("**/test", "a/test", WALK_DIRECTORY) && takes("**/test", "a/test"));
    CHECK(!takes_kind("*", "a", WALK_DIRECTORY) && takes_kind("a/*/", "a/b", WALK_DIRECTORY));
    CHECK(takes_kind("*.c", "a.c", WALK_LINK));
}

TEST(directories_without_hope_are_known)
{
    struct name_filter *filter = NULL;

    CHECK(name_filter_new("{src,lib}/*.c", &filter, NULL) == 0);
    CHECK(name_filter_may_take_below(filter, "src") && name_filter_may_take_below(filter, "lib"));
    CHECK(!name_filter_may_take_below(filter, "doc"));
    CHECK(!name_filter_may_take_below(filter, "src/x"));
    name_filter_free(filter);
}

TEST(says_what_is_wrong)
{
    static const struct {
        const char *pattern;
        const char *problem;
    } rows[] = {
        { "a**b/c", "'**' together with other characters" },
        { "[a", "'[' without its ']'" },
        { "../a/b", "'.' or '..'" },
        { "{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}", "more than 256 patterns" },
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct name_filter *filter = NULL;
        coop_error *err = NULL;
        int r = name_filter_new(rows[i].pattern, &filter, &err);

        CHECK(r == -EINVAL && !filter);
        if (!strstr(coop_error_message(err), rows[i].problem))
            CHECK_STR(coop_error_message(err), rows[i].problem);
        coop_error_free(err);
    }
}
