#include "collapse.h"

#include "test/check.h"

static const struct learn_places places = { .home = "/home/u",
                                            .workspace = "/home/u/src/p",
                                            .own = { "/home/u/.config/coop", "/srv/audit" },
                                            .n_own = 2 };

static void need(struct learn_needs *needs, enum need_kind kind, const char *path)
{
    (void)learn_needs_add(needs, &(struct need){ .kind = kind,
                                                 .verdict = NEED_OPEN,
                                                 .what = (char *)(uintptr_t)path,
                                                 .round = 1,
                                                 .count = 1 });
}

/* "ro /a, rw /b" */
static const char *collapsed(struct learn_needs *needs)
{
    static char text[4096];
    struct learn_grants grants;

    text[0] = '\0';
    CHECK(learn_collapse(needs, &places, NULL, NULL, &grants) == 0);
    for (size_t i = 0; i < grants.n; i++) {
        strcat(text, i ? ", " : "");
        strcat(text, grants.items[i].is_written ? "rw " : "ro ");
        strcat(text, grants.items[i].path);
    }
    learn_grants_done(&grants);
    learn_needs_done(needs);
    return text;
}

TEST(few_files_of_a_directory_stay_files)
{
    struct learn_needs needs = { 0 };

    need(&needs, NEED_READ, "/etc/foo/a");
    need(&needs, NEED_READ, "/etc/foo/b");
    need(&needs, NEED_READ, "/etc/foo/c");
    CHECK_STR(collapsed(&needs), "ro /etc/foo/a, ro /etc/foo/b, ro /etc/foo/c");
}

TEST(many_files_of_a_directory_become_the_directory)
{
    struct learn_needs needs = { 0 };

    need(&needs, NEED_READ, "/etc/foo/a");
    need(&needs, NEED_READ, "/etc/foo/b");
    need(&needs, NEED_READ, "/etc/foo/c");
    need(&needs, NEED_READ, "/etc/foo/d");
    need(&needs, NEED_READ, "/etc/foobar");
    CHECK_STR(collapsed(&needs), "ro /etc/foo, ro /etc/foobar");
}

TEST(many_files_of_a_wide_directory_stay_files)
{
    struct learn_needs needs = { 0 };

    need(&needs, NEED_READ, "/etc/a");
    need(&needs, NEED_READ, "/etc/b");
    need(&needs, NEED_READ, "/etc/c");
    need(&needs, NEED_READ, "/etc/d");
    CHECK_STR(collapsed(&needs), "ro /etc/a, ro /etc/b, ro /etc/c, ro /etc/d");
}

TEST(what_is_installed_in_opt_is_one_thing)
{
    struct learn_needs needs = { 0 };

    need(&needs, NEED_EXECUTE, "/opt/x-1.2/bin/t");
    need(&needs, NEED_READ, "/opt/x-1.2/share/deep/in/it");
    need(&needs, NEED_READ, "/opt/file");
    CHECK_STR(collapsed(&needs), "ro /opt/file, ro /opt/x-1.2");
}

TEST(a_program_comes_with_what_lies_beside_its_bin)
{
    struct learn_needs needs = { 0 };

    need(&needs, NEED_EXECUTE, "/srv/node/20.1/bin/node");
    need(&needs, NEED_READ, "/srv/node/20.1/lib/x.so");
    CHECK_STR(collapsed(&needs), "ro /srv/node/20.1");
}

TEST(a_program_in_the_home_directory_does_not_bring_the_home_along)
{
    struct learn_needs needs = { 0 };

    need(&needs, NEED_EXECUTE, "/home/u/bin/t");
    CHECK_STR(collapsed(&needs), "ro /home/u/bin/t");
}

TEST(what_is_written_covers_what_is_read_and_not_the_reverse)
{
    struct learn_needs needs = { 0 };

    need(&needs, NEED_WRITE, "/srv/out");
    need(&needs, NEED_READ, "/srv/out/a");
    need(&needs, NEED_READ, "/srv/in");
    need(&needs, NEED_WRITE, "/srv/in/x");
    CHECK_STR(collapsed(&needs), "ro /srv/in, rw /srv/in/x, rw /srv/out");
}

TEST(a_directory_that_holds_the_audit_log_is_never_made)
{
    struct learn_needs needs = { 0 };

    need(&needs, NEED_READ, "/srv/audit.d/a");
    for (int i = 0; i < 7; i++) {
        char path[] = "/srv/auditx";

        path[10] = (char)('a' + i);
        need(&needs, NEED_READ, path);
    }
    CHECK(!strstr(collapsed(&needs), "ro /srv,"));
    CHECK(learn_classify(&places, "/srv/audit", LEARN_DIRECTORY, false) == NEED_COOP);
}

TEST(thousands_of_paths_are_a_few_lines)
{
    struct learn_needs needs = { 0 };
    char path[64];

    for (int i = 0; i < 3000; i++) {
        (void)snprintf(path, sizeof path, "/data/set/%d/f", i);
        need(&needs, NEED_READ, path);
    }
    CHECK(needs.n == LEARN_NEEDS_MAX);
    CHECK(needs.more == 3000 - LEARN_NEEDS_MAX);
    CHECK_STR(collapsed(&needs), "ro /data/set");
}

TEST(what_cannot_be_joined_is_cut_and_counted)
{
    struct learn_needs needs = { 0 };
    struct learn_grants grants;
    char path[64];

    for (int i = 0; i < 200; i++) {
        (void)snprintf(path, sizeof path, "/file%d", i);
        need(&needs, NEED_READ, path);
    }
    CHECK(learn_collapse(&needs, &places, NULL, NULL, &grants) == 0);
    CHECK(grants.n == LEARN_GRANTS_MAX);
    CHECK(grants.n_dropped == 200 - LEARN_GRANTS_MAX);
    learn_grants_done(&grants);
    learn_needs_done(&needs);
}
