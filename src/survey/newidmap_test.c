/* newidmap_test.c - a range is offered that is nobody's */
#include "survey/newidmap.h"

#include <unistd.h>

#include "base/cleanup.h"
#include "check.h"

static char paths[2][64];
static const char *const files[2] = { paths[0], paths[1] };

/* Two files with these lines; NULL: there is none. False: could not. */
static bool write_files(const char *users, const char *groups)
{
    const char *const texts[2] = { users, groups };
    const char *directory = getenv("TMPDIR");

    for (int i = 0; i < 2; i++) {
        (void)snprintf(paths[i], sizeof paths[i], "%.40s/newidmap.XXXXXX",
                       directory && strlen(directory) < 40 ? directory : "/tmp");
        int fd = mkstemp(paths[i]);
        if (fd < 0)
            return false;
        FILE *file = fdopen(fd, "w");
        if (!file || (texts[i] && fputs(texts[i], file) < 0) || fclose(file) != 0)
            return false;
        if (!texts[i])
            (void)unlink(paths[i]);
    }
    return true;
}

/* What is offered; 0: nothing. */
static unsigned long offered(const char *users, const char *groups)
{
    struct newidmap_range range = { 0 };

    if (!write_files(users, groups))
        return 1;
    bool is_found = newidmap_find_unused(files, 2, &range);
    for (int i = 0; i < 2; i++)
        (void)unlink(paths[i]);
    return is_found && range.count == 65536 ? range.first : 0;
}

TEST(nobody_has_any)
{
    CHECK(offered(NULL, NULL) == 100000);
    CHECK(offered("", "") == 100000);
}

TEST(behind_what_others_have)
{
    CHECK(offered("a:100000:65536\n", "a:100000:65536\n") == 165536);
    CHECK(offered("b:165536:65536\na:100000:65536\n", "") == 231072);
}

TEST(of_either_file)
{
    CHECK(offered("", "a:100000:65536\n") == 165536);
    CHECK(offered("a:100000:65536\n", "a:165536:65536\n") == 231072);
}

TEST(a_gap_that_is_large_enough_is_used)
{
    CHECK(offered("a:100000:65536\nb:300000:65536\n", "") == 165536);
    CHECK(offered("a:100000:65536\nb:231072:65536\n", "") == 165536);
    CHECK(offered("a:100000:65536\nb:231071:65536\n", "") == 296607);
    CHECK(offered("a:1000:5\n", "") == 100000);
}

TEST(overlapping_ranges_count_whole)
{
    CHECK(offered("a:100000:500000\nb:120000:10\n", "") == 600000);
    CHECK(offered("a:90000:20000\n", "") == 110000);
}

TEST(lines_that_say_nothing_are_passed_over)
{
    CHECK(offered("# words\n\na\na:b:c\n:100000:1\n", "") == 100001);
}

TEST(nothing_is_left)
{
    CHECK(offered("a:0:4294967295\n", "") == 0);
    CHECK(offered("a:100000:18446744073709551615\n", "") == 0);
    CHECK(offered("a:18446744073709551615:18446744073709551615\n", "") == 100000);
    CHECK(offered("a:100000:4294801759\n", "") == 4294901759); /* up to the last id */
    CHECK(offered("a:100000:4294801760\n", "") == 0);
}
