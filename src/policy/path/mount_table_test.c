/* worlds: user */
#include "policy/path/mount_table.h"

#include <errno.h>
#include <stdint.h>

#include "base/buffer.h"
#include "base/cleanup.h"
#include "policy/path/path.h"
#include "policy/path/zones.h"
#include "test/check.h"

static struct mount_table *make(const char *root, bool readonly, const struct mount_entry *mounts,
                                size_t n)
{
    auto_findings struct findings findings = { 0 };

    return mount_table_new(
        &(struct mount_config){
            .root = root, .readonly = readonly, .mounts = mounts, .n_mounts = n },
        &findings);
}

static const char *print(const struct mount_table *table)
{
    static char text[2000];
    auto_buffer struct buffer out = { 0 };

    mount_table_print(table, &out);
    (void)snprintf(text, sizeof text, "%s", out.data ? out.data : "");
    return text;
}

static const struct mount_entry cache[] = {
    { "/home/user/.cache", "/cache", true, { "coop.toml", 4, 3 } },
};

TEST(targets_are_sorted_and_the_later_of_equals_wins)
{
    static const struct mount_entry mounts[] = {
        { "/h/deep", "/a/b/c", false, { 0 } },
        { "/h/one", "/a/b", true, { "f", 2, 1 } },
        { "/h/two", "/a//b/", false, { 0 } },
        { "/h/a", "/a", true, { 0 } },
    };
    auto_findings struct findings findings = { 0 };
    const struct mount_config config = { .root = "/h/root", .mounts = mounts, .n_mounts = 4 };
    struct mount_table *table = mount_table_new(&config, &findings);

    CHECK(table != NULL);
    CHECK_STR(print(table), "root = \"/h/root\"\nreadonly = false\nmounts = [\n"
                            "    { source = \"/h/a\", target = \"/a\", readonly = true },\n"
                            "    { source = \"/h/two\", target = \"/a/b\", readonly = false },\n"
                            "    { source = \"/h/deep\", target = \"/a/b/c\", readonly = false },\n"
                            "]\n");
    CHECK(findings.n == 1 && findings.n_errors == 0 && findings.items[0].origin.line == 2);
    CHECK_STR(findings.items[0].message,
              "the mount of '/h/one' at '/a/b' is hidden by a later one of '/h/two'");
    mount_table_free(table);
}

TEST(a_mount_at_the_top_is_the_root)
{
    static const struct mount_entry mounts[] = { { "/h/new", "/", true, { 0 } } };
    struct mount_table *over = make("/h/root", false, mounts, 1);
    struct mount_table *alone = make(NULL, false, mounts, 1);

    CHECK(over && alone);
    CHECK_STR(print(over), "root = \"/h/new\"\nreadonly = true\n");
    CHECK_STR(print(alone), "root = \"/h/new\"\nreadonly = true\n");
    mount_table_free(over);
    mount_table_free(alone);
}

TEST(all_mistakes_of_a_table_are_reported_at_once)
{
    static const struct mount_entry mounts[] = {
        { "relative", "/a", false, { "coop.toml", 2, 1 } },
        { "/ok", "b", false, { "coop.toml", 3, 1 } },
        { "/x/../y", "/c", false, { "coop.toml", 4, 1 } },
        { "/ok", "/d/../..", false, { "coop.toml", 5, 1 } },
        { NULL, NULL, false, { "coop.toml", 6, 1 } },
    };
    auto_findings struct findings findings = { 0 };
    const struct mount_config config = { .root = "", .mounts = mounts, .n_mounts = COUNT(mounts) };

    CHECK(!mount_table_new(&config, &findings));
    CHECK(findings.n_errors == 7);
    CHECK_STR(findings.items[0].message, "the root is empty");
    CHECK_STR(findings.items[1].message,
              "the mount source 'relative' is relative: write it from '/'");
    CHECK_STR(findings.items[2].message, "the mount target 'b' is relative: write it from '/'");
    CHECK(findings.items[4].origin.line == 5);
    CHECK_STR(findings.items[4].message,
              "the mount target '/d/../..' has '..' in it: write the path without it");
    CHECK_STR(findings.items[6].message, "the mount target is empty");
}

TEST(a_table_needs_a_root)
{
    auto_findings struct findings findings = { 0 };
    const struct mount_config none = { .mounts = cache, .n_mounts = 1 };

    CHECK(!mount_table_new(&none, &findings) && findings.n_errors == 1);
    CHECK_STR(findings.items[0].message, "the sandbox has no root");
}

TEST(text_in_the_printed_table_is_quoted)
{
    static const struct mount_entry mounts[] = { { "/q\"\\\x1b", "/t", false, { 0 } } };
    struct mount_table *table = make("/r", false, mounts, 1);

    CHECK_STR(print(table),
              "root = \"/r\"\nreadonly = false\nmounts = [\n"
              "    { source = \"/q\\\"\\\\\\u001b\", target = \"/t\", readonly = false },\n]\n");
    mount_table_free(table);
}

TEST(zones_become_a_root_and_mounts)
{
    static const struct zone zones[] = {
        { "cache", "cache", false, { 0 } },
        { "workspace", "project", true, { 0 } },
        { "out", "./a/../build/", true, { 0 } },
        { "abs", "/tmp/sandbox/abs", false, { 0 } },
    };
    static const struct zone reversed[] = {
        { "docs", "docs", false, { 0 } },
        { "code", ".", true, { 0 } },
        { "more", "more", true, { 0 } },
    };
    auto_findings struct findings findings = { 0 };
    struct mount_table *table =
        zones_convert(&(struct zones){ "/tmp/sandbox/", zones, 2, { 0 } }, &findings);

    /* the example of the model */
    CHECK(table && findings.n == 0);
    CHECK_STR(
        print(table),
        "root = \"/tmp/sandbox/project\"\nreadonly = false\nmounts = [\n"
        "    { source = \"/tmp/sandbox/cache\", target = \"/cache\", readonly = true },\n]\n");
    mount_table_free(table);
    table = zones_convert(&(struct zones){ "/tmp/sandbox", zones, 4, { 0 } }, &findings);
    CHECK(table != NULL);
    CHECK(strstr(print(table),
                 "{ source = \"/tmp/sandbox/build\", target = \"/out\", readonly = false }"));
    CHECK(strstr(print(table),
                 "{ source = \"/tmp/sandbox/abs\", target = \"/abs\", readonly = true }"));
    mount_table_free(table);
    table = zones_convert(&(struct zones){ "/b", reversed, 3, { 0 } }, &findings);
    CHECK(table != NULL);
    CHECK(strncmp(print(table), "root = \"/b\"\n", 12) == 0);
    CHECK(strstr(print(table), "\"/docs\"") && strstr(print(table), "\"/more\""));
    mount_table_free(table);
    table = zones_convert(&(struct zones){ "/b", reversed, 1, { 0 } }, &findings);
    CHECK(table != NULL);
    CHECK_STR(print(table), "root = \"/b/docs\"\nreadonly = true\n");
    mount_table_free(table);
}

TEST(zones_that_lead_out_are_refused)
{
    static const struct zone zones[] = {
        { "workspace", "project", true, { "z", 1, 1 } },
        { "up", "../x", true, { "z", 2, 1 } },
        { "back", "a/../../tmp", true, { "z", 3, 1 } },
        { "else", "/etc", true, { "z", 4, 1 } },
        { "near", "/tmp/sandboxes", true, { "z", 5, 1 } },
        { "dots", "/tmp/sandbox/../x", true, { "z", 6, 1 } },
        { "a/b", "x", true, { "z", 7, 1 } },
        { "..", "x", true, { "z", 8, 1 } },
        { "", "x", true, { "z", 9, 1 } },
        { "none", "", true, { "z", 10, 1 } },
        { "line", "a\nb", true, { "z", 11, 1 } },
    };
    static const struct zone locked[] = { { "a", "a", false, { 0 } }, { "b", "b", false, { 0 } } };
    auto_findings struct findings findings = { 0 };

    CHECK(!zones_convert(&(struct zones){ "/tmp/sandbox", zones, COUNT(zones), { 0 } }, &findings));
    CHECK(findings.n == 10 && findings.n_errors == 10);
    for (unsigned i = 0; i < 10; i++)
        CHECK(findings.items[i].origin.line == i + 2);
    CHECK_STR(findings.items[0].message,
              "the zone 'up' has the path '../x', which is not inside basePath '/tmp/sandbox'");
    CHECK_STR(findings.items[5].message, "the zone 'a/b' cannot become a directory of that name");
    CHECK_STR(findings.items[8].message, "zone 'none': the zone path is empty");
    CHECK(!zones_convert(&(struct zones){ "/b", locked, 2, { 0 } }, &findings));
    CHECK_STR(findings.items[10].message, "there is no zone that can become the root");
    CHECK(!zones_convert(&(struct zones){ "/b", NULL, 0, { 0 } }, &findings));
    CHECK(!zones_convert(&(struct zones){ "b", zones, 1, { 0 } }, &findings));
    CHECK_STR(findings.items[12].message, "the basePath 'b' is relative: write it from '/'");
    CHECK(!zones_convert(&(struct zones){ NULL, zones, 1, { 0 } }, &findings));
}
