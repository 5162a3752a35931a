#include "policy/glob.h"

#include <stdint.h>

#include "base/buffer.h"
#include "base/cleanup.h"
#include "policy/glob_set.h"
#include "test/check.h"

static struct glob *compile(const char *pattern, bool ignore_case)
{
    auto_findings struct findings findings = { 0 };
    struct glob *glob =
        glob_new(pattern, strlen(pattern), ignore_case, (struct origin){ "t", 1, 1 }, &findings);

    if (!glob)
        printf("# '%s': %s\n", pattern, findings.n ? findings.items[0].message : "no memory");
    return glob;
}

/* ---- one pattern, one path */

enum {
    NO,
    YES,
    DIR_ONLY
}; /* DIR_ONLY: matches if the path is a directory, and not if it is none */

struct row {
    const char *pattern;
    const char *path;
    int expected;
};

static const struct row rows[] = {
    /* literals: the whole path, from the top */
    { ".env", ".env", YES },
    { ".env", "a/.env", NO },
    { ".env", ".envx", NO },
    { ".env", "x.env", NO },
    { ".env", ".en", NO },
    { ".env", ".ENV", NO },
    { ".env", "", NO },
    { "/.env", ".env", YES },
    { "/.env", "a/.env", NO },
    { "//.env", ".env", YES },
    { ".env", "/.env", YES },
    { ".env", "//.env", YES },
    { "a/b", "a/b", YES },
    { "a//b", "a/b", YES },
    { "a/b", "a//b", YES },
    { "a/b", "a/b/c", NO },
    { "a/b", "a", NO },
    { "a/b", "b", NO },
    { "a/b", "x/a/b", NO },
    { "/a/b", "a/b", YES },
    { ".git/config", ".git/config", YES },
    { ".git/config", ".git/config.lock", NO },
    { ".git/config", "sub/.git/config", NO },
    { "a", "a/", YES },
    { "...", "...", YES },
    { "a..b", "a..b", YES },
    { "~", "~", YES },
    { "{a,b}", "{a,b}", YES },
    { "{a,b}", "a", NO },
    { "!a", "!a", YES },
    { "#a", "#a", YES },
    { "a b", "a b", YES },
    { "]", "]", YES },
    { "a]b", "a]b", YES },
    { "-", "-", YES },

    /* directories only */
    { "a/", "a", DIR_ONLY },
    { "a//", "a", DIR_ONLY },
    { "a/b/", "a/b", DIR_ONLY },
    { "**/", "a", DIR_ONLY },
    { "**/", "a/b/c", DIR_ONLY },
    { "**/x/", "a/x", DIR_ONLY },
    { "*/", "a", DIR_ONLY },
    { "*/", "a/b", NO },
    { "a/", "a/b", NO },
    { "a/**/", "a/b", DIR_ONLY },

    /* star */
    { "*", "a", YES },
    { "*", "", NO },
    { "*", ".hidden", YES },
    { "*", "a/b", NO },
    { "a*", "a", YES },
    { "a*", "abc", YES },
    { "a*", "ba", NO },
    { "a*", "ab/c", NO },
    { ".env.*", ".env.local", YES },
    { ".env.*", ".env.", YES },
    { ".env.*", ".env", NO },
    { ".env.*", "a/.env.local", NO },
    { "*a", "a", YES },
    { "*a", "ba", YES },
    { "*a", "ab", NO },
    { "*.pem", ".pem", YES },
    { "*.pem", "x.pem", YES },
    { "*.pem", "x.pem.bak", NO },
    { "*.pem", "d/x.pem", NO },
    { "*.pem", "pem", NO },
    { "*ab*", "ab", YES },
    { "*ab*", "xaby", YES },
    { "*ab*", "aab", YES },
    { "*ab*", "ba", NO },
    { "*ab*", "a/b", NO },
    { "*aab*", "aaab", YES },
    { "*aab*", "abab", NO },
    { "a*b", "ab", YES },
    { "a*b", "axxb", YES },
    { "a*b", "axbx", NO },
    { "a*b", "axbxb", YES },
    { "a*b", "a", NO },
    { "a*b", "b", NO },
    { "a*a", "a", NO },
    { "a*a", "aa", YES },
    { "a*b*c", "abc", YES },
    { "a*b*c", "axbxbxc", YES },
    { "a*b*c", "acb", NO },
    { "*a*b*", "xaxbx", YES },
    { "*a*b*", "ba", NO },
    { "*/b", "a/b", YES },
    { "*/b", "b", NO },
    { "*/b", "x/a/b", NO },
    { "a/*/b", "a/x/b", YES },
    { "a/*/b", "a/b", NO },
    { "a/*/b", "a/x/y/b", NO },
    { "a/*", "a/b", YES },
    { "a/*", "a", NO },
    { "a/*", "a/b/c", NO },
    { "*/*", "a/b", YES },
    { "*/*", "a", NO },
    { "a*/b*", "a1/b2", YES },
    { "a*/b*", "a1/c2", NO },

    /* deep */
    { "**", "a", YES },
    { "**", "a/b/c", YES },
    { "**", "", YES },
    { "**/**", "a", YES },
    { "**/**", "", YES },
    { "**/.env", ".env", YES },
    { "**/.env", "a/.env", YES },
    { "**/.env", "a/b/c/.env", YES },
    { "**/.env", "a/b.env", NO },
    { "**/.env", "a/.env/b", NO },
    { "**/.env", "", NO },
    { "/**/.env", "a/.env", YES },
    { "**/*secret*", "secret", YES },
    { "**/*secret*", "a/my-secrets.txt", YES },
    { "**/*secret*", "secret/a", NO },
    { "**/*.key", "a/b/c.key", YES },
    { "a/**", "a", YES },
    { "a/**", "a/b", YES },
    { "a/**", "a/b/c", YES },
    { "a/**", "ab", NO },
    { "a/**", "b/a", NO },
    { "a/**/b", "a/b", YES },
    { "a/**/b", "a/x/b", YES },
    { "a/**/b", "a/x/y/b", YES },
    { "a/**/b", "a/x/y/bb", NO },
    { "a/**/b", "b", NO },
    { "a/**/b", "a/b/c", NO },
    { "a/**/**/b", "a/b", YES },
    { "a/**/*", "a", NO },
    { "a/**/*", "a/b/c", YES },
    { "**/a/**/b/**", "a/b", YES },
    { "**/a/**/b/**", "x/a/x/b/x", YES },
    { "**/a/**/b/**", "b/a", NO },
    { "**/a/b", "a/a/b", YES },
    { "**/a/b", "a/x/b", NO },
    { "**/a/b", "a/b/a", NO },
    { "**/a/b/a/c", "a/b/a/b/a/c", YES },
    { "**/*/a", "a", NO },
    { "**/*/a", "x/a", YES },
    { "*/**", "a", YES },
    { "*/**", "", NO },
    { "**/a?/**/*.c", "x/ab/y/z/m.c", YES },
    { "**/a?/**/*.c", "x/a/y/z/m.c", NO },
    { ".git/modules/**/hooks", ".git/modules/hooks", YES },
    { ".git/modules/**/hooks", ".git/modules/a/modules/b/hooks", YES },
    { ".git/modules/**/hooks", ".git/hooks", NO },

    /* one character */
    { "?", "a", YES },
    { "?", "", NO },
    { "?", "ab", NO },
    { "?", ".", YES },
    { "a?c", "abc", YES },
    { "a?c", "a/c", NO },
    { "a?", "a", NO },
    { "?*", "a", YES },
    { "*?", "abc", YES },
    { "??*", "a", NO },
    { "*??", "a", NO },
    { "?", "é", YES },
    { "??", "é", NO },
    { "*??", "é", NO },
    { "*??", "€", NO },
    { "?", "€", YES },
    { "?", "\U0001F511", YES },
    { "?", "\xFF", YES },
    { "??", "\xC3\x41", YES },
    { "??", "\xE2\x82", YES },
    { "?", "\xE2\x82", NO },
    { "a?b",
      "a\xED\xA0\x80"
      "b",
      NO }, /* a surrogate: three bytes that are no character */
    { "a???b",
      "a\xED\xA0\x80"
      "b",
      YES },
    { "?", "\uFFFD", YES },

    /* classes */
    { "[ab]", "a", YES },
    { "[ab]", "b", YES },
    { "[ab]", "c", NO },
    { "[ab]", "ab", NO },
    { "[ab]", "", NO },
    { "[a-c]", "b", YES },
    { "[a-c]", "d", NO },
    { "[a-cx-z]", "y", YES },
    { "[!ab]", "a", NO },
    { "[!ab]", "c", YES },
    { "[^ab]", "a", NO },
    { "[^ab]", "c", YES },
    { "[!ab]", "", NO },
    { "x[!a]y", "x/y", NO },
    { "[]]", "]", YES },
    { "[]a]", "a", YES },
    { "[!]]", "]", NO },
    { "[!]]", "a", YES },
    { "[a-]", "-", YES },
    { "[-a]", "-", YES },
    { "[a!]", "!", YES },
    { "[a^]", "^", YES },
    { "[[]", "[", YES },
    { "[[a]", "a", YES },
    { "[*]", "*", YES },
    { "[*]", "a", NO },
    { "[**]", "*", YES },
    { "[?]", "?", YES },
    { "[?]", "a", NO },
    { "[\\]]", "]", YES },
    { "[a\\-c]", "b", NO },
    { "[a\\-c]", "-", YES },
    { "[\\a-\\c]", "b", YES },
    { "[\\!a]", "!", YES },
    { "[é]", "é", YES },
    { "[é]", "\xC3", NO },
    { "[à-ü]", "é", YES },
    { "[à-ü]", "z", NO },
    { "[!a]", "é", YES },
    { "[\xFF]", "\xFF", YES },
    { "[\x80-\xFF]", "\xC0", YES },
    { "[\x80-\xFF]", "é", NO },
    { "*[0-9]*", "a1b", YES },
    { "*[0-9]*", "ab", NO },
    { "v[0-9].[0-9]*", "v1.25", YES },
    { "[.]env", ".env", YES },
    { "[:]", ":", YES },
    { "[[:]", ":", YES },

    /* escapes */
    { "\\*", "*", YES },
    { "\\*", "a", NO },
    { "\\*\\*", "**", YES },
    { "\\?", "?", YES },
    { "\\?", "a", NO },
    { "\\[a]", "[a]", YES },
    { "\\[a]", "a", NO },
    { "\\\\", "\\", YES },
    { "\\a", "a", YES },
    { "a\\ b", "a b", YES },
    { "\\!x", "!x", YES },
    { "\\é*", "éa", YES },
    { "\\**", "*a", YES },
    { "*\\*", "a*", YES },

    /* bytes that are no UTF-8 never match a part of a character */
    { "\xC3*", "é", NO },
    { "\xC3*", "\xC3", YES },
    { "*\xA9", "é", NO },
    { "*\xA9", "x\xA9", YES },
    { "\xC3?", "é", NO },
    { "é*", "éa", YES },
    { "*é", "aé", YES },
    { "*é*", "aéa", YES },
    { "\xFF", "\xFF", YES },
    { "a\xFF", "a\xFE", NO },
};

static bool holds(const struct row *row, bool ignore_case)
{
    struct glob *glob = compile(row->pattern, ignore_case);
    bool good = glob != NULL;

    if (glob) {
        good = glob_match(glob, row->path, true) == (row->expected != NO) &&
               glob_match(glob, row->path, false) == (row->expected == YES);
        glob_free(glob);
    }
    if (!good)
        printf("# '%s' and '%s': not %d\n", row->pattern, row->path, row->expected);
    return good;
}

TEST(a_pattern_matches_whole_paths_by_its_rules)
{
    bool good = true;

    for (size_t i = 0; i < COUNT(rows); i++)
        good &= holds(&rows[i], false);
    CHECK(good);
    CHECK(COUNT(rows) >= 150);
}

TEST(case_is_ignored_as_casefolding_file_systems_do_it)
{
    static const struct row folded[] = {
        { ".env", ".ENV", YES },
        { ".ENV", ".env", YES },
        { "**/.GIT/Hooks", "a/.git/hOOKS", YES },
        { "*.PEM", "x.pem", YES },
        { "Makefile", "makefile", YES },
        { "*Secret*", "MYSECRETS", YES },
        { "a*b?[c]", "AxxBxC", YES },
        { "[A-C]", "b", YES },
        { "[a-c]", "B", YES },
        { "[!a]", "A", NO },
        { "[!A]", "a", NO },
        { "[!A]", "b", YES },
        { "hooks", "hoo\u212As", YES }, /* Kelvin sign */
        { "hoo\u212As", "hooks", YES },
        { "hooks", "hook\u017F", YES },  /* long s */
        { "config", "con\uFB01g", YES }, /* ligature of f and i */
        { "*.key", "x.\u212Aey", YES },
        { "con??g", "con\uFB01g", YES },
        { ".env", ".e\u200Bnv", YES }, /* shows nothing */
        { ".env", "\uFEFF.env", YES },
        { ".env", ".env\uFE0F", YES },
        { ".e\u200Bnv", ".env", YES },
        { "a/b", "a/\u200B/b", NO }, /* an odd name, but a name */
        { "a/?/b", "a/\u200B/b", NO },
        { "a/*/b", "a/\u200B/b", YES },
        { "*\u200B*", "x", YES },
        { "stra\u00DFe", "STRASSE", YES },
        { "é", "é", YES },
        { "é", "É", NO }, /* said in name_fold.h */
        { ".env", ".en", NO },
        { "a\xFF", "A\xFF", YES },
        { "\xE2\x80", "\xE2\x80", YES },
    };
    bool good = true;

    for (size_t i = 0; i < COUNT(folded); i++)
        good &= holds(&folded[i], true);
    /* All that matches with case matches without. */
    for (size_t i = 0; i < COUNT(rows); i++) {
        if (rows[i].expected == YES)
            good &= holds(&rows[i], true);
    }
    CHECK(good);
}

/* ---- mistakes */

static const struct {
    const char *pattern;
    const char *message;
    const char *fix; /* a part of it */
} mistakes[] = {
    { "", "the pattern '' is empty", "'**'" },
    { "/", "the pattern '/' is the workspace itself", "'**'" },
    { "///", "the pattern '///' is the workspace itself", "'**'" },
    { "[", "the pattern '[' has a '[' without its ']' in the same component", "'\\['" },
    { "a[b", "the pattern 'a[b' has a '[' without its ']' in the same component", "'\\['" },
    { "a[!", "the pattern 'a[!' has a '[' without its ']' in the same component", "'\\['" },
    { "[]", "the pattern '[]' has a '[' without its ']' in the same component", "'\\['" },
    { "[!]", "the pattern '[!]' has a '[' without its ']' in the same component", "'\\['" },
    { "[a/b]", "the pattern '[a/b]' has a '[' without its ']' in the same component", "'\\['" },
    { "[a\\]", "the pattern '[a\\]' has a '[' without its ']' in the same component", "'\\['" },
    { "[a-\\", "the pattern '[a-\\' has a '[' without its ']' in the same component", "'\\['" },
    { "[z-a]", "the pattern '[z-a]' has a range in '[...]' that runs backwards", "smaller" },
    { "[[:alpha:]]",
      "the pattern '[[:alpha:]]' has a named class such as '[:alpha:]', which coop "
      "does not know",
      "[a-zA-Z]" },
    { "a\\", "the pattern 'a\\' has a backslash with nothing behind it", "'\\\\'" },
    { "\\/a", "the pattern '\\/a' has a backslash with nothing behind it", "'\\\\'" },
    { "..", "the pattern '..' has '.' or '..' between its slashes", "without it" },
    { "a/../b", "the pattern 'a/../b' has '.' or '..' between its slashes", "without it" },
    { "./a", "the pattern './a' has '.' or '..' between its slashes", "without it" },
    { "a/.", "the pattern 'a/.' has '.' or '..' between its slashes", "without it" },
    { "\\..", "the pattern '\\..' has '.' or '..' between its slashes", "without it" },
    { "a\nb", "the pattern 'a\nb' has a NUL or a newline in it, which coop refuses in paths", "?" },
    { "**a", "the pattern '**a' has '**' together with other characters between two slashes",
      "write '**/*a', or a single '*'" },
    { "src/**.pem",
      "the pattern 'src/**.pem' has '**' together with other characters between two slashes",
      "write 'src/**/*.pem', or a single '*'" },
    { "a**/b", "the pattern 'a**/b' has '**' together with other characters between two slashes",
      "write 'a*/**/b', or a single '*'" },
    { "a**b", "the pattern 'a**b' has '**' together with other characters between two slashes",
      "write 'a*/**/*b', or a single '*'" },
    { "***", "the pattern '***' has '**' together with other characters between two slashes",
      "write '**', or a single '*'" },
};

TEST(a_wrong_pattern_is_one_finding_that_says_what_to_write)
{
    for (size_t i = 0; i < COUNT(mistakes); i++) {
        auto_findings struct findings findings = { 0 };
        struct origin origin = { "coop.toml", 7, (unsigned)i + 1 };
        const char *pattern = mistakes[i].pattern;

        CHECK(!glob_new(pattern, strlen(pattern), i % 2, origin, &findings));
        CHECK(findings.n == 1 && findings.n_errors == 1 && !findings.failed);
        CHECK_STR(findings.items[0].message, mistakes[i].message);
        CHECK(findings.items[0].fix && strstr(findings.items[0].fix, mistakes[i].fix));
        CHECK(findings.items[0].origin.line == 7 && findings.items[0].origin.column == i + 1);
    }
}

TEST(what_is_advised_for_two_stars_is_a_good_pattern)
{
    for (size_t i = 0; i < COUNT(mistakes); i++) {
        auto_findings struct findings findings = { 0 };
        const char *pattern = mistakes[i].pattern;
        char text[64];

        if (!strstr(pattern, "**"))
            continue;
        CHECK(!glob_new(pattern, strlen(pattern), false, (struct origin){ 0 }, &findings));
        CHECK(sscanf(findings.items[0].fix, "write '%63[^']'", text) == 1);
        struct glob *glob = compile(text, false);
        CHECK(glob != NULL);
        glob_free(glob);
    }
}

TEST(nul_and_length_are_refused)
{
    auto_findings struct findings findings = { 0 };
    char text[GLOB_PATTERN_MAX + 1];

    CHECK(!glob_new("a\0b", 3, false, (struct origin){ 0 }, &findings));
    CHECK(strstr(findings.items[0].message, "has a NUL"));
    memset(text, 'a', sizeof text);
    CHECK(!glob_new(text, sizeof text, false, (struct origin){ 0 }, &findings));
    CHECK(strstr(findings.items[1].message, "is longer than 4096 bytes"));
    CHECK(strlen(findings.items[1].message) < 300);
    struct glob *longest = glob_new(text, sizeof text - 1, false, (struct origin){ 0 }, &findings);
    CHECK(longest && findings.n == 2);
    char path[GLOB_PATH_MAX + 2] = { 0 };
    memset(path, 'a', GLOB_PATH_MAX);
    CHECK(glob_match(longest, path, false));
    path[GLOB_PATH_MAX] = 'a';
    CHECK(!glob_match(longest, path, false));
    CHECK(!glob_may_match_below(longest, path));
    glob_free(longest);
}

/* ---- the most specific wins */

static const struct {
    const char *more;
    const char *less; /* or equal, where it begins with '=' */
} orders[] = {
    /* by each of the nine rules, the others equal or against it */
    { "a", "**/a/b/c" },
    { ".env.example", "**/.env.*" },
    { "**/a", "*secret*" },
    { "**/.env.example", ".env.*" },
    { "**/secrets/.env", "**/.env" },
    { "**/*secret*", "*.pub" },
    { "*.key.pem", "*.pem" },
    { "**/*.key.pem", "*.pem" },
    { "*/a", "**/a" },
    { "**/*", "**" },
    { "**/*/a", "**/a" },
    { "*.pem", "**/*.pem" },
    { "a/*/b", "a/**/b" },
    { "?", "*" },
    { "a?", "a*" },
    { "*a", "*a*" },
    { "?*", "*" },
    { "[ab]", "?" },
    { "?[ab]", "??" },
    { "[ab]*", "?*" },
    { "*/", "*" },
    { "a/", "a" },
    { "**/x/", "**/x" },
    /* a class of one is no wildcard */
    { "[.]env", "**/.env" },
    { "[.]env", ".env*" },
    { "[a-a]x", "?x" },
    /* nothing to choose by */
    { "ab", "=cd" },
    { "a/b", "=b/a" },
    { "/a", "=a" },
    { "**/**/a", "=**/a" },
    { "[.]env", "=.env" },
    { "\\a", "=a" },
    { "[ab]", "=[!a]" },
    { "é", "=e" },
};

TEST(specificity_has_an_order)
{
    bool good = true;

    for (size_t i = 0; i < COUNT(orders); i++) {
        bool is_equal = orders[i].less[0] == '=';
        struct glob *more = compile(orders[i].more, false);
        struct glob *less = compile(orders[i].less + is_equal, false);

        CHECK(less && more);
        int order = glob_compare(more, less);
        int back = glob_compare(less, more);
        if (is_equal ? order != 0 || back != 0 : order <= 0 || back >= 0) {
            printf("# '%s' and '%s': %d, %d\n", orders[i].more, orders[i].less, order, back);
            good = false;
        }
        glob_free(less);
        glob_free(more);
    }
    CHECK(good);
}

/* ---- sets */

#define MAX_RULES 16

/* From a list that ends with NULL; the action of a rule is its place in it. */
static struct glob_set *make_set(const char *const *patterns, bool ignore_case)
{
    auto_findings struct findings findings = { 0 };
    struct glob_rule rules[MAX_RULES];
    size_t n = 0;

    for (; patterns[n]; n++)
        rules[n] = (struct glob_rule){
            patterns[n], strlen(patterns[n]), (int)n, { "coop.toml", (unsigned)n + 1, 1 }
        };
    return glob_set_new(rules, n, ignore_case, &findings);
}

/* Walks down to `path` by names, as somebody reading directories does. */
static const struct glob_rule *walk_to(const struct glob_set *set, const char *path,
                                       bool is_directory)
{
    size_t n_words = glob_set_words(set);
    auto_free uint64_t *state = calloc(n_words, sizeof *state);
    auto_free uint64_t *child = calloc(n_words, sizeof *child);
    bool may_match = true;

    if (!state || !child)
        abort();
    glob_set_start(set, state);
    for (;;) {
        path += strspn(path, "/");
        size_t n = strcspn(path, "/");
        const char *rest = path + n + strspn(path + n, "/");
        if (*rest == '\0') {
            const struct glob_rule *rule = glob_set_decide_name(set, state, path, n, is_directory);

            if (rule && !may_match) {
                printf("# pruned, and '%s' matches\n", rule->pattern);
                abort();
            }
            return rule;
        }
        may_match = glob_set_enter(set, state, path, n, child);
        memcpy(state, child, n_words * sizeof *state);
        path = rest;
    }
}

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

/* ---- against the obvious */

static uint64_t random_state;

static unsigned random_below(unsigned n)
{
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(random_state >> 33) % n;
}

/* Characters of the random texts; all that is not in here has one byte. */
static size_t reference_length(const char *s)
{
    return strncmp(s, "é", 2) == 0 ? 2 : strncmp(s, "€", 3) == 0 ? 3 : 1;
}

/* A number for a character; stray bytes come after all others. */
static unsigned long reference_value(const char *s)
{
    switch (reference_length(s)) {
    case 2:
        return 0xE9;
    case 3:
        return 0x20AC;
    default:
        return (unsigned char)*s < 0x80 ? (unsigned char)*s : 0x200000ul + (unsigned char)*s;
    }
}

static unsigned long lower(unsigned long c)
{
    return c >= 'A' && c <= 'Z' ? c + 32 : c;
}

/* `p` is behind the '['; *end is set behind the ']'. */
static bool reference_class(const char *p, const char *s, bool ignore_case, const char **end)
{
    bool is_negated = *p == '!' || *p == '^';
    bool is_in = false;
    unsigned long c = reference_value(s);
    const char *first = p += is_negated;

    while (*p != ']' || p == first) {
        p += *p == '\\';
        unsigned long from = reference_value(p);
        unsigned long to = from;
        p += reference_length(p);
        if (p[0] == '-' && p[1] != ']') {
            p += p[1] == '\\' ? 2 : 1;
            to = reference_value(p);
            p += reference_length(p);
        }
        is_in |= c >= from && c <= to;
        for (unsigned long x = 'A'; ignore_case && x <= 'z'; x++)
            is_in |= x >= from && x <= to && lower(x) == lower(c);
    }
    *end = p + 1;
    return is_in != is_negated;
}

static bool reference_name(const char *p, const char *s, bool ignore_case)
{
    const char *rest;

    if (!*p)
        return !*s;
    if (*p == '*')
        return reference_name(p + 1, s, ignore_case) ||
               (*s && reference_name(p, s + reference_length(s), ignore_case));
    if (!*s)
        return false;
    if (*p == '?')
        return reference_name(p + 1, s + reference_length(s), ignore_case);
    if (*p == '[')
        return reference_class(p + 1, s, ignore_case, &rest) &&
               reference_name(rest, s + reference_length(s), ignore_case);
    p += *p == '\\';
    unsigned long a = reference_value(p);
    unsigned long b = reference_value(s);
    return (ignore_case ? lower(a) == lower(b) : a == b) &&
           reference_name(p + reference_length(p), s + reference_length(s), ignore_case);
}

struct parts {
    char text[64];
    char *part[64];
    size_t n;
    bool has_slash_last;
};

static void split(struct parts *parts, const char *text)
{
    *parts = (struct parts){ .has_slash_last = *text && text[strlen(text) - 1] == '/' };
    (void)strcpy(parts->text, text);
    for (char *at = strtok(parts->text, "/"); at; at = strtok(NULL, "/"))
        parts->part[parts->n++] = at;
}

static bool reference_parts(const struct parts *pattern, size_t i, const struct parts *path,
                            size_t j, bool ignore_case)
{
    if (i == pattern->n)
        return j == path->n;
    if (strcmp(pattern->part[i], "**") == 0)
        return reference_parts(pattern, i + 1, path, j, ignore_case) ||
               (j < path->n && reference_parts(pattern, i, path, j + 1, ignore_case));
    return j < path->n && reference_name(pattern->part[i], path->part[j], ignore_case) &&
           reference_parts(pattern, i + 1, path, j + 1, ignore_case);
}

static bool reference_match(const char *pattern, const char *path, bool is_directory,
                            bool ignore_case)
{
    struct parts pattern_parts;
    struct parts path_parts;

    split(&pattern_parts, pattern);
    split(&path_parts, path);
    return (is_directory || !pattern_parts.has_slash_last) &&
           reference_parts(&pattern_parts, 0, &path_parts, 0, ignore_case);
}

static void random_text(char *out, const char *const *pieces, size_t n_pieces, unsigned max)
{
    *out = '\0';
    for (unsigned n = random_below(max) + 1; n > 0; n--)
        (void)strcat(out, pieces[random_below((unsigned)n_pieces)]);
}

static const char *const pattern_pieces[] = {
    "a", "b", "A", "é",    "€",    "\xC3", "\xA9", "\\a",     "\\*",   "-",           ".a",
    "*", "*", "*", "?",    "?",    "[ab]", "[!a]", "[^é-€]",  "[a-",   "]",           "[]b]",
    "/", "/", "/", "/**/", "/**/", "**/",  "/**",  "[a\\-é]", "[A-Z]", "[\x80-\xFF]",
};
static const char *const path_pieces[] = {
    "a", "b", "a", "b", "A", "é", "€", "\xC3", "\xA9", "*", "-", "/", "/", "/", "]", ".a",
};

static void random_path(char *out)
{
    random_text(out, path_pieces, COUNT(path_pieces), 9);
}

/* A pattern that is good, by trying. */
static void random_pattern(char *out, bool ignore_case)
{
    for (;;) {
        auto_findings struct findings findings = { 0 };

        random_text(out, pattern_pieces, COUNT(pattern_pieces), 6);
        struct glob *glob =
            glob_new(out, strlen(out), ignore_case, (struct origin){ 0 }, &findings);
        if (glob) {
            glob_free(glob);
            return;
        }
    }
}

TEST(the_matcher_agrees_with_a_slow_one)
{
    size_t n_matches = 0;

    random_state = 1;
    for (unsigned i = 0; i < 20000; i++) {
        char pattern[64];
        bool ignore_case = i % 3 == 0;

        random_pattern(pattern, ignore_case);
        struct glob *glob = compile(pattern, ignore_case);
        for (unsigned j = 0; j < 10; j++) {
            bool is_directory = j % 2;
            char path[64];

            random_path(path);
            bool expected = reference_match(pattern, path, is_directory, ignore_case);
            n_matches += expected;
            if (glob_match(glob, path, is_directory) != expected) {
                printf("# '%s' and '%s' (%s, %s): not %d\n", pattern, path,
                       is_directory ? "directory" : "file", ignore_case ? "any case" : "case",
                       expected);
                CHECK(false);
            }
            /* Whoever matches lies below all its ancestors. */
            char *slash = strrchr(path, '/');
            if (expected && slash && slash[1]) {
                *slash = '\0';
                CHECK(glob_may_match_below(glob, path));
            }
        }
        glob_free(glob);
    }
    CHECK(n_matches > 5000);
}

static const struct glob_rule *reference_decide(const struct glob_rule *rules, size_t n,
                                                const char *path, bool is_directory,
                                                bool ignore_case)
{
    const struct glob_rule *best = NULL;

    for (size_t i = 0; i < n; i++) {
        if (!reference_match(rules[i].pattern, path, is_directory, ignore_case))
            continue;
        if (best) {
            struct glob *a = compile(rules[i].pattern, ignore_case);
            struct glob *b = compile(best->pattern, ignore_case);

            if (glob_compare(a, b) >= 0)
                best = &rules[i];
            glob_free(a);
            glob_free(b);
        } else {
            best = &rules[i];
        }
    }
    return best;
}

TEST(sets_decide_alike_by_path_by_walking_and_slowly)
{
    size_t n_decided = 0;

    random_state = 2;
    for (unsigned i = 0; i < 4000; i++) {
        auto_findings struct findings findings = { 0 };
        char text[MAX_RULES][64];
        struct glob_rule rules[MAX_RULES];
        size_t n = random_below(MAX_RULES) + 1;
        bool ignore_case = i % 3 == 0;

        for (size_t j = 0; j < n; j++) {
            random_pattern(text[j], ignore_case);
            rules[j] = (struct glob_rule){ text[j], strlen(text[j]), (int)j, { 0 } };
        }
        struct glob_set *set = glob_set_new(rules, n, ignore_case, &findings);
        CHECK(set != NULL);
        for (unsigned j = 0; j < 20; j++) {
            char path[64];
            bool is_directory = j % 2;
            uint64_t state[MAX_RULES];
            uint64_t spare[MAX_RULES];

            random_path(path);
            const struct glob_rule *expected =
                reference_decide(rules, n, path, is_directory, ignore_case);
            const struct glob_rule *decided = glob_set_decide(set, path, is_directory);
            int action = expected ? expected->action : -1;
            n_decided += expected != NULL;
            CHECK((decided ? decided->action : -1) == action);
            CHECK(path[strspn(path, "/")] == '\0' || walk_to(set, path, is_directory) == decided);
            CHECK(glob_set_words(set) <= COUNT(state));
            CHECK(glob_set_seek(set, path, state, spare) == glob_set_may_match_below(set, path));
        }
        glob_set_free(set);
    }
    CHECK(n_decided > 10000);
}
