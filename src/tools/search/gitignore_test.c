#include "gitignore.h"

#include <stdarg.h>
#include <stdint.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/cleanup.h"
#include "test/check.h"

static bool ignores(const char *rules_text, const char *path)
{
    char copy[256];
    size_t n = strlen(path);
    bool is_directory = n > 0 && path[n - 1] == '/';

    (void)snprintf(copy, sizeof copy, "%.*s", (int)(n - is_directory), path);
    struct gitignore *rules = gitignore_new(rules_text, strlen(rules_text), 0, NULL);
    const char *slash = strrchr(copy, '/');
    bool is_ignored = gitignore_ignores(rules, copy, slash ? slash + 1 : copy, is_directory);
    gitignore_free(rules);
    return is_ignored;
}

TEST(names_hold_at_any_depth)
{
    CHECK(ignores("*.o\n", "a.o") && ignores("*.o", "x/y/a.o") && !ignores("*.o", "a.oo"));
    CHECK(ignores("build", "build") && ignores("build", "x/build/"));
    CHECK(ignores("build/", "x/build/") && !ignores("build/", "x/build"));
    CHECK(ignores("a*", "x/abc") && ignores("a*c", "abc") && !ignores("a*c", "ab"));
}

TEST(a_slash_binds_to_the_directory)
{
    CHECK(ignores("/build", "build") && !ignores("/build", "x/build"));
    CHECK(ignores("a/b", "a/b") && !ignores("a/b", "x/a/b"));
    CHECK(ignores("a/*", "a/b") && !ignores("a/*", "a/b/c"));
    CHECK(ignores("a/**", "a/b/c") && !ignores("a/**", "a/"));
    CHECK(ignores("**/b", "b") && ignores("**/b", "a/b") && ignores("a/**/b", "a/b"));
    CHECK(ignores("a/**/b", "a/x/y/b") && !ignores("a/**/b", "a/xb"));
}

TEST(the_last_rule_that_matches_decides)
{
    CHECK(!ignores("*.o\n!a.o\n", "a.o") && ignores("*.o\n!a.o\n", "b.o"));
    CHECK(ignores("!a.o\n*.o\n", "a.o"));
}

TEST(inner_files_decide_first)
{
    struct gitignore *outer = gitignore_new("*.o\nkeep\n", 9, 0, NULL);
    struct gitignore *inner = gitignore_new("!keep\n/b\n", 9, 4, outer);
    const char *keep = "dir/keep";
    const char *object = "dir/b.o";
    const char *b = "dir/b";
    const char *deep_b = "dir/x/b";

    CHECK(!gitignore_ignores(inner, keep, keep + 4, false));
    CHECK(gitignore_ignores(outer, keep, keep + 4, false));
    CHECK(gitignore_ignores(inner, object, object + 4, false));
    CHECK(gitignore_ignores(inner, b, b + 4, false));
    CHECK(!gitignore_ignores(inner, deep_b, deep_b + 6, false));
    gitignore_free(inner);
    gitignore_free(outer);
}

TEST(reads_lines_as_git_does)
{
    CHECK(!ignores("#a\n", "#a") && ignores("\\#a\n", "#a") && ignores("\\!a", "!a"));
    CHECK(ignores("a  \n", "a") && ignores("a\\ \n", "a ") && !ignores("a\\ \n", "a"));
    CHECK(ignores("a\r\nb\r\n", "a") && ignores("\xEF\xBB\xBF"
                                                "a\n",
                                                "a"));
    CHECK(!ignores("\n\n  \n/\n!\n", "a") && !ignores("a\\", "a"));
    CHECK(ignores("[[:digit:]]x[!a-c]", "1xd") && !ignores("[[:digit:]]x[!a-c]", "1xa"));
    CHECK(!ignores("[a", "[a") && ignores("\\[a", "[a") &&
          ignores("?b", "\xC3\xA9"
                        "b"));
    CHECK(!ignores("", "a"));
}

/* ---- the same trees, asked git about */

static uint32_t seed = 1;

static unsigned draw(unsigned n)
{
    seed = seed * 1664525 + 1013904223;
    return (seed >> 8) % n;
}

static const char *const names[] = { "a", "b", "ab", "a.o", "b.c", ".x", "a b", "[a]", "A1", "#a" };

/* No 'a**': some versions of git take it for 'a' and any directories, as memory happens to lie. */
static void make_pattern(struct buffer *out)
{
    static const char *const parts[] = {
        "a",   "b",   "*",     "?",    "*.o", "[ab]", "[!a]",
        "**",  "a*",  ".x",    "\\#a", "b.c", "ab",   "[[:alpha:]]*",
        "a?b", "*a*", "\\[a]", "[]a]", "***"
    };
    unsigned n = 1 + draw(3);

    if (draw(4) == 0)
        buffer_append_char(out, '!');
    if (draw(4) == 0)
        buffer_append_char(out, '/');
    for (unsigned i = 0; i < n; i++) {
        buffer_append_string(out, i ? "/" : "");
        buffer_append_string(out, parts[draw(COUNT(parts))]);
    }
    if (draw(4) == 0)
        buffer_append_char(out, '/');
    buffer_append_string(out, draw(8) ? "\n" : "  \n");
}

static char root[512];

static void put(const char *directory, const char *name, const struct buffer *text)
{
    char path[1024];

    (void)snprintf(path, sizeof path, "%s/%s%s", root, directory, name);
    FILE *file = fopen(path, "wbe");
    if (!file || fwrite(text->data, 1, text->length, file) != text->length || fclose(file) != 0)
        abort();
}

/* Paths of the tree, directories with a '/' behind them. */
struct tree {
    char paths[200][64];
    unsigned n;
};

static void make_tree(struct tree *tree, const char *directory, unsigned depth)
{
    for (unsigned i = 0; i < COUNT(names); i++) {
        char path[1024];
        bool is_directory = depth < 3 && draw(3) == 0;

        if (tree->n == COUNT(tree->paths))
            return;
        (void)snprintf(tree->paths[tree->n], sizeof *tree->paths, "%s%s%s", directory, names[i],
                       is_directory ? "/" : "");
        const char *added = tree->paths[tree->n++];
        (void)snprintf(path, sizeof path, "%s/%s", root, added);
        if (!is_directory) {
            FILE *file = fopen(path, "we");
            if (!file || fclose(file) != 0)
                abort();
            continue;
        }
        if (mkdir(path, 0755) < 0)
            abort();
        make_tree(tree, added, depth + 1);
    }
}

/* Without the '/' behind it. */
static size_t length_of(const char *path)
{
    size_t n = strlen(path);

    return n - (n > 0 && path[n - 1] == '/');
}

/* Paths that git ignores, a line each, with one in front. */
static void ask_git(const struct tree *tree, struct buffer *out)
{
    struct buffer list = { 0 };
    char command[2048];
    char line[512];

    for (unsigned i = 0; i < tree->n; i++)
        buffer_printf(&list, "%.*s\n", (int)length_of(tree->paths[i]), tree->paths[i]);
    put("", ".git/list", &list);
    buffer_done(&list);
    (void)snprintf(command, sizeof command,
                   "cd %s && GIT_CONFIG_NOSYSTEM=1 GIT_CONFIG_GLOBAL=/dev/null exec git -c "
                   "core.excludesFile=/dev/null check-ignore --no-index --stdin "
                   "< .git/list",
                   root);
    FILE *pipe = popen(command, "re");
    if (!pipe)
        abort();
    buffer_append_char(out, '\n');
    while (fgets(line, sizeof line, pipe))
        buffer_append_string(out, line);
    if (pclose(pipe) > 256)
        abort();
}

/* Of a path and all that it lies in. */
static bool is_ignored(const struct gitignore *top, const struct gitignore *inner,
                       const char *inner_directory, const char *path)
{
    char copy[64];
    size_t n = strlen(path);

    for (size_t end = 1; end <= n; end++) {
        if (end < n && path[end] != '/')
            continue;
        bool is_directory = path[end] == '/';
        (void)snprintf(copy, sizeof copy, "%.*s", (int)end, path);
        const char *slash = strrchr(copy, '/');
        size_t inner_length = strlen(inner_directory);
        bool is_inner = end > inner_length && strncmp(copy, inner_directory, inner_length) == 0;
        if (gitignore_ignores(is_inner ? inner : top, copy, slash ? slash + 1 : copy, is_directory))
            return true;
        if (is_directory && end + 1 == n)
            break;
    }
    return false;
}

static unsigned compare_round(const struct tree *tree, const char *inner_directory)
{
    struct buffer rules[3] = { 0 };
    struct buffer answer = { 0 };
    unsigned n_ignored = 0;

    for (unsigned i = 0; i < 3; i++) {
        for (unsigned n = 1 + draw(5); n > 0; n--)
            make_pattern(&rules[i]);
    }
    put("", ".git/info/exclude", &rules[0]);
    put("", ".gitignore", &rules[1]);
    put(inner_directory, ".gitignore", &rules[2]);
    ask_git(tree, &answer);
    struct gitignore *exclude = gitignore_new(rules[0].data, rules[0].length, 0, NULL);
    struct gitignore *top = gitignore_new(rules[1].data, rules[1].length, 0, exclude);
    struct gitignore *inner =
        gitignore_new(rules[2].data, rules[2].length, strlen(inner_directory), top);
    for (unsigned i = 0; i < tree->n; i++) {
        char line[80];
        (void)snprintf(line, sizeof line, "\n%.*s\n", (int)length_of(tree->paths[i]),
                       tree->paths[i]);
        bool is_expected = strstr(answer.data, line) != NULL;
        if (is_ignored(top, inner, inner_directory, tree->paths[i]) != is_expected)
            printf("# %s: git %s it\n# exclude:\n%s# top:\n%s# in %s:\n%s", tree->paths[i],
                   is_expected ? "ignores" : "wants", rules[0].data, rules[1].data, inner_directory,
                   rules[2].data);
        CHECK(is_ignored(top, inner, inner_directory, tree->paths[i]) == is_expected);
        n_ignored += is_expected;
    }
    gitignore_free(inner);
    gitignore_free(top);
    gitignore_free(exclude);
    for (unsigned i = 0; i < 3; i++)
        buffer_done(&rules[i]);
    buffer_done(&answer);
    return n_ignored;
}

TEST(agrees_with_git)
{
    static struct tree tree;
    char command[2048];
    unsigned n_ignored = 0;

    if (system("git --version > /dev/null 2>&1") != 0)
        SKIP("there is no git");
    CHECK(mkdtemp(check_temporary(root, sizeof root, "gitignore")));
    (void)snprintf(command, sizeof command,
                   "cd %s && GIT_CONFIG_GLOBAL=/dev/null git init -q --template= . && mkdir -p "
                   ".git/info",
                   root);
    CHECK(system(command) == 0);
    make_tree(&tree, "", 0);
    const char *inner = NULL;
    for (unsigned i = 0; i < tree.n && !inner; i++) {
        if (strchr(tree.paths[i], '/') && tree.paths[i][strlen(tree.paths[i]) - 1] == '/')
            inner = tree.paths[i];
    }
    CHECK(inner);
    for (unsigned round = 0; round < 300; round++)
        n_ignored += compare_round(&tree, inner);
    printf("# %u paths, 300 times, %u ignored\n", tree.n, n_ignored);
    CHECK(n_ignored > 300 * tree.n / 5 && n_ignored < 300 * tree.n * 9 / 10);
    (void)snprintf(command, sizeof command, "rm -r %s", root);
    CHECK(system(command) == 0);
}
