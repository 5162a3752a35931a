/* worlds: user */
#include "place.h"

#include "base/cleanup.h"
#include "policy/path/path.h"
#include "policy/view/defaults.h"
#include "test/check.h"

static coop_policy *policy;
static struct view_index *view;

static void start(void)
{
    coop_policy_free(policy);
    policy = NULL;
    CHECK(coop_policy_new(&policy, NULL) == 0);
    CHECK(coop_policy_set_workspace(policy, "/home/u/ws", NULL) == 0);
}

static struct view_place at(const char *path)
{
    view_index_free(view);
    view = view_index_new(policy, view_of_workspace(policy, NULL));
    CHECK(view);
    return view_find(view, path);
}

TEST(every_row_stands_once_and_behind_the_directory_that_holds_it)
{
    for (const struct view_default *row = view_defaults; row->path; row++) {
        bool has_directory = false;
        const char *slash = strrchr(row->path, '/');

        CHECK(*row->path == '/' && slash);
        for (const struct view_default *other = view_defaults; other->path; other++) {
            CHECK(other == row || strcmp(other->path, row->path) != 0 ||
                  other->with_network != row->with_network); /* no box has both */
            has_directory |= other < row && strlen(other->path) == (size_t)(slash - row->path) &&
                             strncmp(other->path, row->path, strlen(other->path)) == 0;
        }
        /* of the others, the mount points are made with what leads there */
        CHECK(slash == row->path || has_directory || row->origin == VIEW_HOST);
        CHECK((row->text != NULL) == (row->origin == VIEW_SYMLINK || row->origin == VIEW_POOL));
        CHECK(!row->with_network || row->origin == VIEW_HOST);
        CHECK(!row->with_gate || (row->origin == VIEW_FILE && !row->with_network));
    }
}

TEST(what_every_box_has)
{
    start();
    CHECK(at("/usr/bin/env").what == VIEW_IS_TOOLS);
    CHECK(at("/etc/java-17-openjdk/x").what == VIEW_IS_TOOLS);
    CHECK(at("/etc/java-x").what == VIEW_NOTHING);
    CHECK(at("/etc/passwd").what == VIEW_IS_OWN);
    CHECK(at("/etc/shadow").what == VIEW_NOTHING);
    CHECK(at("/dev/ptmx").what == VIEW_IS_OWN && view_own_is_writable(policy, "/dev/ptmx"));
    CHECK(at("/proc/self/maps").what == VIEW_IS_OWN &&
          !view_own_is_writable(policy, "/proc/self/maps"));
    CHECK(at("/proc/keys").what == VIEW_NOTHING);
    CHECK(at("/tmp/x").what == VIEW_IS_OWN && view_own_is_writable(policy, "/tmp/x"));
    CHECK(at("/etc/resolv.conf").what == VIEW_NOTHING);
    CHECK(coop_policy_set_network(policy, COOP_NETWORK_HOST, NULL) == 0);
    CHECK(at("/etc/resolv.conf").what == VIEW_IS_TOOLS);
}

TEST(directories_that_lead_somewhere)
{
    static const char *const leading[] = {
        "/", "/etc", "/etc/ssl", "/dev", "/var", "/nix", "/data"
    };

    start();
    CHECK(coop_policy_add_bind(policy, "/h", "/data/deep/h", true, NULL) == 0);
    CHECK(coop_policy_add_block(policy, "/hidden/x", NULL) == 0);
    (void)at("/");
    for (size_t i = 0; i < COUNT(leading); i++) {
        CHECK(view_leads(view, leading[i]));
        CHECK(view_find(view, leading[i]).what == VIEW_NOTHING);
    }
    CHECK(!view_leads(view, "/dat") && !view_leads(view, "/hidden") && !view_leads(view, "/home"));
}

TEST(a_part_of_the_workspace_keeps_its_place)
{
    start();
    CHECK(coop_policy_set_restrict(policy, "src/lib", NULL) == 0);
    struct view_place place = at("/work/src/lib/a");
    CHECK(place.what == VIEW_IS_WORKSPACE && !place.mount);
    CHECK_STR(place.below, "src/lib/a"); /* of the workspace: that is what rules are about */
    place = at("/work/src/lib");
    CHECK(place.what == VIEW_IS_WORKSPACE);
    CHECK_STR(place.below, "src/lib");
    CHECK(at("/work/src/lib2").what == VIEW_NOTHING);
    CHECK(at("/work/src").what == VIEW_NOTHING && view_leads(view, "/work/src"));
    CHECK(at("/work").what == VIEW_NOTHING && view_leads(view, "/work"));
    CHECK(at("/work/secrets").what == VIEW_NOTHING && !view_leads(view, "/work/secrets"));
    CHECK(coop_policy_set_same_path(policy, true, NULL) == 0);
    place = at("/home/u/ws/src/lib/a");
    CHECK(place.what == VIEW_IS_WORKSPACE);
    CHECK_STR(place.below, "src/lib/a");
    CHECK(at("/home/u/ws/x").what == VIEW_NOTHING && at("/work/src/lib").what == VIEW_NOTHING);
}

TEST(a_part_of_a_root)
{
    coop_policy_free(policy);
    policy = NULL;
    CHECK(coop_policy_new(&policy, NULL) == 0);
    CHECK(coop_policy_set_root(policy, "/home/u/p", false, NULL) == 0);
    CHECK(at("/docs/a").what == VIEW_IS_WORKSPACE && at("/").what == VIEW_IS_WORKSPACE);
    CHECK(at("/bin/a").what == VIEW_IS_TOOLS && at("/etc/x").what == VIEW_NOTHING);
    CHECK(coop_policy_set_restrict(policy, "/src", NULL) == 0);
    struct view_place place = at("/src/a");
    CHECK(place.what == VIEW_IS_WORKSPACE);
    CHECK_STR(place.below, "src/a");
    CHECK(at("/docs/a").what == VIEW_NOTHING && at("/").what == VIEW_NOTHING);
    CHECK(view_leads(view, "/"));
}

TEST(mounts_and_blocks_stay)
{
    start();
    CHECK(coop_policy_set_restrict(policy, "src", NULL) == 0);
    CHECK(coop_policy_add_bind(policy, "/h/lib", "/work/lib", true, NULL) == 0);
    CHECK(coop_policy_add_bind(policy, "/h/in", "/work/src/in", true, NULL) == 0);
    CHECK(coop_policy_add_block(policy, "src/hidden", NULL) == 0);
    CHECK(at("/work/lib/x").what == VIEW_IS_BIND);
    CHECK(at("/work/src/in/x").what == VIEW_IS_BIND);
    CHECK(at("/work/src/hidden/x").what == VIEW_IS_BLOCK);
    CHECK(at("/work/src/x").what == VIEW_IS_WORKSPACE);
}
