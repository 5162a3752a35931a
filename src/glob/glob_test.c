/* worlds: user */
#include "glob/glob.h"

#include "test/globs.h"

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
