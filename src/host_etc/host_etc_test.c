#include "host_etc.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "host_etc/private.h"
#include "host_etc/rule.h"
#include "test/check.h"

static char top[64];
static int root_fd = -1;
static char *base;

static const char *in(const char *directory, const char *name)
{
    static char paths[4][512];
    static unsigned n;
    char *path = paths[n++ % 4];

    (void)snprintf(path, sizeof paths[0], "%s/%s", directory, name);
    return path;
}

static const char *at(const char *name)
{
    return in(top, name);
}

static void put(const char *name, const char *text, mode_t mode)
{
    int fd = open(at(name), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

    CHECK(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text));
    CHECK(fchmod(fd, mode) == 0 && close(fd) == 0);
}

static void make(const char *name, mode_t mode)
{
    CHECK(mkdir(at(name), 0755) == 0 && chmod(at(name), mode) == 0);
}

#define NPM_TOKEN \
    "npm_"        \
    "0123456789abcdef0123456789abcdef0123"

/* A small host: two packages, and what its owner added. */
static void begin(void)
{
    static const char *const directories[] = { "var",
                                               "var/lib",
                                               "var/lib/dpkg",
                                               "var/lib/dpkg/info",
                                               "etc",
                                               "etc/fonts",
                                               "etc/alternatives",
                                               "etc/apt",
                                               "etc/apt/sources.list.d",
                                               "etc/NetworkManager",
                                               "etc/ssl",
                                               "etc/ssl/certs" };

    (void)snprintf(top, sizeof top, "/tmp/coop-etc-XXXXXX");
    CHECK(mkdtemp(top));
    for (size_t i = 0; i < COUNT(directories); i++)
        make(directories[i], 0755);
    make("etc/closed", 0750);
    put("var/lib/dpkg/status", "", 0644);
    put("var/lib/dpkg/info/a.list",
        "/.\n/etc\n/etc/fonts\n/etc/fonts/fonts.conf\n/etc/services\n/etc/wgetrc\n/etc/sudoers\n",
        0644);
    put("var/lib/dpkg/info/b.list",
        "/etc/closed\n/etc/closed/open\n/etc/private\n/etc/NetworkManager\n"
        "/etc/NetworkManager/NetworkManager.conf\n/etc/fstab\n/etc/linked\n",
        0644);
    put("var/lib/dpkg/info/a.md5sums", "/etc/trick\n", 0644);
    put("etc/fonts/fonts.conf", "fonts", 0644);
    put("etc/fonts/local.conf", "local", 0644);
    put("etc/services", "http 80/tcp", 0755);
    put("etc/wgetrc", "header = " NPM_TOKEN "\n", 0644);
    put("etc/sudoers", "root", 0644);
    put("etc/closed/open", "x", 0644);
    put("etc/private", "x", 0640);
    put("etc/NetworkManager/NetworkManager.conf", "x", 0644);
    put("etc/fstab", "x", 0644);
    put("etc/trick", "x", 0644);
    put("etc/passwd", "root:x", 0644);
    put("etc/ld.so.cache", "cache", 0644);
    put("etc/apt/sources.list", "deb https://me:secret@example.org/ x\n", 0644);
    put("etc/apt/sources.list.d/token.list", "deb https://token@example.org/ x\n", 0644);
    put("etc/apt/sources.list.d/plain.sources", "URIs: https://example.org/\n", 0644);
    CHECK(symlink("/usr/bin/vi", at("etc/alternatives/vi")) == 0);
    CHECK(symlink("../etc/shadow", at("etc/linked")) == 0);
    CHECK(symlink("/etc/shadow", at("etc/local-link")) == 0);
    root_fd = open(top, O_PATH | O_DIRECTORY | O_CLOEXEC);
    CHECK(root_fd >= 0);
}

static void end(void)
{
    close_fd(&root_fd);
    free(base);
    base = NULL;
    CHECK(strncmp(top, "/tmp/coop-etc-", 14) == 0);
    etc_remove(AT_FDCWD, top);
}

/* An index of files that were made just now is not believed: let them be older. */
static void let_time_pass(void)
{
    const struct timespec tick = { 0, 30000000 };

    CHECK(nanosleep(&tick, NULL) == 0);
}

static bool look(void)
{
    auto_error coop_error *err = NULL;

    free(base);
    base = NULL;
    int r = host_etc_current(root_fd, at("store"), &base, &err);
    if (r < 0)
        printf("# %s\n", coop_error_message(err));
    return r == 0;
}

/* As if the last thorough check had been long ago. */
static void age_index(void)
{
    const struct timespec times[2] = { { 1, 0 }, { 1, 0 } };

    CHECK(utimensat(AT_FDCWD, at("store/index"), times, 0) == 0 || errno == ENOENT);
}

static bool has(const char *name)
{
    return host_etc_has(base, name);
}

TEST(admits_what_packages_ship_and_generate)
{
    begin();
    CHECK(look());
    CHECK(has("fonts/fonts.conf") && has("services") && has("ld.so.cache"));
    CHECK(has("alternatives/vi") && has("linked") && has("apt/sources.list.d/plain.sources"));
    struct stat st;
    CHECK(stat(in(base, "base/services"), &st) == 0 && (st.st_mode & 07777) == 0555);
    CHECK(stat(in(base, "base/fonts"), &st) == 0 && (st.st_mode & 07777) == 0755);
    end();
}

TEST(leaves_out_everything_else)
{
    begin();
    CHECK(look());
    CHECK(!has("fonts/local.conf") && !has("trick") && !has("local-link"));
    CHECK(!has("private") && !has("closed/open") && !has("closed"));
    CHECK(!has("fstab") && !has("sudoers") && !has("NetworkManager"));
    CHECK(!has("passwd"));
    CHECK(!has("wgetrc") && !has("apt/sources.list") && !has("apt/sources.list.d/token.list"));
    end();
}

TEST(a_secret_deep_in_a_file_is_found)
{
    begin();
    FILE *file = fopen(at("etc/services"), "we");
    CHECK(file);
    for (int i = 0; i < 100000; i++)
        CHECK(fputs("# a comment\n", file) >= 0);
    CHECK(fputs("x = " NPM_TOKEN "\n", file) >= 0 && fclose(file) == 0);
    CHECK(look() && !has("services") && has("fonts/fonts.conf"));
    end();
}

TEST(without_a_database_common_names_are_admitted)
{
    begin();
    CHECK(unlink(at("var/lib/dpkg/info/a.list")) == 0);
    CHECK(unlink(at("var/lib/dpkg/info/b.list")) == 0);
    put("etc/protocols", "x", 0644);
    CHECK(look());
    CHECK(has("services") && has("protocols") && has("fonts/fonts.conf") && has("ld.so.cache"));
    CHECK(!has("wgetrc") && !has("trick") && !has("linked") && !has("fonts/local.conf"));
    end();
}

TEST(pacman_ships_too)
{
    begin();
    make("var/lib/pacman", 0755);
    make("var/lib/pacman/local", 0755);
    make("var/lib/pacman/local/a-1", 0755);
    put("var/lib/pacman/local/a-1/files", "%FILES%\netc/\netc/trick\nusr/\n", 0644);
    CHECK(look() && has("trick") && !has("local-link"));
    end();
}

TEST(the_same_host_gives_the_same_tree)
{
    begin();
    let_time_pass();
    CHECK(look());
    auto_free char *before = strdup(base);
    CHECK(look());
    CHECK_STR(base, before);
    age_index();
    CHECK(look());
    CHECK_STR(base, before);
    end();
}

TEST(a_change_is_noticed)
{
    begin();
    let_time_pass();
    CHECK(look());
    auto_free char *before = strdup(base);
    put("var/lib/dpkg/info/a.list", "/etc/trick\n", 0644); /* as dpkg does: then its status */
    put("var/lib/dpkg/status.new", "", 0644);
    CHECK(rename(at("var/lib/dpkg/status.new"), at("var/lib/dpkg/status")) == 0);
    let_time_pass();
    CHECK(look() && strcmp(before, base) != 0);
    CHECK(has("trick") && !has("services"));
    end();
}

TEST(an_edit_in_place_is_noticed_at_the_next_thorough_check)
{
    begin();
    let_time_pass();
    CHECK(look() && has("fonts/fonts.conf"));
    CHECK(chmod(at("etc/fonts/fonts.conf"), 0600) == 0);
    age_index();
    CHECK(look() && !has("fonts/fonts.conf"));
    let_time_pass();
    CHECK(look());
    CHECK(chmod(at("etc/private"), 0644) == 0);
    age_index();
    CHECK(look() && has("private"));
    end();
}

/* "Just now" is a few ticks of the clock: try again until this machine was fast enough. */
TEST(what_changed_just_now_is_not_believed)
{
    bool was_fast = false;

    begin();
    for (int i = 0; i < 1000 && !was_fast; i++) {
        int64_t start_ms = clock_now_ms();

        put("etc/services", "x", 0644);
        age_index();
        CHECK(look() && has("services"));
        was_fast = clock_now_ms() - start_ms < 10;
    }
    put("etc/services", NPM_TOKEN, 0644); /* perhaps in the same tick of the clock */
    CHECK(was_fast && look() && !has("services"));
    end();
}

TEST(a_damaged_index_is_as_good_as_none)
{
    static const char *const bad[] = { "", "x", "coop-etc-1 ", "coop-etc-1 0123\n--\nend\n",
                                       "coop-etc-1 ../../../../../../../../../../etc\n--\nend\n" };

    begin();
    let_time_pass();
    CHECK(look());
    auto_free char *before = strdup(base);
    for (size_t i = 0; i < COUNT(bad); i++) {
        put("store/index", bad[i], 0600);
        CHECK(look());
        CHECK_STR(base, before);
    }
    end();
}

TEST(a_store_that_others_can_enter_is_refused)
{
    begin();
    make("store", 0755);
    CHECK(!look());
    CHECK(chmod(at("store"), 0700) == 0);
    CHECK(look());
    CHECK(rename(at("store"), at("elsewhere")) == 0 && symlink("elsewhere", at("store")) == 0);
    CHECK(!look());
    end();
}

static void with(const struct host_etc_piece *pieces, size_t n, struct host_etc_tree *tree)
{
    auto_error coop_error *err = NULL;

    if (host_etc_with(base, pieces, n, tree, &err) < 0)
        printf("# %s\n", coop_error_message(err));
    CHECK(tree->fd >= 0);
}

TEST(pieces_come_on_top)
{
    const struct host_etc_piece pieces[] = {
        { "passwd", HOST_ETC_FILE, "me:x\n" },
        { "mtab", HOST_ETC_LINK, "/proc/self/mounts" },
        { "local/deep/file", HOST_ETC_POINT, NULL },
        { "fonts/new", HOST_ETC_DIRECTORY, NULL },
        { "linked", HOST_ETC_POINT, NULL },
        { "services", HOST_ETC_POINT, NULL },
        { "alternatives/vi/x", HOST_ETC_POINT, NULL },
    };
    struct host_etc_tree tree;
    struct host_etc_tree again;
    struct stat st;

    begin();
    CHECK(look());
    with(pieces, COUNT(pieces), &tree);
    CHECK(stat(in(tree.path, "passwd"), &st) == 0 && st.st_size == 5);
    CHECK(lstat(in(tree.path, "mtab"), &st) == 0 && S_ISLNK(st.st_mode));
    CHECK(lstat(in(tree.path, "local/deep/file"), &st) == 0 && S_ISREG(st.st_mode));
    CHECK(lstat(in(tree.path, "fonts/new"), &st) == 0 && S_ISDIR(st.st_mode));
    CHECK(lstat(in(tree.path, "linked"), &st) == 0 && S_ISREG(st.st_mode) && st.st_size == 0);
    CHECK(lstat(in(tree.path, "services"), &st) == 0 && st.st_size == 11);
    CHECK(lstat(in(tree.path, "alternatives/vi/x"), &st) == 0);
    CHECK(lstat(in(base, "base/linked"), &st) == 0 && S_ISLNK(st.st_mode));
    CHECK(!has("passwd"));
    with(pieces, COUNT(pieces), &again);
    CHECK_STR(again.path, tree.path);
    host_etc_tree_done(&again);
    with(pieces, 1, &again);
    CHECK(strcmp(again.path, tree.path) != 0);
    host_etc_tree_done(&again);
    host_etc_tree_done(&tree);
    end();
}

/* As if they had been made long ago. */
static void age(const char *path)
{
    const struct timespec times[2] = { { 1, 0 }, { 1, 0 } };

    CHECK(utimensat(AT_FDCWD, path, times, 0) == 0);
}

TEST(a_tree_is_removed_when_nobody_uses_it)
{
    const struct host_etc_piece piece = { "passwd", HOST_ETC_FILE, "me:x\n" };
    struct host_etc_tree tree;

    begin();
    let_time_pass();
    CHECK(look());
    with(&piece, 1, &tree);
    auto_free char *old = strdup(base);
    for (int i = 0; i < 2; i++) {
        age(old);
        put(i ? "etc/new" : "etc/other", "", 0644);
        let_time_pass();
        CHECK(look() && strcmp(base, old) != 0);
        CHECK((access(in(old, "base/services"), F_OK) == 0) == (i == 0));
        if (i == 0)
            host_etc_tree_done(&tree);
    }
    CHECK(access(old, F_OK) < 0);
    end();
}

TEST(many_at_once_agree)
{
    enum { MANY = 8 };
    const struct host_etc_piece piece = { "passwd", HOST_ETC_FILE, "me:x\n" };
    struct host_etc_tree tree;
    pid_t children[MANY];
    struct stat st;

    begin();
    for (int i = 0; i < MANY; i++) {
        children[i] = fork();
        CHECK(children[i] >= 0);
        if (children[i] == 0) {
            bool is_good = look() && host_etc_with(base, &piece, 1, &tree, NULL) == 0 &&
                           fstatat(tree.fd, "passwd", &st, 0) == 0 && st.st_size == 5 &&
                           fstatat(tree.fd, "fonts/fonts.conf", &st, 0) == 0 && st.st_size == 5;
            _exit(is_good ? 0 : 1);
        }
    }
    for (int i = 0; i < MANY; i++) {
        int status = 1;

        CHECK(waitpid(children[i], &status, 0) == children[i] && status == 0);
    }
    end();
}

/* ---- this machine */

struct honest {
    const struct etc_shipped *shipped;
    size_t n_admitted, n_other;
    const char *wrong;
    char name[256];
};

static bool is_open(const char *name)
{
    char path[4200];
    struct stat st;

    (void)snprintf(path, sizeof path, "/etc/%s", name);
    if (lstat(path, &st) < 0 || (!S_ISLNK(st.st_mode) && !(st.st_mode & S_IROTH)))
        return false;
    for (char *slash; (slash = strrchr(path, '/')) && slash > path;) {
        *slash = '\0';
        if (stat(path, &st) < 0 || !(st.st_mode & S_IXOTH))
            return false;
    }
    return true;
}

static int check_entry(void *context, const struct etc_entry *entry)
{
    static const char *const never[] = {
        "shadow",         "gshadow",       "sudoers", "fstab",
        "NetworkManager", "ssh/ssh_host_", "passwd",  "machine-id"
    };
    struct honest *honest = context;
    const char *why = NULL;
    const char *wrong = NULL;

    if (entry->verdict != ETC_ADMITTED || S_ISDIR(entry->st->st_mode)) {
        honest->n_other++;
        return 0;
    }
    honest->n_admitted++;
    if (!etc_shipped_has(honest->shipped, entry->name) &&
        etc_rule_name(entry->name, honest->shipped->has_database, &why) != ETC_ADMITTED)
        wrong = "nobody ships it";
    if (!is_open(entry->name))
        wrong = "not everybody may read it";
    for (size_t i = 0; i < COUNT(never); i++)
        if (strncmp(entry->name, never[i], strlen(never[i])) == 0)
            wrong = "it must never be there";
    if (wrong) {
        honest->wrong = wrong;
        (void)snprintf(honest->name, sizeof honest->name, "%.200s", entry->name);
    }
    return 0;
}

TEST(the_rule_holds_on_this_machine)
{
    auto_error coop_error *err = NULL;
    struct etc_shipped shipped;
    auto_close int fd = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);

    CHECK(fd >= 0 && etc_shipped_load(fd, &shipped, &err) == 0);
    struct honest honest = { .shipped = &shipped };
    int r = etc_walk(fd, &shipped, check_entry, &honest, &err);
    bool has_database = shipped.has_database;
    etc_shipped_done(&shipped);
    if (honest.wrong)
        printf("# /etc/%s: %s\n", honest.name, honest.wrong);
    CHECK(r == 0 && !honest.wrong && honest.n_admitted > 0);
    if (!has_database)
        SKIP("no database of dpkg or pacman on this machine");
    CHECK(honest.n_admitted > 20);
}
