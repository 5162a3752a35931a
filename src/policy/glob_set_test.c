#include "policy/glob_set.h"

#include "base/buffer.h"
#include "test/globs.h"

static const char *pattern_of(const struct glob_rule *rule)
{
    return rule ? rule->pattern : "-";
}

TEST(a_set_decides_by_the_most_specific_rule)
{
    static const char *const patterns[] = {
        ".env",        ".env.*",
        "**/.env",     "**/credentials.json",
        "**/*secret*", "**/*password*",
        "**/*.pem",    "**/*.key",
        ".git/config", "**/.env.example",
        "*.pub",       ".git/hooks/",
        ".vscode/**",  NULL,
    };
    static const struct {
        const char *path;
        const char *pattern;
    } decisions[] = {
        { ".env", ".env" },
        { "a/.env", "**/.env" },
        { ".env.local", ".env.*" },
        { "a/.env.local", "-" },
        { ".env.example", "**/.env.example" },
        { "a/b/.env.example", "**/.env.example" },
        { "credentials.json", "**/credentials.json" },
        { "a/credentials.json", "**/credentials.json" },
        { "my-secret.key", "**/*secret*" },
        { "a/secret/b", "-" },
        { "a/id.key", "**/*.key" },
        { "id.pub", "*.pub" },
        { "secret.pub", "**/*secret*" },
        { ".git/config", ".git/config" },
        { ".git/config.lock", "-" },
        { ".git/hooks", ".git/hooks/" },
        { ".git/hooks/pre-commit", "-" },
        { ".vscode", ".vscode/**" },
        { ".vscode/settings.json", ".vscode/**" },
        { ".vscode/x.pem", ".vscode/**" },
        { "src/main.c", "-" },
        { "", "-" },
    };
    struct glob_set *set = make_set(patterns, false);
    bool good = true;

    CHECK(set != NULL);
    for (size_t i = 0; i < COUNT(decisions); i++) {
        const char *path = decisions[i].path;
        const char *pattern = pattern_of(glob_set_decide(set, path, true));
        const char *walked = *path ? pattern_of(walk_to(set, path, true)) : pattern;

        if (strcmp(pattern, decisions[i].pattern) != 0 || strcmp(walked, pattern) != 0) {
            printf("# '%s': '%s', walking '%s', not '%s'\n", path, pattern, walked,
                   decisions[i].pattern);
            good = false;
        }
    }
    CHECK(good);
    CHECK(!glob_set_decide(set, ".git/hooks", false));
    const struct glob_rule *rule = glob_set_decide(set, "x/credentials.json", false);
    CHECK(rule && rule->action == 3 && rule->origin.line == 4 && rule->length == 19);
    glob_set_free(set);
}

TEST(the_later_of_equal_rules_wins)
{
    static const char *const patterns[] = { "**/*.key", "**/*.k[ae]y", "**/*.key",
                                            "*x*",      "*x*",         NULL };
    struct glob_set *set = make_set(patterns, false);

    CHECK(glob_set_decide(set, "a.key", false)->action == 2);
    CHECK(walk_to(set, "a.key", false)->action == 2);
    CHECK(glob_set_decide(set, "axb", false)->action == 4);
    CHECK(walk_to(set, "axb", false)->action == 4);
    glob_set_free(set);
}

TEST(a_set_reports_all_its_mistakes_at_once)
{
    auto_findings struct findings findings = { 0 };
    const struct glob_rule rules[] = {
        { "a[", 2, 0, { "coop.toml", 1, 5 } },
        { "good", 4, 0, { "coop.toml", 2, 5 } },
        { "", 0, 0, { "coop.toml", 3, 5 } },
        { "**x", 3, 0, { "--protect", 0, 0 } },
    };
    auto_error coop_error *err = NULL;

    CHECK(!glob_set_new(rules, COUNT(rules), false, &findings));
    CHECK(findings.n_errors == 3);
    CHECK(findings_fail(&findings, &err) < 0);
    CHECK(strncmp(coop_error_message(err), "coop.toml:1:5: the pattern 'a[' has", 35) == 0);
    CHECK(strstr(coop_error_message(err), "\ncoop.toml:3:5: the pattern '' is empty"));
    CHECK(strstr(coop_error_message(err), "\n--protect: the pattern '**x'"));
}

TEST(an_empty_set_decides_nothing)
{
    auto_findings struct findings findings = { 0 };
    struct glob_set *set = glob_set_new(NULL, 0, false, &findings);
    uint64_t state[1];
    uint64_t child[1];

    CHECK(set && glob_set_words(set) == 1);
    CHECK(!glob_set_decide(set, "a", true));
    CHECK(!glob_set_may_match_below(set, ""));
    glob_set_start(set, state);
    CHECK(!glob_set_decide_name(set, state, "a", 1, true));
    CHECK(!glob_set_enter(set, state, "a", 1, child));
    CHECK(!glob_set_seek(set, "a/b", state, child));
    glob_set_free(set);
}

TEST(a_walk_leaves_out_what_cannot_match)
{
    static const char *const patterns[] = { ".git/hooks", ".git/modules/**/config", "a/*/c", "x/**",
                                            NULL };
    static const struct {
        const char *directory;
        bool may_match;
    } places[] = {
        { "", true },
        { ".git", true },
        { ".git/hooks", false },
        { ".git/x", false },
        { ".git/modules", true },
        { ".git/modules/a/b", true },
        { "a", true },
        { "a/b", true },
        { "a/b/c", false },
        { "b", false },
        { "x", true },
        { "x/y/z", true },
        { "y/x", false },
    };
    struct glob_set *set = make_set(patterns, false);
    uint64_t state[1];
    uint64_t spare[1];

    CHECK(set && glob_set_words(set) == 1);
    for (size_t i = 0; i < COUNT(places); i++) {
        CHECK(glob_set_may_match_below(set, places[i].directory) == places[i].may_match);
        CHECK(glob_set_seek(set, places[i].directory, state, spare) == places[i].may_match);
    }
    CHECK(glob_set_seek(set, ".git/modules/a", state, spare));
    CHECK_STR(pattern_of(glob_set_decide_name(set, state, "config", 6, false)), patterns[1]);
    CHECK(!glob_set_decide_name(set, state, "hooks", 5, true));
    glob_set_free(set);
}

TEST(ten_thousand_rules_are_told_apart)
{
    enum { N = 10000 };
    static char text[N][24];
    static struct glob_rule rules[N];
    auto_findings struct findings findings = { 0 };

    for (size_t i = 0; i < N; i++) {
        int n = snprintf(text[i], sizeof text[i],
                         i % 3 == 0   ? "**/name-%zu"
                         : i % 3 == 1 ? "d%zu/*.key"
                                      : "**/%zu-*",
                         i);
        rules[i] = (struct glob_rule){ text[i], (size_t)n, (int)i, { 0 } };
    }
    struct glob_set *set = glob_set_new(rules, N, true, &findings);
    CHECK(set != NULL);
    for (size_t i = 0; i < N; i += 97) {
        char path[40];

        (void)snprintf(path, sizeof path,
                       i % 3 == 0   ? "a/b/NAME-%zu"
                       : i % 3 == 1 ? "D%zu/x.key"
                                    : "a/%zu-x",
                       i);
        const struct glob_rule *rule = glob_set_decide(set, path, false);
        CHECK(rule && rule->action == (int)i);
        CHECK(walk_to(set, path, false) == rule);
    }
    CHECK(!glob_set_decide(set, "name-x", false) && !walk_to(set, "name-x", false));
    glob_set_free(set);
}

/* A state is several words here, and some ** is the last bit of one. */
TEST(a_walk_loses_no_pattern_between_words)
{
    enum { N = 300 };
    static char text[N][16];
    static struct glob_rule rules[N + 1];
    auto_findings struct findings findings = { 0 };

    for (size_t i = 0; i < N; i++) {
        int n = snprintf(text[i], sizeof text[i], "**/n%zu", i);

        rules[i] = (struct glob_rule){ text[i], (size_t)n, (int)i, { 0 } };
    }
    rules[N] = (struct glob_rule){ "top", 3, N, { 0 } };
    struct glob_set *set = glob_set_new(rules, N + 1, false, &findings);
    CHECK(set && glob_set_words(set) > 4);
    for (size_t i = 0; i < N; i++) {
        char path[24];

        (void)snprintf(path, sizeof path, "a/b/n%zu", i);
        const struct glob_rule *rule = walk_to(set, path, false);
        CHECK(rule && rule->action == (int)i);
    }
    glob_set_free(set);
}

/* If the cost of these grew with the number of ways to match, they would not end. The letters and the
 * last name are right, so that nothing is sorted out early. */
TEST(no_pattern_takes_for_ever)
{
    static const struct {
        const char *part; /* repeated, then the end */
        const char *end;
        const char *path_start;
        const char *path_part; /* repeated, then the end */
        const char *path_end;
    } shapes[] = {
        { "*a", "b", "b", "a", "" },          { "*aa", "b", "b", "a", "" },
        { "*?", "b", "b", "a", "" },          { "*[ab]", "b", "b", "a", "" },
        { "a*a*", "b", "b", "a", "" },        { "**/a/", "x/b", "", "a/", "b" },
        { "**/*/", "x/b", "", "a/", "b" },    { "**/a/a/a/", "x/b", "", "a/", "b" },
        { "**/*a*/", "x/b", "", "aa/", "b" }, { "**/a*a/", "x/*b", "", "aaa/", "b" },
        { "a*", "b/**/c", "b", "a", "/c" },
    };

    for (size_t i = 0; i < COUNT(shapes); i++) {
        auto_buffer struct buffer pattern = { 0 };
        auto_buffer struct buffer path = { 0 };

        while (pattern.length + 16 < GLOB_PATTERN_MAX)
            buffer_append_string(&pattern, shapes[i].part);
        buffer_append_string(&path, shapes[i].path_start);
        while (path.length + 16 < GLOB_PATH_MAX)
            buffer_append_string(&path, shapes[i].path_part);
        buffer_append_string(&pattern, shapes[i].end);
        buffer_append_string(&path, shapes[i].path_end);
        CHECK(!pattern.failed && !path.failed);
        const char *const patterns[] = { pattern.data, NULL };
        struct glob_set *set = make_set(patterns, i % 2);
        CHECK(set != NULL);
        CHECK(!glob_set_decide(set, path.data, true));
        CHECK(!walk_to(set, path.data, true));
        glob_set_free(set);
    }
}
