#include "protect/scan/scan.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "coop/policy.h"
#include "policy/policy.h"
#include "protect/scan/cache.h"
#include "test/check.h"

static char top[256];   /* of the test */
static char cache[300]; /* beside the tree */
static int root_fd = -1;
static coop_policy *policy;
static struct protect *protect;
static struct protect_scan scan;

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    (void)st;
    (void)type;
    (void)ftw;
    return remove(path);
}

static void clean_up(void)
{
    if (top[0])
        (void)nftw(top, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

static const char *in_tree(const char *path)
{
    static char full[8192];

    (void)snprintf(full, sizeof full, "%s/tree/%s", top, path);
    return full;
}

static void make_directory(const char *path)
{
    CHECK(mkdir(in_tree(path), 0755) == 0 || errno == EEXIST);
}

static void make_file(const char *path, const char *text)
{
    int fd = open(in_tree(path), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

    CHECK(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text));
    CHECK(close(fd) == 0);
}

/* An empty tree and the built-in rules. */
static void begin(void)
{
    if (!top[0]) {
        const char *base = getenv("TMPDIR");

        (void)snprintf(top, sizeof top, "%s/coop-scan.XXXXXX", base ? base : "/tmp");
        CHECK(mkdtemp(top));
        (void)atexit(clean_up);
    }
    protect_scan_done(&scan);
    (void)nftw(in_tree(""), remove_one, 16, FTW_DEPTH | FTW_PHYS);
    (void)snprintf(cache, sizeof cache, "%s/cache", top);
    (void)nftw(cache, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    make_directory("");
    if (root_fd >= 0)
        (void)close(root_fd);
    root_fd = open(in_tree(""), O_PATH | O_DIRECTORY | O_CLOEXEC);
    CHECK(root_fd >= 0);
    protect_free(protect);
    coop_policy_free(policy);
    CHECK(coop_policy_new(&policy, NULL) == 0);
    CHECK(protect_new(policy, &protect, NULL) == 0);
}

static void add_rule(const char *pattern, coop_protect action)
{
    protect_free(protect);
    CHECK(coop_policy_add_protect(policy, pattern, action, NULL) == 0);
    CHECK(protect_new(policy, &protect, NULL) == 0);
}

/* What is found, as "hide .env|keep .vscode|". */
static const char *look_with(const struct protect_scan_options *options)
{
    static const char *const words[] = { "hide", "keep", "config", "hold", "link", "held" };
    static char out[65536];
    size_t n = 0;

    protect_scan_done(&scan);
    CHECK(protect_scan(root_fd, protect, options, &scan, NULL) == 0);
    out[0] = '\0';
    for (size_t i = 0; i < scan.n_found && n < sizeof out - 5000; i++)
        n += (size_t)snprintf(out + n, sizeof out - n, "%s %s|", words[scan.found[i].kind],
                              scan.found[i].path);
    return out;
}

static const char *look(void)
{
    const struct protect_scan_options options = { 0 };

    return look_with(&options);
}

TEST(an_empty_tree_holds_nothing)
{
    begin();
    CHECK_STR(look(), "");
    CHECK(scan.n_directories == 1 && !scan.is_work_tree);
}

TEST(secrets_are_found_at_any_depth)
{
    begin();
    make_directory("a");
    make_directory("a/b");
    make_file("a/b/.env", "x");
    make_file(".env", "x");
    make_file("a/secret.py", "x");
    make_file("a/.env.example", "x");
    make_directory("c");
    make_directory("c/.env"); /* a virtual environment */
    make_file("c/.env/my-password", "x");
    CHECK_STR(look(), "hide .env|hide a/b/.env|hide c/.env/my-password|");
    CHECK(S_ISREG(scan.found[0].st.st_mode) && scan.found[0].st.st_size == 1);
    CHECK_STR(scan.found[1].rule->pattern, "**/.env");
}

TEST(content_is_looked_at)
{
    begin();
    make_file("ca.pem", "-----BEGIN CERTIFICATE-----\n");
    make_file("key.pem", "-----BEGIN PRIVATE KEY-----\n");
    make_file("pub.key", "-----BEGIN PUBLIC KEY-----\n");
    make_file("raw.key", "0123\n");
    make_file("secret-run", "#!/bin/sh\n");
    CHECK_STR(look(), "hide key.pem|hide raw.key|");
}

TEST(dependency_trees_are_left_alone_but_for_own_rules)
{
    begin();
    make_directory("node_modules");
    make_directory("node_modules/p");
    make_file("node_modules/p/.env", "x");
    make_file("node_modules/p/x.key", "x");
    CHECK_STR(look(), "");
    CHECK(scan.n_directories == 1);
    add_rule("**/*.key", COOP_PROTECT_HIDE);
    CHECK_STR(look(), "hide node_modules/p/x.key|");
}

TEST(own_rules_hide_directories_and_nothing_in_them_again)
{
    begin();
    make_directory("vault");
    make_file("vault/.env", "x");
    make_file("other", "x");
    CHECK(symlink("vault/.env", in_tree(".env")) == 0);
    add_rule("vault", COOP_PROTECT_HIDE);
    add_rule("other", COOP_PROTECT_KEEP);
    CHECK_STR(look(), "link .env|keep other|hide vault|");
    CHECK(S_ISDIR(scan.found[2].st.st_mode));
}

TEST(git_directories_are_kept_and_not_searched)
{
    static const char *const directories[] = {
        ".git",           ".git/hooks",       ".git/objects",           ".git/refs",
        ".git/refs/h",    ".git/modules",     ".git/modules/m",         ".git/modules/m/hooks",
        ".git/worktrees", ".git/worktrees/w", ".git/modules/m/objects", "sub",
        "sub/.git",
    };

    begin();
    for (size_t i = 0; i < sizeof directories / sizeof *directories; i++)
        make_directory(directories[i]);
    make_file(".git/HEAD", "x");
    make_file(".git/config", "x");
    make_file(".git/refs/h/fix-password", "x");
    make_file(".git/modules/m/HEAD", "x");
    make_file(".git/modules/m/config", "x");
    make_file(".git/worktrees/w/config.worktree", "x");
    make_file("sub/.git/config", "x");
    CHECK_STR(look(), "hold .git|config .git/config|keep .git/hooks|config .git/modules/m/config|"
                      "keep .git/modules/m/hooks|config .git/worktrees/w/config.worktree|"
                      "hold sub/.git|config sub/.git/config|");
    CHECK(scan.is_work_tree && scan.n_git_directories == 1);
    CHECK_STR(scan.git_directories[0], "sub/.git");
    CHECK(scan.found[7].is_nested && !scan.found[1].is_nested);
}

TEST(a_git_directory_is_known_by_what_is_in_it)
{
    static const char *const directories[] = {
        "b", "b/hooks",   "b/objects", "b/refs", "b/modules",      "b/modules/m", "b/modules/m/s",
        "c", "c/objects", "c/refs",    "c/.git", "c/node_modules",
    };

    begin();
    for (size_t i = 0; i < sizeof directories / sizeof *directories; i++)
        make_directory(directories[i]);
    make_file("b/config", "x");
    make_file("b/.env", "x"); /* a box could have made the rest around it */
    make_file("b/modules/m/config", "x");
    make_file("b/modules/m/s/.env", "x");
    make_file("b/refs/my-secret", "x");
    make_file("c/config", "x");
    make_file("c/.git/config", "x");
    make_file("c/node_modules/.env", "x");
    CHECK_STR(look(), "hide b/.env|hide b/modules/m/s/.env|hide b/refs/my-secret|hold c/.git|"
                      "config c/.git/config|");
    make_file("b/refs/fix-password", "0123456789abcdef0123456789abcdef01234567\n");
    make_file("b/HEAD", "x");
    make_file("c/HEAD", "x");
    CHECK_STR(
        look(),
        "hold b|hide b/.env|config b/config|keep b/hooks|config b/modules/m/config|"
        "hide b/modules/m/s/.env|hide b/refs/my-secret|hold c|hold c/.git|config c/.git/config|"
        "config c/config|");
}

TEST(a_git_directory_is_found_again_where_little_has_changed)
{
    const struct protect_scan_options options = { .cache_directory = cache,
                                                  .cache_from = 1,
                                                  .now = time(NULL) + 3600 };

    begin();
    make_directory("objects");
    make_directory("modules");
    make_directory("modules/m");
    make_file("modules/m/config", "x");
    make_file("config", "x");
    make_file("HEAD", "x");
    CHECK_STR(look_with(&options), "");
    make_directory("refs");
    CHECK_STR(look_with(&options), "config config|config modules/m/config|");
    CHECK_STR(look_with(&options), "config config|config modules/m/config|");
    CHECK(scan.n_read == 0 && scan.n_verified > 0);
}

TEST(a_gitfile_is_kept_and_what_it_names_in_the_tree)
{
    begin();
    make_directory(".bare");
    make_directory(".bare/hooks");
    make_directory(".bare/objects");
    make_directory(".bare/refs");
    make_file(".bare/HEAD", "x");
    make_file(".bare/refs/fix-password",
              "0123456789abcdef0123456789abcdef01234567\n"); /* a branch */
    make_file(".bare/config", "x");
    make_file(".git", "gitdir: ./.bare\n");
    CHECK_STR(look(), "hold .bare|config .bare/config|keep .bare/hooks|keep .git|");
    CHECK(scan.found[3].is_gitfile);
}

TEST(a_link_leads_to_what_must_be_hidden)
{
    begin();
    make_directory("a");
    make_file("a/real", "x");
    make_file("outside", "x");
    CHECK(symlink("a/way", in_tree(".env")) == 0);
    CHECK(symlink("../a/./real", in_tree("a/way")) == 0);
    CHECK(symlink("/etc/passwd", in_tree("a/.env")) == 0);
    CHECK(symlink("nowhere", in_tree("a/.env.x")) == 0);
    CHECK(symlink(".env.loop", in_tree(".env.loop")) == 0);
    CHECK_STR(look(), "link .env|hide a/real|link a/way|");
}

TEST(a_rule_for_directories_is_about_links_to_them_too)
{
    begin();
    add_rule("keys/", COOP_PROTECT_HIDE);
    make_directory("a");
    make_file("a/b", "x");
    make_file("file", "x");
    CHECK(symlink("a", in_tree("keys")) == 0);
    CHECK_STR(look(), "hide a|link keys|");
    CHECK(unlink(in_tree("keys")) == 0 && symlink("file", in_tree("keys")) == 0);
    CHECK_STR(look(), "");
}

TEST(all_that_a_link_leads_through_is_held)
{
    char absolute[8192];

    begin();
    make_directory("d");
    make_directory("d/sub");
    make_directory("v");
    make_file("d/real", "x");
    make_file("v/other", "x");
    CHECK(symlink("e/real", in_tree(".env")) == 0);
    CHECK(symlink("d", in_tree("e")) == 0);
    CHECK_STR(look(), "link .env|hide d/real|link e|");
    /* What ".." leads out of: without it the way is none. */
    CHECK(unlink(in_tree(".env")) == 0 && symlink("./f/../real", in_tree(".env")) == 0);
    CHECK(symlink("d/sub", in_tree("f")) == 0);
    CHECK_STR(look(), "link .env|hide d/real|held d/sub|link f|");
    CHECK(unlink(in_tree(".env")) == 0 && symlink("v/../e/real", in_tree(".env")) == 0);
    CHECK_STR(look(), "link .env|hide d/real|link e|held v|");
    /* By the host's own name of the tree, which the box does not have. */
    CHECK(unlink(in_tree(".env")) == 0 && unlink(in_tree("f")) == 0);
    (void)snprintf(absolute, sizeof absolute, "%s", in_tree("e/real"));
    CHECK(symlink(absolute, in_tree(".env")) == 0);
    CHECK_STR(look(), "link .env|hide d/real|link e|");
    (void)snprintf(absolute, sizeof absolute, "%s", in_tree("v"));
    CHECK(unlink(in_tree(".env")) == 0 && symlink("w/other", in_tree(".env")) == 0);
    CHECK(symlink(absolute, in_tree("w")) == 0);
    CHECK_STR(look(), "link .env|hide v/other|link w|");
    /* Also on the way to git's directory. */
    CHECK(unlink(in_tree(".env")) == 0);
    make_directory("d/store");
    make_file("d/store/config", "[core]\n");
    CHECK(symlink("e/store", in_tree(".git")) == 0);
    CHECK(strstr(look(), "|held e|"));
}

TEST(other_names_of_a_hidden_file_are_found)
{
    begin();
    make_directory("node_modules");
    make_file(".env", "x");
    make_file("b", "x");
    char from[8192];
    (void)snprintf(from, sizeof from, "%s", in_tree(".env"));
    CHECK(link(from, in_tree("innocent")) == 0);
    CHECK(link(from, in_tree("node_modules/x")) == 0);
    CHECK_STR(look(), "hide .env|hide innocent|hide node_modules/x|");
}

TEST(what_cannot_be_searched_is_hidden_as_a_whole)
{
    if (geteuid() == 0)
        SKIP_NEVER("root can search everything");
    begin();
    make_directory("closed");
    make_file("closed/.env", "x");
    CHECK(chmod(in_tree("closed"), 0) == 0);
    CHECK_STR(look(), "hide closed|");
    CHECK(chmod(in_tree("closed"), 0755) == 0);
}

/* A path longer than the kernel opens in one go. */
TEST(what_lies_too_deep_is_hidden_as_a_whole)
{
    char name[201];
    int fd;

    begin();
    memset(name, 'd', 200);
    name[200] = '\0';
    fd = open(in_tree(""), O_PATH | O_DIRECTORY | O_CLOEXEC);
    for (int i = 0; i < 30; i++) {
        CHECK(mkdirat(fd, name, 0755) == 0);
        int next = openat(fd, name, O_PATH | O_DIRECTORY | O_CLOEXEC);
        (void)close(fd);
        fd = next;
    }
    int env = openat(fd, ".env", O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
    CHECK(env >= 0);
    (void)close(env);
    (void)close(fd);
    (void)look();
    CHECK(scan.n_found == 1 && S_ISDIR(scan.found[0].st.st_mode));
    CHECK(strlen(scan.found[0].path) < 4096);
    CHECK(scan.n_directories == 21);
    /* the tree is too deep to remove by path */
    for (int i = 30; i > 0; i--) {
        fd = open(in_tree(""), O_PATH | O_DIRECTORY | O_CLOEXEC);
        for (int j = 1; j < i; j++) {
            int next = openat(fd, name, O_PATH | O_DIRECTORY | O_CLOEXEC);
            (void)close(fd);
            fd = next;
        }
        if (i == 30) {
            int last = openat(fd, name, O_PATH | O_DIRECTORY | O_CLOEXEC);
            CHECK(unlinkat(last, ".env", 0) == 0);
            (void)close(last);
        }
        CHECK(unlinkat(fd, name, AT_REMOVEDIR) == 0);
        (void)close(fd);
    }
}

/* ---- what is remembered; a minute later, because change times must be old to be believed */

static struct protect_scan_options remembering(void)
{
    return (struct protect_scan_options){ .cache_directory = cache,
                                          .cache_from = 2,
                                          .now = time(NULL) + 60 };
}

TEST(an_unchanged_tree_is_not_read_again)
{
    const struct protect_scan_options options = remembering();

    begin();
    make_directory("a");
    make_directory("a/b");
    make_file("a/b/.env", "x");
    CHECK_STR(look_with(&options), "hide a/b/.env|");
    CHECK(scan.n_read == 3 && scan.n_verified == 0);
    CHECK_STR(look_with(&options), "hide a/b/.env|");
    CHECK(scan.n_read == 0 && scan.n_verified == 3);

    /* Times that can be set do not fool it. */
    struct stat before;
    CHECK(stat(in_tree("a"), &before) == 0);
    make_file("a/.env", "x");
    const struct timespec times[] = { before.st_atim, before.st_mtim };
    CHECK(utimensat(AT_FDCWD, in_tree("a"), times, 0) == 0);
    CHECK_STR(look_with(&options), "hide a/.env|hide a/b/.env|");
    CHECK(scan.n_read == 1);

    /* Content is asked each time. */
    make_file("a/b/.env", "longer");
    (void)look_with(&options);
    CHECK(scan.found[1].st.st_size == 6);

    /* A file that became something else. */
    CHECK(unlink(in_tree("a/b/.env")) == 0);
    make_directory("a/b/.env");
    CHECK_STR(look_with(&options), "hide a/.env|");
}

TEST(one_change_among_many_directories_is_noticed_wherever_it_is)
{
    struct protect_scan_options options = remembering();
    char name[64];

    begin();
    for (unsigned i = 0; i < 2345; i++) {
        (void)snprintf(name, sizeof name, "d%u", i);
        make_directory(name);
    }
    CHECK_STR(look_with(&options), "");
    CHECK(scan.n_read == 2346);
    CHECK_STR(look_with(&options), "");
    CHECK(scan.n_read == 0 && scan.n_verified == 2346);
    /* Where they stand among the records is the file system's choice: the first, the last, others. */
    char names[40][64];
    for (size_t n = 0; n < COUNT(names); n++)
        (void)snprintf(names[n], sizeof names[n], "%s/.env",
                       entries_path(&scan.records, n == 0   ? 1
                                                   : n == 1 ? 2345
                                                            : 2 + n * 1009 % 2343));
    for (size_t n = 0; n < COUNT(names); n++) {
        make_file(names[n], "x");
        (void)look_with(&options);
        CHECK(scan.n_read == 1 && scan.n_verified == 0);
        CHECK(scan.n_found == n + 1);
    }
}

/* Without a number of directories it is the cost of a walk that decides. */
static struct protect_scan_options by_cost(void)
{
    struct protect_scan_options options = remembering();

    options.cache_from = 0;
    return options;
}

static void make_directories(unsigned n)
{
    char name[64];

    for (unsigned i = 0; i < n; i++) {
        (void)snprintf(name, sizeof name, "d%u", i);
        make_directory(name);
    }
}

TEST(a_small_tree_is_not_remembered)
{
    const struct protect_scan_options options = by_cost();

    begin();
    make_directories(40);
    (void)look_with(&options);
    CHECK_STR(look_with(&options), "");
    CHECK(scan.n_read == 41 && scan.n_verified == 0);
    CHECK(access(cache, F_OK) < 0);
}

TEST(many_directories_are_remembered)
{
    const struct protect_scan_options options = by_cost();

    begin();
    make_directories(70);
    CHECK_STR(look_with(&options), "");
    CHECK(scan.n_read == 71);
    CHECK_STR(look_with(&options), "");
    CHECK(scan.n_read == 0 && scan.n_verified == 71);
}

TEST(one_directory_with_many_names_is_remembered)
{
    const struct protect_scan_options options = by_cost();
    char name[64];

    begin();
    make_directory("a");
    make_directory("b");
    for (unsigned i = 0; i < 600; i++) {
        (void)snprintf(name, sizeof name, "a/%u.c", i);
        make_file(name, "");
    }
    make_file("a/.env", "x");
    CHECK_STR(look_with(&options), "hide a/.env|");
    CHECK(scan.n_read == 3);
    CHECK_STR(look_with(&options), "hide a/.env|");
    CHECK(scan.n_read == 0 && scan.n_verified == 3);
}

TEST(few_changes_are_found_and_read_again_each_time)
{
    const struct protect_scan_options options = by_cost();

    begin();
    make_directories(100);
    (void)look_with(&options);
    make_file("d7/.env", "x");
    for (unsigned i = 0; i < 3; i++) { /* not worth another file */
        CHECK_STR(look_with(&options), "hide d7/.env|");
        CHECK(scan.n_read == 1);
    }
    make_directory("d8/new");
    make_file("d8/new/.env", "x");
    CHECK_STR(look_with(&options), "hide d7/.env|hide d8/new/.env|");
    CHECK(scan.n_read == 3);
    for (unsigned i = 20; i < 40; i++) {
        char name[64];

        (void)snprintf(name, sizeof name, "d%u/x", i);
        make_file(name, "");
    }
    CHECK_STR(look_with(&options), "hide d7/.env|hide d8/new/.env|");
    CHECK(scan.n_read == 23);
    CHECK_STR(look_with(&options), "hide d7/.env|hide d8/new/.env|"); /* these are */
    CHECK(scan.n_read == 0 && scan.n_verified == 102);
}

TEST(a_directory_that_moved_is_found_again)
{
    const struct protect_scan_options options = remembering();
    char from[8192];

    begin();
    make_directory("a");
    make_directory("a/b");
    make_file("a/b/.env", "x");
    (void)look_with(&options);
    (void)snprintf(from, sizeof from, "%s", in_tree("a"));
    CHECK(rename(from, in_tree("z")) == 0);
    CHECK(symlink("z", in_tree("a")) == 0);
    CHECK_STR(look_with(&options), "hide z/b/.env|");
}

TEST(rules_are_part_of_what_is_remembered)
{
    const struct protect_scan_options options = remembering();

    begin();
    make_directory("a");
    make_file("a/x", "x");
    CHECK_STR(look_with(&options), "");
    add_rule("a/x", COOP_PROTECT_HIDE);
    CHECK_STR(look_with(&options), "hide a/x|");
}

TEST(nothing_is_remembered_in_the_tree_itself)
{
    struct protect_scan_options options = remembering();
    char inside[8192];

    begin();
    make_directory("a");
    (void)snprintf(inside, sizeof inside, "%s", in_tree("deep/cache"));
    options.cache_directory = inside;
    (void)look_with(&options);
    CHECK(access(in_tree("deep"), F_OK) < 0);
}

TEST(a_damaged_memory_is_none)
{
    const struct protect_scan_options options = remembering();
    char name[4096];
    struct cache_key key;
    struct scan_entries records = { 0 };
    struct stat st;

    begin();
    make_directory("a");
    make_file("a/.env", "x");
    (void)look_with(&options);
    CHECK(fstat(root_fd, &st) == 0);
    cache_key_init(&key, protect, st.st_dev, st.st_ino, false, false);
    CHECK(cache_load(cache, &key, &records));
    scan_entries_done(&records);
    (void)snprintf(name, sizeof name, "ls %s", cache);
    FILE *list = popen(name, "r");
    char file[512] = "";
    CHECK(list && fgets(file, sizeof file, list));
    (void)pclose(list);
    file[strcspn(file, "\n")] = '\0';
    (void)snprintf(name, sizeof name, "%s/%s", cache, file);
    CHECK(stat(name, &st) == 0);
    for (off_t at = 0; at < st.st_size; at++) {
        char byte = 0;
        int fd = open(name, O_RDWR | O_CLOEXEC);

        CHECK(fd >= 0 && pread(fd, &byte, 1, at) == 1);
        byte = (char)(byte ^ 0x41);
        CHECK(pwrite(fd, &byte, 1, at) == 1);
        CHECK(!cache_load(cache, &key, &records));
        byte = (char)(byte ^ 0x41);
        CHECK(pwrite(fd, &byte, 1, at) == 1);
        CHECK(close(fd) == 0);
    }
    CHECK(cache_load(cache, &key, &records));
    scan_entries_done(&records);
    CHECK(chmod(name, 0666) == 0); /* somebody else may have written it */
    CHECK(!cache_load(cache, &key, &records));
    CHECK(truncate(name, st.st_size - 1) == 0 && chmod(name, 0600) == 0);
    CHECK(!cache_load(cache, &key, &records));
    CHECK_STR(look_with(&options), "hide a/.env|");
    protect_scan_done(&scan);
    protect_free(protect);
    protect = NULL;
    coop_policy_free(policy);
    policy = NULL;
}
