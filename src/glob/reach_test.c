/* worlds: user */
#include "reach.h"

#include <stdlib.h>
#include <string.h>

#include "test/check.h"

static struct glob *new_glob(const char *pattern, bool ignore_case)
{
    auto_findings struct findings findings = { 0 };

    return glob_new(pattern, strlen(pattern), ignore_case, (struct origin){ 0 }, &findings);
}

/* What every question needs: the path's names, and how far they go. */
struct asked {
    struct glob *glob;
    struct glob_path path;
    struct glob_reach reach;
    bool matches;
};

static void ask(struct asked *asked, const char *pattern, const char *path)
{
    asked->glob = new_glob(pattern, false);
    CHECK(asked->glob);
    CHECK(glob_path_init(&asked->path, path, false));
    asked->matches = glob_reach(asked->glob, &asked->path, &asked->reach);
}

static bool matches(const char *pattern, const char *path)
{
    static struct asked asked;

    ask(&asked, pattern, path);
    glob_free(asked.glob);
    return asked.matches;
}

static bool is_meant(const char *pattern, const char *path)
{
    static struct asked asked;

    ask(&asked, pattern, path);
    bool r = !asked.matches && glob_reach_is_meant(asked.glob, &asked.reach, 1);
    glob_free(asked.glob);
    return r;
}

static bool is_ancestor(const char *pattern, const char *path)
{
    static struct asked asked;

    ask(&asked, pattern, path);
    bool r = glob_path_is_literal_ancestor(asked.glob, &asked.path);
    glob_free(asked.glob);
    return r;
}

static bool is_within(const char *pattern, const char *path, const char *other)
{
    static struct asked a;
    static struct asked b;

    ask(&a, pattern, path);
    ask(&b, pattern, other);
    bool r = glob_reach_is_within(a.glob, &a.reach, &b.reach);
    glob_free(a.glob);
    glob_free(b.glob);
    return r;
}

TEST(matches_the_path_and_what_is_below)
{
    CHECK(matches("work/.git/hooks", "work/.git/hooks"));
    CHECK(matches("work/.git/hooks", "work/.git/hooks/pre-commit"));
    CHECK(!matches("work/.git/hooks", "work/.git"));
    CHECK(!matches("work/.git/hooks", "work/a/.git/hooks"));
    CHECK(matches("work/**/.git/modules/**/hooks", "work/.git/modules/hooks"));
    CHECK(matches("work/**/.git/modules/**/hooks", "work/a/b/.git/modules/c/d/hooks/x"));
    CHECK(!matches("work/**/.git/modules/**/hooks", "work/a/b/.git/modules/c/d/hook"));
    CHECK(matches("work/a/**", "work/a/b"));
    CHECK(matches("work/*.pem", "work/x.pem"));
    CHECK(!matches("work/*.pem", "work/a/x.pem"));
    CHECK(!matches("work/.envrc", ""));
}

/* The same answers as the other matcher, asked about each path and what is above it. */
TEST(agrees_with_glob_match)
{
    static const char *const patterns[] = {
        "a/b",      "a/**",   "**/b",    "a/**/b/**/c", "*/b",
        "**/*.pem", "?/[bc]", "a/**/**", "**/a/**/a",   "b*/*c"
    };
    static const char *const names[] = { "a", "b", "c", "x.pem", "bc" };
    unsigned n_matches = 0;

    for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++)
        for (unsigned number = 0; number < 5 * 5 * 5 * 5; number++) {
            struct glob *glob = new_glob(patterns[i], false);
            bool expected = false;
            char path[64] = "";

            for (unsigned rest = number, depth = 0; depth < 4; depth++, rest /= 5) {
                if (depth > 0)
                    strcat(path, "/");
                strcat(path, names[rest % 5]);
                expected |= glob_match(glob, path, true);
            }
            n_matches += expected;
            CHECK(matches(patterns[i], path) == expected);
            glob_free(glob);
        }
    CHECK(n_matches > 500);
}

TEST(knows_what_is_on_the_way)
{
    CHECK(is_ancestor("work/.git/hooks", "work/.git"));
    CHECK(is_ancestor("work/.git/hooks", "work"));
    CHECK(!is_ancestor("work/.git/hooks", "work/.git/hooks"));
    CHECK(!is_ancestor("work/.git/hooks", "work/.gi"));
    CHECK(!is_ancestor("work/.git/hooks", ""));
    CHECK(is_ancestor("work/.git/modules/**/hooks", "work/.git/modules"));
    CHECK(!is_ancestor("work/.git/modules/**/hooks", "work/.git/modules/a"));
    CHECK(!is_ancestor("work/**/.git/modules/**/hooks", "work/.git"));

    CHECK(is_meant("work/.git/hooks", "work/.git"));
    CHECK(!is_meant("work/.git/hooks", "work/.gitx"));
    CHECK(is_meant("work/**/.git/modules/**/hooks", "work/a/.git"));
    CHECK(is_meant("work/**/.git/modules/**/hooks", "work/a/.git/modules/m/n"));
    CHECK(!is_meant("work/**/.git/modules/**/hooks", "work/a/b"));
    CHECK(!is_meant("work/*/secret", "work/a"));
}

TEST(compares_two_places)
{
    const char *modules = "work/**/.git/modules/**/hooks";

    CHECK(is_within(modules, "work/a", "work/b/c"));
    CHECK(!is_within(modules, "work/a/.git", "work/a/g"));
    CHECK(is_within(modules, "work/a/g", "work/a/.git"));
    CHECK(!is_within("work/.git/hooks", "work/.git", "work/x"));
    CHECK(is_within("work/.git/hooks", "work/x", "work/.git"));
    CHECK(!is_within("work/*/secret", "work/a", "work/a/b"));
}

TEST(a_path_that_is_too_long_is_said_to_be)
{
    static struct glob_path path;
    char *text = malloc(GLOB_PATH_MAX + 2);

    CHECK(text);
    memset(text, 'a', GLOB_PATH_MAX + 1);
    text[GLOB_PATH_MAX + 1] = '\0';
    CHECK(!glob_path_init(&path, text, false));
    for (size_t i = 0; i < GLOB_PATH_MAX; i += 2)
        text[i] = '/';
    text[GLOB_PATH_MAX] = '\0';
    CHECK(glob_path_init(&path, text, true));
    CHECK(path.n == GLOB_PATH_MAX / 2);
    free(text);
}

TEST(ignores_case_on_request)
{
    static struct glob_path path;
    struct glob *glob = new_glob("work/.git/hooks", true);
    struct glob_reach reach;

    CHECK(glob_path_init(&path, "work/.GIT/HooKs", true));
    CHECK(glob_reach(glob, &path, &reach));
    glob_free(glob);
}
