#include "tools/path/place.h"

#include <sys/socket.h>
#include <sys/un.h>

#include "base/cleanup.h"
#include "test/tool_world.h"

static char said[4096]; /* the last error's words */

static int find(const char *path, enum place_use use, struct place *out)
{
    coop_error *err = NULL;
    int r = place_find(world_places, path, use, out, &err);

    (void)snprintf(said, sizeof said, "%s", err ? coop_error_message(err) : "");
    coop_error_free(err);
    return r;
}

/* What a read of the path gives: the text, or "-NUMBER". */
static const char *text_of(const char *path)
{
    static char text[256];
    auto_place struct place place;
    coop_error *err = NULL;
    int r = find(path, PLACE_READ, &place);
    auto_close int fd = r < 0 ? -1 : place_open(&place, O_RDONLY, 0, &err);

    if (fd < 0 && r == 0)
        (void)snprintf(said, sizeof said, "%s", coop_error_message(err));
    coop_error_free(err);
    if (r < 0 || fd < 0) {
        (void)snprintf(text, sizeof text, "%d", r < 0 ? r : fd);
        return text;
    }
    ssize_t n = read(fd, text, sizeof text - 1);
    text[n > 0 ? n : 0] = '\0';
    return text;
}

static int use(const char *path, enum place_use how)
{
    auto_place struct place place;

    return find(path, how, &place);
}

static const char *canonical(const char *path)
{
    static char text[4096];
    auto_place struct place place;
    int r = find(path, PLACE_READ, &place);

    if (r < 0)
        (void)snprintf(text, sizeof text, "%d", r);
    else
        (void)snprintf(text, sizeof text, "%s", place.path);
    return text;
}

/* Outside the view: the box's own /tmp may stand where this test keeps its files. */
static bool is_closed(const char *path)
{
    const char *text = text_of(path);

    return strcmp(text, "-13") == 0 || strcmp(text, "-2") == 0;
}

#define NO_ACCESS "-13"
#define ABSENT    "-2"

TEST(finds_files_by_absolute_and_relative_paths)
{
    world_begin();
    world_directory("work/a");
    world_file("work/a/b", "inside");
    world_open();
    CHECK_STR(text_of("/work/a/b"), "inside");
    CHECK_STR(text_of("a/b"), "inside");
    CHECK_STR(text_of("./a//b"), "inside");
    CHECK_STR(text_of("a/../a/b"), "inside");
    CHECK_STR(canonical("/work/a/.."), "/work");
    CHECK_STR(canonical("."), "/work");
    CHECK_STR(canonical("a/"), "/work/a");
    CHECK_STR(text_of("a/c"), ABSENT);
    CHECK_STR(text_of("a/b/c"), "-20");
    CHECK(use("a/b/", PLACE_READ) == -ENOTDIR);
    CHECK(use("", PLACE_READ) == -ENOENT);
}

TEST(what_is_not_in_the_view_is_not_there)
{
    world_begin();
    world_file("outside/secret", "no");
    world_open();
    CHECK(is_closed(world_host("outside/secret")));
    CHECK_STR(text_of("/home/somebody/secret"), NO_ACCESS);
    CHECK(strstr(said, "is not in the sandbox's view") && strstr(said, "/work"));
    CHECK_STR(text_of("../outside/secret"), NO_ACCESS);
    CHECK_STR(text_of("/etc/shadow"), NO_ACCESS);
    CHECK_STR(text_of("/proc/self/environ"), NO_ACCESS);
    CHECK_STR(text_of("/proc/self/root/etc/shadow"), NO_ACCESS);
    CHECK_STR(text_of("/dev/zero"), NO_ACCESS);
    CHECK_STR(text_of("/"), NO_ACCESS);
}

TEST(links_are_followed_in_the_view)
{
    char text[600];

    world_begin();
    world_directory("work/a");
    world_directory("work/a/deep");
    world_file("work/a/b", "inside");
    world_file("outside/secret", "no");
    world_link("a/b", "work/relative");
    world_link("/work/a/b", "work/absolute");
    world_link("a/deep", "work/directory");
    world_link("../outside/secret", "work/up");
    world_link(world_host("outside/secret"), "work/out");
    world_link(world_host("work/a/b"), "work/by-host");
    world_link("/proc/self/root", "work/magic");
    world_link("loop", "work/loop");
    world_link("nowhere", "work/dangling");
    world_open();
    CHECK_STR(text_of("relative"), "inside");
    CHECK_STR(text_of("absolute"), "inside");
    CHECK_STR(canonical("directory"), "/work/a/deep");
    CHECK_STR(text_of("directory/../b"), "inside"); /* the kernel's "..", not the text's */
    CHECK_STR(text_of("up"), NO_ACCESS);
    CHECK(strstr(said, "'/work/up' leads elsewhere"));
    CHECK(is_closed("out"));
    CHECK(is_closed("by-host")); /* as in the box, where there is no such path */
    (void)snprintf(text, sizeof text, "magic%s", world_host("outside/secret"));
    CHECK_STR(text_of(text), NO_ACCESS);
    CHECK_STR(text_of("loop"), "-40");
    CHECK_STR(text_of("dangling"), ABSENT);
}

TEST(the_name_itself_is_not_followed)
{
    auto_place struct place place;

    world_begin();
    world_file("work/b", "inside");
    world_link("b", "work/link");
    world_open();
    CHECK(find("link", PLACE_LOOK, &place) == 0);
    CHECK(S_ISLNK(place.st.st_mode));
    CHECK_STR(place.path, "/work/link");
    place_done(&place);
    CHECK(find("link", PLACE_CHANGE, &place) == 0);
    CHECK_STR(place.path, "/work/b");
}

TEST(absent_names_are_for_those_who_make)
{
    auto_place struct place place;
    coop_error *err = NULL;

    world_begin();
    world_directory("work/a");
    world_link("a/new", "work/link");
    world_open();
    CHECK(use("a/new", PLACE_READ) == -ENOENT);
    CHECK(use("no/new", PLACE_CHANGE) == -ENOENT);
    CHECK(strstr(said, "create the directory first"));
    CHECK(find("link", PLACE_CHANGE, &place) == 0 && !place.exists);
    CHECK_STR(place.path, "/work/a/new");
    auto_close int fd = place_open(&place, O_WRONLY | O_CREAT | O_EXCL, 0644, &err);
    CHECK(fd >= 0);
    CHECK(world_has("work/a/new"));
}

TEST(binds_show_directories_and_single_files)
{
    world_begin();
    world_directory("outside/data");
    world_file("outside/data/list", "bound");
    world_file("outside/one", "single");
    world_link("/data/list", "work/to-data");
    CHECK(coop_policy_add_bind(world_policy, world_host("outside/data"), "/data", true, NULL) == 0);
    CHECK(coop_policy_add_bind(world_policy, world_host("outside/one"), "/one", false, NULL) == 0);
    world_open();
    CHECK_STR(text_of("/data/list"), "bound");
    CHECK_STR(text_of("to-data"), "bound");
    CHECK_STR(text_of("/data/../one"), "single");
    CHECK(use("/data/new", PLACE_CHANGE) == -EACCES);
    CHECK(strstr(said, "read-only"));
    CHECK(use("/one", PLACE_CHANGE) == 0);
    CHECK_STR(text_of("/one/x"), "-20");
}

TEST(a_bind_inside_the_workspace_covers_it)
{
    auto_place struct place place;

    world_begin();
    world_directory("work/data");
    world_file("work/data/list", "covered");
    world_file("outside/list", "shown");
    CHECK(coop_policy_add_bind(world_policy, world_host("outside"), "/work/data", false, NULL) ==
          0);
    world_open();
    CHECK_STR(text_of("data/list"), "shown");
    CHECK(find(".", PLACE_READ, &place) == 0);
    CHECK(!place_shows(&place, "data", place.fd, "data", true));
}

TEST(blocked_paths_are_closed)
{
    auto_place struct place place;

    world_begin();
    world_directory("work/private");
    world_file("work/private/x", "no");
    CHECK(coop_policy_add_block(world_policy, "private", NULL) == 0);
    world_open();
    CHECK_STR(text_of("private/x"), NO_ACCESS);
    CHECK(strstr(said, "blocked_paths"));
    CHECK(find(".", PLACE_READ, &place) == 0);
    CHECK(!place_shows(&place, "private", place.fd, "private", true));
}

TEST(programs_of_the_host_are_read_only)
{
    world_begin();
    world_open();
    CHECK(use("/usr/bin/env", PLACE_READ) == 0);
    CHECK(use("/bin/sh", PLACE_READ) == 0);
    CHECK(use("/usr/new", PLACE_CHANGE) == -EACCES);
    CHECK(strstr(said, "read-only"));
}

TEST(tmp_is_the_one_that_was_handed_over)
{
    world_begin();
    world_file("tmp/x", "kept");
    world_open();
    CHECK_STR(text_of("/tmp/x"), "kept");
    CHECK_STR(text_of("/var/tmp/x"), "kept");
    CHECK(use("/tmp/new", PLACE_CHANGE) == 0);
    (void)close(world_tmp_fd);
    world_tmp_fd = -2;
    const struct places_options options = { .policy = world_policy,
                                            .workspace = world_top,
                                            .tmp_fd = -1 };
    places_free(world_places);
    world_places = NULL;
    CHECK(places_new(&options, &world_places, NULL) == 0);
    CHECK_STR(text_of("/tmp/x"), NO_ACCESS);
    world_tmp_fd = -1;
}

TEST(what_only_the_host_has_in_its_tmp_is_said_to_be_there)
{
    char path[] = "/tmp/coop-test.XXXXXX";
    auto_close int fd = mkstemp(path);

    CHECK(fd >= 0);
    world_begin();
    world_directory("tmp/mine");
    world_open();
    CHECK_STR(text_of(path), ABSENT);
    CHECK(strstr(said, "has its own '/tmp'"));
    CHECK(use(path, PLACE_CHANGE) == 0);
    CHECK(unlink(path) == 0);
    CHECK_STR(text_of(path), ABSENT);
    CHECK(!strstr(said, "of its own"));
    CHECK_STR(text_of("/tmp/mine/none"), ABSENT);
    CHECK(!strstr(said, "of its own"));
}

TEST(a_root_is_the_workspace_itself)
{
    world_begin();
    world_directory("work/src");
    world_file("work/src/a", "of the root");
    world_link("/src/a", "work/link");
    CHECK(coop_policy_set_root(world_policy, world_host("work"), false, NULL) == 0);
    world_open();
    CHECK_STR(text_of("/src/a"), "of the root");
    CHECK_STR(text_of("src/a"), "of the root");
    CHECK_STR(text_of("/link"), "of the root");
    CHECK_STR(text_of("/usr/a"), ABSENT);
    CHECK_STR(canonical("/"), "/");
    CHECK(use("/new", PLACE_CHANGE) == 0);
    CHECK(use("/../new", PLACE_CHANGE) == 0);
    world_directory("work/lib"); /* as for commands, which would not see it */
    CHECK(use("/src/a", PLACE_READ) == -EEXIST);
}

TEST(a_read_only_root_cannot_be_written)
{
    world_begin();
    world_file("work/a", "x");
    CHECK(coop_policy_set_root(world_policy, world_host("work"), true, NULL) == 0);
    world_open();
    CHECK_STR(text_of("/a"), "x");
    CHECK(use("/a", PLACE_CHANGE) == -EACCES);
}

TEST(on_the_host_nothing_is_refused)
{
    world_begin();
    world_file("work/.env", "mine");
    world_file("outside/x", "elsewhere");
    world_link("../outside/x", "work/out");
    world_is_on_host = true;
    world_open();
    CHECK_STR(text_of(".env"), "mine");
    CHECK_STR(text_of("out"), "elsewhere");
    CHECK_STR(text_of(world_host("outside/x")), "elsewhere");
}

TEST(roots_limit_what_is_there)
{
    char root[4096];
    const char *const roots[] = { root, NULL };

    world_begin();
    world_directory("work/in");
    world_directory("work/other");
    world_file("work/in/a", "yes");
    world_file("work/other/a", "no");
    (void)snprintf(root, sizeof root, "%s", world_host("work/in"));
    world_roots = roots;
    world_open();
    CHECK_STR(text_of("in/a"), "yes");
    CHECK_STR(text_of("other/a"), NO_ACCESS);
    CHECK_STR(text_of("/usr/bin/env"), NO_ACCESS);
    CHECK_STR(canonical("."), "/work");
    auto_place struct place place;
    CHECK(find(".", PLACE_READ, &place) == 0);
    CHECK(place_shows(&place, "in", place.fd, "in", true));
    CHECK(!place_shows(&place, "other", place.fd, "other", true));
    world_roots = NULL;
}

/* Else all of it would come with it: what lies beside the directory too. */
TEST(what_holds_a_root_cannot_be_moved_or_removed)
{
    char one[4096];
    char two[4096];
    const char *const roots[] = { one, two, NULL };

    world_begin();
    world_directory("work/above");
    world_directory("work/above/one");
    world_directory("work/above/one/inner");
    world_directory("work/two");
    world_file("work/above/other", "no");
    (void)snprintf(one, sizeof one, "%s", world_host("work/above/one"));
    (void)snprintf(two, sizeof two, "%s", world_host("work/two"));
    world_roots = roots;
    world_open();
    auto_place struct place above;
    auto_place struct place root;
    auto_place struct place inner;
    auto_place struct place to;
    CHECK(find("above", PLACE_NAME, &above) == 0);
    CHECK(find("above/one", PLACE_NAME, &root) == 0);
    CHECK(find("above/one/inner", PLACE_NAME, &inner) == 0);
    CHECK(find("two/new", PLACE_NAME, &to) == 0);
    CHECK(place_may_move(&above, &to, NULL) == -EBUSY);
    CHECK(place_may_move(&root, &to, NULL) == -EBUSY);
    CHECK(place_may_move(&inner, &to, NULL) == 0);
    CHECK(place_may_remove(&above, NULL) == -EBUSY);
    CHECK(place_may_remove(&root, NULL) == -EBUSY);
    CHECK(place_may_remove(&inner, NULL) == 0);
    CHECK(place_may_move(&inner, &root, NULL) == -EBUSY);
    world_roots = NULL;
}

/* ---- protected names */

TEST(hidden_files_cannot_be_reached_by_any_way)
{
    world_begin();
    world_directory("work/sub");
    world_directory("work/sub/dir");
    world_file("work/.env", "secret");
    world_file("work/sub/.env", "secret");
    world_file("work/x.pem", "-----BEGIN PRIVATE KEY-----");
    world_file("work/public.pem", "-----BEGIN CERTIFICATE-----");
    world_link(".env", "work/link");
    world_link("sub", "work/sublink");
    world_open();
    CHECK_STR(text_of(".env"), NO_ACCESS);
    CHECK(strstr(said, "'/work/.env' is hidden") && strstr(said, "rule '"));
    CHECK_STR(text_of("sub/.env"), NO_ACCESS);
    CHECK_STR(text_of("sublink/.env"), NO_ACCESS);
    CHECK_STR(text_of("sub/dir/../.env"), NO_ACCESS);
    CHECK_STR(text_of("link"), NO_ACCESS);
    CHECK_STR(text_of("x.pem"), NO_ACCESS);
    CHECK_STR(text_of("public.pem"), "-----BEGIN CERTIFICATE-----");
    CHECK(use(".env", PLACE_CHANGE) == -EACCES);
    CHECK(use(".env", PLACE_NAME) == -EACCES);
    CHECK(use(".env", PLACE_LOOK) == -EACCES);
}

TEST(what_appears_later_is_hidden_at_once)
{
    world_begin();
    world_open();
    CHECK_STR(text_of(".env"), ABSENT);
    CHECK(use(".env", PLACE_CHANGE) == 0); /* as in a box: what is not there can be made */
    world_file("work/.env", "secret");
    CHECK_STR(text_of(".env"), NO_ACCESS);
    CHECK(use(".env", PLACE_CHANGE) == -EACCES);
}

TEST(other_names_of_hidden_files_are_hidden)
{
    world_begin();
    world_file("work/.env", "secret");
    world_file("work/plain", "plain");
    world_directory("work/node_modules");
    CHECK(link(world_host("work/.env"), world_host("work/innocent")) == 0);
    CHECK(link(world_host("work/.env"), world_host("work/node_modules/x")) == 0);
    CHECK(link(world_host("work/plain"), world_host("work/plain2")) == 0);
    world_open();
    CHECK_STR(text_of("innocent"), NO_ACCESS);
    CHECK_STR(text_of("node_modules/x"), NO_ACCESS);
    CHECK_STR(text_of("plain2"), "plain");
    CHECK(link(world_host("work/.env"), world_host("work/later")) == 0);
    CHECK_STR(text_of("later"), NO_ACCESS); /* the search was made before: it is made again */
    auto_place struct place place;
    CHECK(find(".", PLACE_READ, &place) == 0);
    CHECK(!place_shows(&place, "innocent", place.fd, "innocent", false));
    CHECK(place_shows(&place, "plain2", place.fd, "plain2", false));
}

TEST(what_a_link_with_a_hidden_name_leads_to_is_hidden)
{
    world_begin();
    world_file("work/settings", "secret");
    world_link("settings", "work/.env");
    world_open();
    CHECK_STR(text_of("settings"), NO_ACCESS);
    CHECK(use(".env", PLACE_NAME) == -EACCES);
}

TEST(a_link_on_the_way_is_judged_as_a_directory)
{
    world_begin();
    world_directory("work/a");
    world_file("work/a/b", "inside");
    world_link("a", "work/keys");
    CHECK(coop_policy_add_protect(world_policy, "keys/", COOP_PROTECT_HIDE, NULL) == 0);
    world_open();
    CHECK_STR(text_of("keys/b"), NO_ACCESS);
    world_begin();
    world_directory("work/a");
    world_file("work/a/b", "inside");
    world_link("a", "work/key.pem"); /* the rule is about files */
    world_open();
    CHECK_STR(text_of("key.pem/b"), "inside");
}

TEST(a_part_of_the_workspace_seen_elsewhere_has_the_same_rules)
{
    world_begin();
    world_directory("work/sub");
    world_file("work/sub/.env", "secret");
    CHECK(coop_policy_add_bind(world_policy, world_host("work/sub"), "/sub", false, NULL) == 0);
    CHECK(coop_policy_add_bind(world_policy, world_host(""), "/all", false, NULL) == 0);
    world_open();
    CHECK_STR(text_of("/sub/.env"), NO_ACCESS);
    CHECK_STR(text_of("/all/work/sub/.env"), NO_ACCESS);
    CHECK(use("/all/work/.bashrc", PLACE_CHANGE) == -EACCES);
}

TEST(git_is_kept)
{
    world_begin();
    world_directory("work/.git");
    world_directory("work/.git/hooks");
    world_file("work/.git/config", "[core]\n");
    world_file("work/.git/HEAD", "ref: refs/heads/main\n");
    world_open();
    CHECK(use(".git/hooks/pre-commit", PLACE_CHANGE) == -EACCES);
    CHECK(strstr(said, "is write-protected") && strstr(said, "'.git/hooks'"));
    CHECK(use(".git/hooks", PLACE_NAME) == -EACCES);
    CHECK(use(".git", PLACE_NAME) == -EACCES);
    CHECK_STR(text_of(".git/config"), NO_ACCESS);
    CHECK(strstr(said, "git's configuration"));
    CHECK(use(".git/config", PLACE_CHANGE) == -EACCES);
    CHECK_STR(text_of(".git/HEAD"), "ref: refs/heads/main\n");
}

TEST(git_inside_and_of_other_names_is_kept)
{
    world_begin();
    world_directory("work/sub");
    world_directory("work/sub/.git");
    world_file("work/sub/.git/config", "[core]\n");
    world_directory("work/.bare");
    world_directory("work/.bare/hooks");
    world_file("work/.bare/config", "[core]\n");
    world_directory("work/tree");
    world_file("work/tree/.git", "gitdir: ../.bare\n");
    world_open();
    CHECK_STR(text_of("sub/.git/config"), NO_ACCESS);
    CHECK(use("sub/.git/hooks/x", PLACE_NAME) == -ENOENT);
    CHECK(use("sub/.git/hooks", PLACE_NAME) == -EACCES);
    CHECK(use(".bare/hooks/x", PLACE_CHANGE) == -EACCES);
    CHECK_STR(text_of(".bare/config"), NO_ACCESS);
    CHECK(use("tree/.git", PLACE_CHANGE) == -EACCES);
    CHECK_STR(text_of("tree/.git"), "gitdir: ../.bare\n");
}

TEST(exceptions_hold)
{
    world_begin();
    world_file("work/.env", "shown");
    world_file("work/.env.example", "shown");
    world_file("work/mine", "secret");
    CHECK(coop_policy_add_protect(world_policy, ".env", COOP_PROTECT_SHOW, NULL) == 0);
    CHECK(coop_policy_add_protect(world_policy, "mine", COOP_PROTECT_HIDE, NULL) == 0);
    world_open();
    CHECK_STR(text_of(".env"), "shown");
    CHECK_STR(text_of(".env.example"), "shown");
    CHECK_STR(text_of("mine"), NO_ACCESS);
}

TEST(dependencies_are_other_peoples)
{
    world_begin();
    world_directory("work/node_modules");
    world_file("work/node_modules/.env", "theirs");
    world_open();
    CHECK_STR(text_of("node_modules/.env"), "theirs");
}

TEST(case_counts_where_the_policy_says)
{
    world_begin();
    world_file("work/.ENV", "secret");
    world_open();
    CHECK_STR(text_of(".ENV"), "secret");
    CHECK(coop_policy_set_protect_ignore_case(world_policy, true, NULL) == 0);
    world_open();
    CHECK_STR(text_of(".ENV"), NO_ACCESS);
}

TEST(a_hidden_directory_cannot_be_passed)
{
    world_begin();
    world_directory("work/vault");
    world_directory("work/vault/in");
    world_file("work/x", "x");
    world_file("work/vault/y", "y");
    CHECK(coop_policy_add_protect(world_policy, "vault", COOP_PROTECT_HIDE, NULL) == 0);
    world_open();
    CHECK_STR(text_of("vault/y"), NO_ACCESS);
    CHECK_STR(text_of("vault/in/../../x"), NO_ACCESS);
    CHECK_STR(text_of("vault/no/../../x"), NO_ACCESS);
}

TEST(names_on_the_way_to_what_is_protected_stay_directories)
{
    auto_place struct place place;

    world_begin();
    world_open();
    CHECK(find(".git", PLACE_NAME, &place) == 0);
    CHECK(place_may_make(&place, PLACE_NEW_FILE, NULL) == -EACCES);
    CHECK(place_may_make(&place, PLACE_NEW_LINK, NULL) == -EACCES);
    CHECK(place_may_make(&place, PLACE_NEW_DIRECTORY, NULL) == 0);
    place_done(&place);
    CHECK(find("plain", PLACE_NAME, &place) == 0);
    CHECK(place_may_make(&place, PLACE_NEW_FILE, NULL) == 0);
    CHECK(place_may_make(&place, PLACE_NEW_LINK, NULL) == 0);
}

/* 0, or why the name cannot be written, or made as such. */
static int may_make(const char *path, enum place_new kind)
{
    auto_place struct place place = { .fd = -1 };
    int r = find(path, PLACE_NAME, &place);

    return r < 0 ? r : place_may_make(&place, kind, NULL);
}

TEST(a_git_directory_needs_no_name)
{
    world_begin();
    world_directory("work/d");
    world_directory("work/d/objects");
    world_directory("work/tree");
    world_directory("work/tree/.git");
    world_directory("work/tree/refs");
    world_directory("work/new");
    world_directory("work/new/refs");
    world_file("work/new/config", "x");
    world_open();
    CHECK(may_make("d/config", PLACE_NEW_FILE) == 0);
    CHECK(may_make("d/logs", PLACE_NEW_LINK) == 0);
    CHECK(may_make("d/refs", PLACE_NEW_LINK) == -EACCES);
    CHECK(may_make("d/refs", PLACE_NEW_DIRECTORY) == 0);
    CHECK(may_make("tree/objects", PLACE_NEW_DIRECTORY) == -EACCES); /* beside a .git */
    CHECK(may_make("new/objects", PLACE_NEW_DIRECTORY) == -EACCES);  /* nobody has looked */
    world_directory("work/d/refs");
    world_directory("work/d/hooks");
    CHECK(may_make("d/config", PLACE_NEW_FILE) == -EACCES);
    CHECK(may_make("d/hooks/pre-commit", PLACE_NEW_FILE) == -EACCES);
    CHECK(may_make("d/hooks/x.sample", PLACE_NEW_FILE) == 0);
    CHECK(may_make("d/HEAD", PLACE_NEW_FILE) == 0);
    CHECK(may_make("d/index", PLACE_NEW_LINK) == -EACCES);
    CHECK(may_make("d/refs/x", PLACE_NEW_LINK) == -EACCES);
    CHECK(may_make("x", PLACE_NEW_LINK) == 0);
}

static int may_move(const char *from, const char *to)
{
    auto_place struct place source;
    auto_place struct place target;
    coop_error *err = NULL;

    CHECK(find(from, PLACE_NAME, &source) == 0);
    CHECK(find(to, PLACE_NAME, &target) == 0);
    int r = place_may_move(&source, &target, &err);
    (void)snprintf(said, sizeof said, "%s", err ? coop_error_message(err) : "");
    coop_error_free(err);
    return r;
}

TEST(directories_do_not_carry_protected_names)
{
    world_begin();
    world_directory("work/prepared");
    world_directory("work/prepared/hooks");
    world_directory("work/holds");
    world_directory("work/holds/deep");
    world_file("work/holds/deep/.env", "secret");
    world_directory("work/plain");
    world_file("work/plain/a", "a");
    world_open();
    CHECK(may_move("prepared", ".git") == -EACCES);
    CHECK(strstr(said, "hooks"));
    CHECK(may_move("prepared", "elsewhere") == 0);
    CHECK(may_move("holds", "node_modules") == -EBUSY);
    CHECK(strstr(said, "holds/deep/.env"));
    CHECK(may_move("plain", "other") == 0);
    CHECK(may_move("plain", ".git") == 0);
}

TEST(directories_that_hold_protected_names_stay)
{
    auto_place struct place place;

    world_begin();
    world_directory("work/holds");
    world_file("work/holds/.env", "secret");
    world_directory("work/sub");
    world_directory("work/sub/.git");
    world_directory("work/sub/.git/hooks");
    world_open();
    CHECK(find("holds", PLACE_NAME, &place) == 0);
    CHECK(place_may_remove(&place, NULL) == -EBUSY);
    place_done(&place);
    CHECK(find("sub", PLACE_NAME, &place) == 0);
    CHECK(place_may_remove(&place, NULL) == 0); /* a repository inside can go, as in the box */
}

/* ---- other kinds of files */

TEST(only_files_and_directories_are_opened)
{
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    world_begin();
    CHECK(mkfifo(world_host("work/fifo"), 0600) == 0);
    (void)snprintf(address.sun_path, sizeof address.sun_path, "%s", world_host("work/socket"));
    CHECK(fd >= 0 && bind(fd, (struct sockaddr *)&address, sizeof address) == 0);
    (void)close(fd);
    if (geteuid() == 0 && mknod(world_host("work/device"), S_IFCHR | 0600, 0x103) == 0) {
        world_open();
        CHECK_STR(text_of("device"), "-22");
        CHECK(strstr(said, "is a device"));
    }
    world_open();
    CHECK_STR(text_of("fifo"), "-22");
    CHECK(strstr(said, "is a fifo"));
    CHECK_STR(text_of("socket"), "-22");
    CHECK_STR(text_of("."), "-21");
}

TEST(strange_names_are_names)
{
    world_begin();
    world_file("work/a\nb", "newline");
    world_file("work/\xff\xfe", "bytes");
    world_open();
    CHECK_STR(text_of("a\nb"), "newline");
    CHECK_STR(text_of("\xff\xfe"), "bytes");
    CHECK_STR(text_of("\x1b[2J"), ABSENT);
    CHECK(!strchr(said, '\x1b'));
}
