#include "survey/neighbours.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "test/check.h"

static char top[256];

static int open_path(const char *rest, int flags)
{
    char path[sizeof top + 16];

    (void)snprintf(path, sizeof path, "%s%s", top, rest);
    int fd = open(path, flags | O_DIRECTORY | O_CLOEXEC);
    CHECK(fd >= 0);
    return fd;
}

/* top/a/b and top/c */
static void begin(void)
{
    const char *base = getenv("TMPDIR");

    (void)snprintf(top, sizeof top, "%.200s/coop-neighbours.XXXXXX", base ? base : "/tmp");
    CHECK(mkdtemp(top));
    auto_close int fd = open_path("", O_PATH);
    CHECK(mkdirat(fd, "a", 0755) == 0 && mkdirat(fd, "a/b", 0755) == 0 &&
          mkdirat(fd, "c", 0755) == 0);
}

static void finish(void)
{
    auto_close int fd = open_path("", O_PATH);

    CHECK(unlinkat(fd, "a/b", AT_REMOVEDIR) == 0 && unlinkat(fd, "a", AT_REMOVEDIR) == 0 &&
          unlinkat(fd, "c", AT_REMOVEDIR) == 0 && rmdir(top) == 0);
}

/* Whether somebody who comes to `second` meets somebody who is at `first`. */
static bool meet(const char *first, const char *second)
{
    struct neighbours one = { 0 };
    struct neighbours other = { 0 };
    auto_close int a = open_path(first, O_PATH);
    auto_close int b = open_path(second, O_PATH);

    CHECK(!neighbours_meet(&one, a));
    CHECK(!neighbours_meet(&one, a)); /* nobody meets himself */
    bool have_met = neighbours_meet(&other, b);
    neighbours_leave(&one);
    CHECK(!neighbours_meet(&other, b)); /* who has left is not met */
    neighbours_leave(&other);
    return have_met;
}

TEST(who_is_in_the_same_place_is_met)
{
    begin();
    CHECK(meet("/a", "/a"));
    finish();
}

TEST(so_is_who_is_above_or_below)
{
    begin();
    CHECK(meet("/a", "/a/b"));
    CHECK(meet("/a/b", "/a"));
    CHECK(meet("/a/b", ""));
    finish();
}

TEST(who_is_beside_is_not)
{
    begin();
    CHECK(!meet("/a", "/c"));
    CHECK(!meet("/a/b", "/c"));
    finish();
}

TEST(a_lock_that_anybody_can_take_makes_no_difference_but_care)
{
    struct neighbours one = { 0 };
    struct flock all = { .l_type = F_RDLCK, .l_whence = SEEK_SET };

    begin();
    auto_close int fd = open_path("/a", O_RDONLY);
    auto_close int path = open_path("/a", O_PATH);
    CHECK(fcntl(fd, F_OFD_SETLK, &all) == 0);
    CHECK(neighbours_meet(&one, path));
    neighbours_leave(&one);
    finish();
}
