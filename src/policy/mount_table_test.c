#include "policy/mount_table.h"

#include <errno.h>
#include <stdint.h>

#include "base/buffer.h"
#include "base/cleanup.h"
#include "policy/path.h"
#include "policy/zones.h"
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

static struct mount_table *narrow(const struct mount_table *parent, const char *restrict_to,
                                  enum mount_readonly readonly)
{
    struct mount_table *child = NULL;
    const struct mount_request request = { restrict_to, readonly };

    return mount_table_restrict(parent, &request, &child, NULL) < 0 ? NULL : child;
}

/* "host source" or the error, in a static buffer. */
static const char *resolve(const struct mount_table *table, const char *path)
{
    static char text[400];
    auto_error coop_error *err = NULL;
    struct mount_place place = { 0 };

    if (mount_table_resolve(table, path, &place, &err) < 0) {
        (void)snprintf(text, sizeof text, "%s", coop_error_message(err));
        return text;
    }
    (void)snprintf(text, sizeof text, "%s", place.host);
    mount_place_done(&place);
    return text;
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

TEST(paths_resolve_as_in_the_table_of_the_model)
{
    static const struct {
        const char *path;
        const char *host; /* or what the error says */
        const char *target;
        const char *below;
        bool can_write;
    } rows[] = {
        { "/src/app.ts", "/home/user/project/src/app.ts", "/", "src/app.ts", true },
        { "/README.md", "/home/user/project/README.md", "/", "README.md", true },
        { "/cache/npm/pkg", "/home/user/.cache/npm/pkg", "/cache", "npm/pkg", false },
        { "/cache", "/home/user/.cache", "/cache", "", false },
        { "/cache/", "/home/user/.cache", "/cache", "", false },
        { "/cached", "/home/user/project/cached", "/", "cached", true },
        { "/", "/home/user/project", "/", "", true },
        { "//src/./app.ts", "/home/user/project/src/app.ts", "/", "src/app.ts", true },
        { "/src/../cache/x", "/home/user/.cache/x", "/cache", "x", false },
        { "/cache/../src", "/home/user/project/src", "/", "src", true },
        { "/a/b/../../c", "/home/user/project/c", "/", "c", true },
        { "/a/..", "/home/user/project", "/", "", true },
        { "/...", "/home/user/project/...", "/", "...", true },
        { "/..a", "/home/user/project/..a", "/", "..a", true },
    };
    struct mount_table *table = make("/home/user/project", false, cache, 1);

    CHECK(table != NULL);
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct mount_place place = { 0 };

        CHECK(mount_table_resolve(table, rows[i].path, &place, NULL) == 0);
        CHECK_STR(place.host, rows[i].host);
        CHECK_STR(place.mount->target, rows[i].target);
        CHECK_STR(place.below, rows[i].below);
        CHECK(mount_table_can_read(table, rows[i].path));
        CHECK(mount_table_can_write(table, rows[i].path) == rows[i].can_write);
        mount_place_done(&place);
    }
    mount_table_free(table);
}

TEST(every_way_out_is_an_error)
{
    static const struct {
        const char *path;
        int errnum;
        const char *message;
    } rows[] = {
        { "/../etc/passwd", EACCES,
          "the path '/../etc/passwd' is outside the sandbox: its '..' leads above '/'" },
        { "/..", EACCES, "the path '/..' is outside the sandbox: its '..' leads above '/'" },
        { "/src/../../etc", EACCES,
          "the path '/src/../../etc' is outside the sandbox: its '..' leads above '/'" },
        { "/a/../../a", EACCES,
          "the path '/a/../../a' is outside the sandbox: its '..' leads above '/'" },
        { "/./../x", EACCES,
          "the path '/./../x' is outside the sandbox: its '..' leads above '/'" },
        { "//..//x", EACCES,
          "the path '//..//x' is outside the sandbox: its '..' leads above '/'" },
        { "/\x1b[2J/../..", EACCES,
          "the path '/\\x1b[2J/../..' is outside the sandbox: its '..' leads above '/'" },
        { "src/app.ts", EINVAL, "the path 'src/app.ts' is relative: write it from '/'" },
        { "../x", EINVAL, "the path '../x' is relative: write it from '/'" },
        { "", EINVAL, "the path is empty" },
        { "/a\nb", EINVAL, "the path has a newline in it, which coop refuses in paths" },
    };
    struct mount_table *table = make("/home/user/project", false, cache, 1);

    CHECK(table != NULL);
    for (size_t i = 0; i < COUNT(rows); i++) {
        auto_error coop_error *err = NULL;
        struct mount_place place = { 0 };

        CHECK(mount_table_resolve(table, rows[i].path, &place, &err) == -rows[i].errnum);
        CHECK_STR(coop_error_message(err), rows[i].message);
        CHECK(place.host == NULL);
        CHECK(!mount_table_can_read(table, rows[i].path));
        CHECK(!mount_table_can_write(table, rows[i].path));
    }
    mount_table_free(table);
}

TEST(the_longest_target_wins_and_the_later_of_equals)
{
    static const struct mount_entry mounts[] = {
        { "/h/deep", "/a/b/c", false, { 0 } }, { "/h/one", "/a/b", true, { "f", 2, 1 } },
        { "/h/two", "/a//b/", false, { 0 } },  { "/h/a", "/a", true, { 0 } },
        { "/", "/host", true, { 0 } },
    };
    auto_findings struct findings findings = { 0 };
    const struct mount_config config = { .root = "/h/root", .mounts = mounts, .n_mounts = 5 };
    struct mount_table *table = mount_table_new(&config, &findings);

    CHECK(table != NULL);
    CHECK_STR(resolve(table, "/a/b/c/d"), "/h/deep/d");
    CHECK_STR(resolve(table, "/a/b/cd"), "/h/two/cd");
    CHECK_STR(resolve(table, "/a/bc"), "/h/a/bc");
    CHECK_STR(resolve(table, "/ab"), "/h/root/ab");
    CHECK_STR(resolve(table, "/host/etc"), "/etc");
    CHECK_STR(resolve(table, "/host"), "/");
    CHECK(mount_table_can_write(table, "/a/b/x") && !mount_table_can_write(table, "/a/x"));
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
    const struct mount_config elsewhere = { .restrict_to = "/src", .mounts = cache, .n_mounts = 1 };

    CHECK(!mount_table_new(&none, &findings) && findings.n_errors == 1);
    CHECK_STR(findings.items[0].message, "the sandbox has no root");
    CHECK(!mount_table_new(&elsewhere, &findings) && findings.n_errors == 2);
    CHECK_STR(findings.items[1].message,
              "the path '/src' is outside the sandbox: nothing is mounted there");
}

/* ---- narrowing: the examples of the model */

TEST(permission_is_inherited_row_by_row)
{
    static const struct {
        bool parent_readonly;
        enum mount_readonly asked;
        bool is_error;
        bool child_readonly;
    } rows[] = {
        { false, MOUNT_READONLY_INHERIT, false, false },
        { false, MOUNT_READONLY_YES, false, true },
        { false, MOUNT_READONLY_NO, false, false },
        { true, MOUNT_READONLY_INHERIT, false, true },
        { true, MOUNT_READONLY_YES, false, true },
        { true, MOUNT_READONLY_NO, true, true },
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct mount_table *parent = make("/project", rows[i].parent_readonly, NULL, 0);
        struct mount_table *child = narrow(parent, NULL, rows[i].asked);

        CHECK(!child == rows[i].is_error);
        if (child)
            CHECK(mount_table_can_write(child, "/x") == !rows[i].child_readonly);
        mount_table_free(parent);
        mount_table_free(child);
    }
}

TEST(each_mount_inherits_for_itself)
{
    struct mount_table *parent = make("/project", false, cache, 1);
    struct mount_table *same = narrow(parent, NULL, MOUNT_READONLY_INHERIT);
    struct mount_table *child = narrow(parent, NULL, MOUNT_READONLY_YES);
    auto_error coop_error *err = NULL;
    const struct mount_request up = { NULL, MOUNT_READONLY_NO };
    struct mount_table *none = NULL;

    CHECK(mount_table_can_write(same, "/x") && !mount_table_can_write(same, "/cache/x"));
    CHECK(!mount_table_can_write(child, "/x") && !mount_table_can_write(child, "/cache/x"));
    CHECK(mount_table_can_read(child, "/x") && mount_table_can_read(child, "/cache/x"));
    CHECK(mount_table_restrict(parent, &up, &none, &err) == -EACCES && !none);
    CHECK_STR(coop_error_message(err),
              "'/cache' is read-only in the parent and cannot be made writable");
    /* Where the read-only mount is left out, nothing stands against it. */
    struct mount_table *source = narrow(parent, "/src", MOUNT_READONLY_NO);
    CHECK(source && mount_table_can_write(source, "/src/x"));
    mount_table_free(parent);
    mount_table_free(same);
    mount_table_free(child);
    mount_table_free(source);
}

TEST(a_reviewer_sees_the_same_paths_and_nothing_else)
{
    struct mount_table *parent = make("/home/user/my-project", false, NULL, 0);
    struct mount_table *child = narrow(parent, "/src", MOUNT_READONLY_YES);

    mount_table_free(parent); /* the child does not need it */
    CHECK_STR(resolve(child, "/src/app.ts"), "/home/user/my-project/src/app.ts");
    CHECK(mount_table_can_read(child, "/src"));
    CHECK(mount_table_can_read(child, "/src/utils.ts"));
    CHECK(mount_table_can_read(child, "/secrets/../src/x"));
    CHECK(!mount_table_can_write(child, "/src/app.ts"));
    CHECK(!mount_table_can_read(child, "/secrets/api-key.txt"));
    CHECK(!mount_table_can_read(child, "/"));
    CHECK(!mount_table_can_read(child, "/srcx"));
    CHECK(!mount_table_can_read(child, "/src/../secrets/api-key.txt"));
    CHECK_STR(resolve(child, "/secrets/k"),
              "the path '/secrets/k' is outside the sandbox, which is restricted to '/src'");
    CHECK_STR(print(child),
              "root = \"/home/user/my-project\"\nreadonly = true\nrestrict = \"/src\"\n");
    struct mount_place place = { 0 };
    CHECK(mount_table_resolve(child, "/src/app.ts", &place, NULL) == 0);
    CHECK_STR(place.mount->source, "/home/user/my-project"); /* what is opened does not move down */
    CHECK_STR(place.below, "src/app.ts");
    mount_place_done(&place);
    mount_table_free(child);
}

TEST(a_restriction_keeps_the_mounts_below_it)
{
    static const struct mount_entry mounts[] = {
        { "/h/b", "/a/b", true, { 0 } },
        { "/h/c", "/a/b/c", false, { 0 } },
        { "/h/x", "/x", false, { 0 } },
    };
    struct mount_table *parent = make("/h", false, mounts, 3);
    struct mount_table *at_a = narrow(parent, "/a", MOUNT_READONLY_INHERIT);
    struct mount_table *in_b = narrow(parent, "/a/b/d", MOUNT_READONLY_INHERIT);
    struct mount_table *at_c = narrow(at_a, "/a/b/c", MOUNT_READONLY_NO);

    CHECK_STR(print(at_a),
              "root = \"/h\"\nreadonly = false\nrestrict = \"/a\"\nmounts = [\n"
              "    { source = \"/h/b\", target = \"/a/b\", readonly = true },\n"
              "    { source = \"/h/c\", target = \"/a/b/c\", readonly = false },\n]\n");
    CHECK_STR(print(in_b), "restrict = \"/a/b/d\"\nmounts = [\n"
                           "    { source = \"/h/b\", target = \"/a/b\", readonly = true },\n]\n");
    CHECK_STR(resolve(in_b, "/a/b/d/e"), "/h/b/d/e");
    CHECK(!mount_table_can_read(in_b, "/a/b") && !mount_table_can_read(in_b, "/a/b/c"));
    CHECK(mount_table_can_write(at_c, "/a/b/c/x") && !mount_table_can_read(at_c, "/a/b"));
    CHECK(!narrow(at_a, "/x", MOUNT_READONLY_INHERIT));
    CHECK(!narrow(at_a, "/", MOUNT_READONLY_INHERIT));
    CHECK(!narrow(at_a, "/a/../x", MOUNT_READONLY_INHERIT));
    CHECK(!narrow(at_a, "a", MOUNT_READONLY_INHERIT));
    mount_table_free(parent);
    mount_table_free(at_a);
    mount_table_free(in_b);
    mount_table_free(at_c);
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

/* ---- is it within? */

TEST(an_excess_is_named_by_its_first_path)
{
    static const struct mount_entry extra[] = { { "/p/out", "/out", false, { 0 } } };
    static const struct mount_entry split[] = { { "/p/docs", "/docs", true, { 0 } } };
    static const struct mount_entry other[] = { { "/q", "/cache", true, { 0 } } };
    struct mount_table *plain = make("/p", false, NULL, 0);
    struct mount_table *readonly = make("/p", true, NULL, 0);
    struct mount_table *cached = make("/p", false, cache, 1);
    struct mount_table *changed = make("/p", false, other, 1);
    struct mount_table *docs = make("/p", false, split, 1);
    struct mount_table *out = make("/p", true, extra, 1);
    struct mount_table *source = narrow(plain, "/src", MOUNT_READONLY_INHERIT);
    struct mount_excess excess;
    const struct {
        const struct mount_table *child, *parent;
        enum mount_excess_kind kind;
        const char *path;
    } rows[] = {
        { plain, plain, MOUNT_EXCESS_NONE, NULL },
        { readonly, plain, MOUNT_EXCESS_NONE, NULL },
        { plain, readonly, MOUNT_EXCESS_WRITE, "/" },
        { source, plain, MOUNT_EXCESS_NONE, NULL },
        { plain, source, MOUNT_EXCESS_READ, "/" },
        { cached, plain, MOUNT_EXCESS_SOURCE, "/cache" },
        { plain, cached, MOUNT_EXCESS_SOURCE, "/cache" },
        { changed, cached, MOUNT_EXCESS_SOURCE, "/cache" },
        { docs, plain, MOUNT_EXCESS_LINK, "/docs" },
        { plain, docs, MOUNT_EXCESS_WRITE, "/docs" },
        { out, readonly, MOUNT_EXCESS_WRITE, "/out" },
        { out, plain, MOUNT_EXCESS_LINK, "/out" },
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        bool is_within = mount_table_is_within(rows[i].child, rows[i].parent, &excess);

        CHECK(is_within == (rows[i].kind == MOUNT_EXCESS_NONE));
        CHECK(excess.kind == rows[i].kind);
        if (rows[i].path)
            CHECK_STR(excess.path, rows[i].path);
        CHECK(mount_table_is_within(rows[i].child, rows[i].parent, NULL) == is_within);
    }
    struct mount_table *const all[] = { plain, readonly, cached, changed, docs, out, source };
    for (size_t i = 0; i < COUNT(all); i++)
        mount_table_free(all[i]);
}

/* ---- zones */

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
    CHECK_STR(resolve(table, "/out/x"), "/tmp/sandbox/build/x");
    CHECK_STR(resolve(table, "/abs"), "/tmp/sandbox/abs");
    CHECK(mount_table_can_write(table, "/out/x") && !mount_table_can_write(table, "/abs/x"));
    mount_table_free(table);
    table = zones_convert(&(struct zones){ "/b", reversed, 3, { 0 } }, &findings);
    CHECK(table && mount_table_config(table)->n_mounts == 2);
    CHECK_STR(mount_table_config(table)->root, "/b");
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

/* ---- random tables, all paths of a small world */

static uint64_t random_state;

static unsigned random_below(unsigned n)
{
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(random_state >> 33) % n;
}

#define N_PATHS 121 /* "/" and up to four components of a, b, c */

static char world[N_PATHS][12];

static void make_world(void)
{
    size_t n = 1;

    (void)strcpy(world[0], "/");
    for (size_t i = 0; n < N_PATHS; i++) {
        size_t length = i == 0 ? 0 : strlen(world[i]);

        for (char c = 'a'; c <= 'c'; c++, n++) {
            memcpy(world[n], world[i], length);
            memcpy(world[n] + length, (char[]){ '/', c, '\0' }, 3);
        }
    }
}

struct random_table {
    struct mount_entry mounts[6];
    struct mount_config config;
    struct mount_table *table;
};

static void random_table(struct random_table *out)
{
    static const char *const sources[] = { "/", "/h", "/h/a", "/h/a/b", "/x", "/h/c" };
    auto_findings struct findings findings = { 0 };
    size_t n = random_below(COUNT(out->mounts) + 1);

    for (size_t i = 0; i < n; i++)
        out->mounts[i] = (struct mount_entry){ .source = sources[random_below(COUNT(sources))],
                                               .target = world[random_below(40)],
                                               .readonly = random_below(2) };
    out->config = (struct mount_config){ .root = random_below(3) ? "/h" : "/",
                                         .readonly = random_below(3) == 0,
                                         .mounts = out->mounts,
                                         .n_mounts = n };
    out->table = mount_table_new(&out->config, &findings);
    if (!out->table)
        abort();
}

/* By looking at all mounts in the order in which they were given. */
static void reference_resolve(const struct mount_config *config, const char *path, char *host,
                              bool *readonly)
{
    const char *source = config->root;
    size_t longest = 1;

    *readonly = config->readonly;
    for (size_t i = 0; i < config->n_mounts; i++) {
        const struct mount_entry *mount = &config->mounts[i];
        size_t n = strlen(mount->target);
        bool is_below =
            n == 1 || (strncmp(path, mount->target, n) == 0 && (path[n] == '/' || path[n] == '\0'));

        if (is_below && n >= longest) {
            longest = n;
            source = mount->source;
            *readonly = mount->readonly;
        }
    }
    const char *rest = path + (longest == 1 ? 1 : longest);
    rest += *rest == '/';
    (void)sprintf(host, "%s%s%s", source, *rest && source[1] ? "/" : "", rest);
}

TEST(random_tables_resolve_like_a_slow_reading_of_the_rules)
{
    make_world();
    random_state = 3;
    for (unsigned i = 0; i < 1000; i++) {
        struct random_table random;

        random_table(&random);
        for (size_t j = 0; j < N_PATHS; j++) {
            char host[64];
            bool readonly;

            reference_resolve(&random.config, world[j], host, &readonly);
            CHECK_STR(resolve(random.table, world[j]), host);
            CHECK(mount_table_can_read(random.table, world[j]));
            CHECK(mount_table_can_write(random.table, world[j]) == !readonly);
        }
        mount_table_free(random.table);
    }
}

static struct mount_request random_request(void)
{
    unsigned readonly = random_below(8);

    return (struct mount_request){
        .restrict_to = random_below(3) ? world[random_below(N_PATHS)] : NULL,
        .readonly = readonly == 0  ? MOUNT_READONLY_NO
                    : readonly < 4 ? MOUNT_READONLY_YES
                                   : MOUNT_READONLY_INHERIT,
    };
}

/* Whether the child does at `path` exactly what the parent and the request allow. */
static bool is_as_asked(const struct mount_table *child, const struct mount_table *parent,
                        const struct mount_request *request, const char *path)
{
    bool is_inside = !request->restrict_to || path_is_within(path, request->restrict_to);
    bool can_read = is_inside && mount_table_can_read(parent, path);
    bool can_write =
        is_inside && mount_table_can_write(parent, path) && request->readonly != MOUNT_READONLY_YES;
    struct mount_place ours = { 0 };
    struct mount_place theirs = { 0 };
    bool is_same = true;

    if (can_read) {
        is_same = mount_table_resolve(child, path, &ours, NULL) == 0 &&
                  mount_table_resolve(parent, path, &theirs, NULL) == 0 &&
                  strcmp(ours.host, theirs.host) == 0 && strcmp(ours.below, theirs.below) == 0;
        mount_place_done(&ours);
        mount_place_done(&theirs);
    }
    return is_same && mount_table_can_read(child, path) == can_read &&
           mount_table_can_write(child, path) == can_write;
}

/* Whether the request must be refused. */
static bool asks_too_much(const struct mount_table *parent, const struct mount_request *request)
{
    bool too_much = request->restrict_to && !mount_table_can_read(parent, request->restrict_to);

    for (size_t i = 0; i < N_PATHS && request->readonly == MOUNT_READONLY_NO; i++) {
        bool is_inside = !request->restrict_to || path_is_within(world[i], request->restrict_to);

        too_much |= is_inside && mount_table_can_read(parent, world[i]) &&
                    !mount_table_can_write(parent, world[i]);
    }
    return too_much;
}

TEST(a_child_can_do_what_was_asked_and_never_more_than_its_parent)
{
    unsigned n_children = 0;

    make_world();
    random_state = 4;
    for (unsigned i = 0; i < 3000; i++) {
        struct random_table random;

        random_table(&random);
        struct mount_table *parent = random.table;
        for (unsigned generation = 0; generation < 3; generation++) {
            struct mount_request request = random_request();
            struct mount_table *child = NULL;
            struct mount_excess excess;

            CHECK((mount_table_restrict(parent, &request, &child, NULL) < 0) ==
                  asks_too_much(parent, &request));
            if (!child)
                continue;
            n_children++;
            for (size_t j = 0; j < N_PATHS; j++)
                CHECK(is_as_asked(child, parent, &request, world[j]));
            CHECK(mount_table_is_within(child, parent, &excess));
            mount_table_free(parent);
            parent = child;
        }
        mount_table_free(parent);
    }
    CHECK(n_children > 3000);
}

static bool is_same_table(const struct mount_table *a, const struct mount_table *b)
{
    char text[2000];

    (void)strcpy(text, print(a));
    return strcmp(text, print(b)) == 0 && mount_table_is_within(a, b, NULL) &&
           mount_table_is_within(b, a, NULL);
}

/* One request that asks for what two ask for, one after the other. */
static struct mount_request both(struct mount_request first, struct mount_request second)
{
    return (struct mount_request){
        .restrict_to = second.restrict_to ? second.restrict_to : first.restrict_to,
        .readonly = first.readonly == MOUNT_READONLY_YES || second.readonly == MOUNT_READONLY_YES
                        ? MOUNT_READONLY_YES
                        : MOUNT_READONLY_INHERIT,
    };
}

static struct mount_table *narrow_by(const struct mount_table *parent, struct mount_request request)
{
    return parent ? narrow(parent, request.restrict_to, request.readonly) : NULL;
}

TEST(narrowing_is_associative_and_its_two_sides_commute)
{
    unsigned n_compared = 0;

    make_world();
    random_state = 5;
    for (unsigned i = 0; i < 3000; i++) {
        struct random_table random;
        struct mount_request a = random_request();
        struct mount_request b = random_request();

        random_table(&random);
        struct mount_table *one = narrow_by(random.table, a);
        struct mount_table *two = narrow_by(one, b);
        struct mount_table *at_once = narrow_by(random.table, both(a, b));
        if (two) {
            n_compared++;
            CHECK(at_once && is_same_table(two, at_once));
        }

        struct mount_request place = { a.restrict_to, MOUNT_READONLY_INHERIT };
        struct mount_request readonly = { NULL, MOUNT_READONLY_YES };
        struct mount_table *place_first = narrow_by(random.table, place);
        struct mount_table *readonly_first = narrow_by(random.table, readonly);
        struct mount_table *left = narrow_by(place_first, readonly);
        struct mount_table *right = narrow_by(readonly_first, place);
        CHECK(left && right && is_same_table(left, right));

        /* What is in force can be written down and read again. */
        auto_findings struct findings findings = { 0 };
        struct mount_table *again = mount_table_new(mount_table_config(left), &findings);
        CHECK(again && findings.n == 0 && is_same_table(again, left));

        struct mount_table *const all[] = { random.table,   one,  two,   at_once, place_first,
                                            readonly_first, left, right, again };
        for (size_t j = 0; j < COUNT(all); j++)
            mount_table_free(all[j]);
    }
    CHECK(n_compared > 500);
}

/* The kind of excess at one path, found by asking for it. */
static enum mount_excess_kind excess_at(const struct mount_table *child,
                                        const struct mount_table *parent, const char *path)
{
    struct mount_place ours = { 0 };
    struct mount_place theirs = { 0 };
    enum mount_excess_kind kind = MOUNT_EXCESS_NONE;

    if (mount_table_resolve(child, path, &ours, NULL) < 0)
        return MOUNT_EXCESS_NONE;
    if (mount_table_resolve(parent, path, &theirs, NULL) < 0)
        kind = MOUNT_EXCESS_READ;
    else if (strcmp(ours.host, theirs.host) != 0)
        kind = MOUNT_EXCESS_SOURCE;
    else if (mount_table_can_write(child, path) && !mount_table_can_write(parent, path))
        kind = MOUNT_EXCESS_WRITE;
    else if (strcmp(ours.below, theirs.below) != 0)
        kind = MOUNT_EXCESS_LINK;
    mount_place_done(&ours);
    mount_place_done(&theirs);
    return kind;
}

/* The same, with one more mount that puts what was there at its place. */
static struct mount_table *split(const struct mount_table *table)
{
    auto_findings struct findings findings = { 0 };
    struct mount_config config = *mount_table_config(table);
    struct mount_place place = { 0 };
    const char *path = world[random_below(40)];
    struct mount_entry mounts[8];

    if (mount_table_resolve(table, path, &place, NULL) < 0)
        return NULL;
    memcpy(mounts, config.mounts, config.n_mounts * sizeof *mounts);
    mounts[config.n_mounts++] = (struct mount_entry){ place.host, path, true, { 0 } };
    config.mounts = mounts;
    struct mount_table *again = mount_table_new(&config, &findings);
    mount_place_done(&place);
    return again;
}

TEST(the_proof_agrees_with_looking_at_every_path)
{
    unsigned n[MOUNT_EXCESS_LINK + 1] = { 0 };

    make_world();
    random_state = 6;
    for (unsigned i = 0; i < 5000; i++) {
        struct random_table random[2];
        struct mount_table *table[2];
        struct mount_excess excess;
        unsigned seen[MOUNT_EXCESS_LINK + 1] = { 0 };

        for (size_t j = 0; j < 2; j++) {
            random_table(&random[j]);
            table[j] = random_below(2) ? narrow_by(random[j].table, random_request()) : NULL;
            if (!table[j])
                table[j] = narrow(random[j].table, NULL, MOUNT_READONLY_INHERIT);
        }
        if (i % 4 < 2) { /* otherwise nearly no pair would be one in the other */
            mount_table_free(table[0]);
            table[0] = i % 4 == 0 ? narrow(table[1], NULL, random_below(3)) : split(table[1]);
            if (!table[0])
                table[0] = narrow(table[1], NULL, MOUNT_READONLY_YES);
        }
        for (size_t j = 0; j < N_PATHS; j++)
            seen[excess_at(table[0], table[1], world[j])]++;
        unsigned n_hard =
            seen[MOUNT_EXCESS_READ] + seen[MOUNT_EXCESS_WRITE] + seen[MOUNT_EXCESS_SOURCE];
        CHECK(mount_table_is_within(table[0], table[1], &excess) ==
              (n_hard + seen[MOUNT_EXCESS_LINK] == 0));
        n[excess.kind]++;
        if (excess.kind != MOUNT_EXCESS_NONE) {
            CHECK(excess_at(table[0], table[1], excess.path) == excess.kind);
            CHECK((excess.kind == MOUNT_EXCESS_LINK) == (n_hard == 0));
        }
        for (size_t j = 0; j < N_PATHS && excess.kind != MOUNT_EXCESS_NONE; j++) { /* the first */
            enum mount_excess_kind kind = excess_at(table[0], table[1], world[j]);

            CHECK(kind == MOUNT_EXCESS_NONE ||
                  (kind == MOUNT_EXCESS_LINK && excess.kind != MOUNT_EXCESS_LINK) ||
                  strcmp(world[j], excess.path) >= 0);
        }
        for (size_t j = 0; j < 2; j++) {
            mount_table_free(random[j].table);
            mount_table_free(table[j]);
        }
    }
    for (size_t i = 0; i < COUNT(n); i++)
        CHECK(n[i] > 10);
}
