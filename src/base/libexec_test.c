#include "libexec.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "test/check.h"

static char directory[64];

/* Everything happens in a directory of its own that is gone afterwards. */
static void enter(void)
{
    const char *base = getenv("TMPDIR");

    (void)snprintf(directory, sizeof directory, "%.40s/coop-XXXXXX", base ? base : "/tmp");
    CHECK(mkdtemp(directory) && chdir(directory) == 0);
    CHECK(mkdir("bin", 0700) == 0 && mkdir("libexec", 0700) == 0);
}

static void leave(void)
{
    static const char *const names[] = { "bin/coop", "bin/agent", "bin/coop-x", "libexec/coop-x" };

    for (size_t i = 0; i < COUNT(names); i++)
        (void)remove(names[i]);
    CHECK(rmdir("bin") == 0 && rmdir("libexec") == 0);
    CHECK(chdir("/") == 0 && rmdir(directory) == 0);
}

static void put(const char *path, mode_t mode)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, mode);

    CHECK(fd >= 0);
    (void)close(fd);
}

/* `expected` is NULL where nothing is to be found. */
static void check_found(const char *executable, const char *expected)
{
    char *path = NULL;
    int r = libexec_search(executable, "libexec", "coop-x", &path);

    CHECK(r == (expected ? 0 : -ENOENT));
    if (expected)
        CHECK_STR(path, expected);
    else
        CHECK(!path);
    free(path);
}

TEST(is_in_the_directory_of_the_prefix)
{
    enter();
    put("bin/coop", 0700);
    check_found("bin/coop", NULL);
    check_found(NULL, NULL);
    put("libexec/coop-x", 0700);
    check_found("bin/coop", "libexec/coop-x");
    check_found(NULL, "libexec/coop-x");
    check_found("coop", "libexec/coop-x");
    leave();
}

TEST(lies_beside_a_coop_that_was_not_installed)
{
    enter();
    put("bin/coop", 0700);
    put("bin/coop-x", 0700);
    put("libexec/coop-x", 0700);
    check_found("bin/coop", "bin/coop-x");
    leave();
}

TEST(lies_beside_no_other_program)
{
    enter();
    put("bin/agent", 0700);
    put("bin/coop-x", 0700);
    check_found("bin/agent", NULL);
    check_found("bin/coop", NULL);           /* it is not there */
    check_found("bin/coop (deleted)", NULL); /* as the kernel names what was replaced */
    leave();
}

TEST(is_a_file_that_can_be_executed)
{
    enter();
    put("bin/coop", 0700);
    put("bin/coop-x", 0600);
    CHECK(mkdir("libexec/coop-x", 0700) == 0);
    check_found("bin/coop", NULL);
    leave();
}

TEST(belongs_to_whom_coop_belongs_to)
{
    enter();
    put("bin/coop", 0700);
    put("bin/coop-x", 0700);
    if (chown("bin/coop-x", 1, 1) < 0) {
        leave();
        SKIP_NEVER("only root can give files away");
    }
    check_found("bin/coop", NULL);
    leave();
}

TEST(the_directory_that_was_compiled_in_is_absolute)
{
    CHECK(libexec_directory[0] == '/' && strchr(libexec_directory, '@') == NULL);
}
