/*
 * What of the workspace is shown: all of it, or a directory in it that nobody can exchange for another.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "plan/plan.h"
#include "sys/kernel.h"
#include "test/check.h"

static const struct host host = {
    .uid = 1000, .gid = 1000, .landlock_abi = 7, .namespaces = true, .mount_setattr = true
};
static const struct host poor = { .uid = 1000, .gid = 1000, .landlock_abi = 7 };
static char *const nothing[] = { (char *)(uintptr_t) "true", NULL };

static char workspace[512];
static int workspace_fd = -1;
static coop_policy *policy;
static struct plan plan;
static coop_error *error;

/* src/deep/, secret/.env, a link to secret and one in src */
static void start(void)
{
    CHECK(workspace_fd < 0);
    CHECK(mkdtemp(check_temporary(workspace, sizeof workspace, "shown")) != NULL);
    workspace_fd = open(workspace, O_PATH | O_DIRECTORY | O_CLOEXEC);
    CHECK(mkdirat(workspace_fd, "src", 0755) == 0 && mkdirat(workspace_fd, "secret", 0755) == 0);
    CHECK(mkdirat(workspace_fd, "src/deep", 0755) == 0);
    CHECK(symlinkat("secret", workspace_fd, "link") == 0);
    CHECK(symlinkat("../secret", workspace_fd, "src/inner") == 0);
    auto_close int file = openat(workspace_fd, "file", O_CREAT | O_WRONLY | O_CLOEXEC, 0644);
    auto_close int env = openat(workspace_fd, "src/.env", O_CREAT | O_WRONLY | O_CLOEXEC, 0644);
    CHECK(file >= 0 && env >= 0);
    CHECK(coop_policy_new(&policy, NULL) == 0);
    CHECK(coop_policy_set_workspace(policy, workspace, NULL) == 0);
}

static void end_plan(void)
{
    plan_done(&plan);
    coop_error_free(error);
    error = NULL;
}

static void end(void)
{
    static const char *const files[] = { "src/.env", "src/inner", "link", "file" };
    static const char *const directories[] = { "src/deep", "src", "secret" };

    end_plan();
    coop_policy_free(policy);
    policy = NULL;
    for (size_t i = 0; i < COUNT(files); i++)
        (void)unlinkat(workspace_fd, files[i], 0);
    for (size_t i = 0; i < COUNT(directories); i++)
        (void)unlinkat(workspace_fd, directories[i], AT_REMOVEDIR);
    (void)close(workspace_fd);
    workspace_fd = -1;
    CHECK(rmdir(workspace) == 0);
}

static int compile(const struct host *on)
{
    const struct plan_request request = { .argv = nothing, .is_for_reading = true };

    end_plan();
    return plan_compile(&plan, policy, on, &request, &error);
}

static const struct step *bind_at(const char *target)
{
    static const struct step none = { .source = "" };

    for (size_t i = 0; i < plan.n_steps; i++)
        if (plan.steps[i].kind == STEP_BIND && strcmp(plan.steps[i].target, target) == 0)
            return &plan.steps[i];
    return &none;
}

/* What Landlock allows there, 0 if there is no rule for it. */
static uint64_t allowed(const char *path)
{
    for (size_t i = 0; i < plan.landlock.n_rules; i++)
        if (strcmp(plan.landlock.rules[i].path, path) == 0)
            return plan.landlock.rules[i].allowed;
    return 0;
}

TEST(the_part_is_mounted_where_it_always_was_and_nothing_else)
{
    struct stat st;

    start();
    CHECK(coop_policy_set_restrict(policy, "src", NULL) == 0);
    CHECK(compile(&host) == 0);
    CHECK(fstatat(workspace_fd, "src", &st, 0) == 0);
    CHECK(bind_at("work/src")->ino == st.st_ino && bind_at("work/src")->flags & STEP_RECHECK);
    CHECK(!*bind_at("work")->source);
    CHECK_STR(plan.workspace_view, "/work");
    CHECK_STR(plan.directory, "/work");
    CHECK(allowed("/work/src") & LANDLOCK_WRITE_FILE && allowed("/work") == 0);
    end();
}

TEST(read_only_is_so_in_mounts_and_rules)
{
    start();
    CHECK(coop_policy_set_read_only(policy, true, NULL) == 0);
    CHECK(compile(&host) == 0);
    CHECK(bind_at("work")->flags & STEP_READ_ONLY);
    CHECK(allowed("/work") == 0); /* what "/" has: reading */
    for (size_t i = 0; i < plan.n_write_roots; i++)
        CHECK(plan.write_roots[i].fd < 0); /* nobody writes for git from outside either */
    CHECK(coop_policy_set_mode(policy, COOP_MODE_PREFERRED, NULL) == 0);
    CHECK(compile(&poor) == 0);
    CHECK(allowed(workspace) & LANDLOCK_READ_FILE && !(allowed(workspace) & LANDLOCK_WRITE_FILE));
    end();
}

/* There the rule's path is looked up when somebody could have exchanged the directory. */
TEST(without_namespaces_the_rule_is_about_the_directory_that_was_found)
{
    struct stat meant;

    start();
    CHECK(coop_policy_set_restrict(policy, "src", NULL) == 0);
    CHECK(coop_policy_set_mode(policy, COOP_MODE_PREFERRED, NULL) == 0);
    CHECK(compile(&poor) == 0);
    CHECK(allowed(workspace) == 0);
    size_t i = 0;
    while (i < plan.landlock.n_rules && !plan.landlock.rules[i].is_opened)
        i++;
    CHECK(i < plan.landlock.n_rules);
    CHECK(fstatat(workspace_fd, "src", &meant, 0) == 0);
    CHECK(plan.landlock.rules[i].dev == meant.st_dev && plan.landlock.rules[i].ino == meant.st_ino);
    end();
}

TEST(no_link_is_followed_on_the_way)
{
    static const struct {
        const char *directory;
        int errnum;
    } cases[] = { { "link", ELOOP },     { "src/inner", ELOOP }, { "link/x", ELOOP },
                  { "nowhere", ENOENT }, { "file", ENOTDIR },    { "file/x", ENOTDIR } };

    start();
    for (size_t i = 0; i < COUNT(cases); i++) {
        CHECK(coop_policy_set_restrict(policy, cases[i].directory, NULL) == 0);
        CHECK(compile(&host) == -cases[i].errnum);
        CHECK(strstr(coop_error_message(error), cases[i].directory));
        CHECK(coop_error_get_kind(error) == COOP_ERROR_BAD_POLICY);
    }
    end();
}

TEST(what_is_hidden_or_kept_cannot_be_the_part)
{
    start();
    CHECK(coop_policy_set_restrict(policy, "src/deep", NULL) == 0);
    CHECK(coop_policy_add_protect(policy, "src", COOP_PROTECT_KEEP, NULL) == 0);
    CHECK(compile(&host) == -EACCES);
    CHECK(strstr(coop_error_message(error), "'src/deep', which cannot be written"));
    CHECK(coop_policy_set_read_only(policy, true, NULL) == 0);
    CHECK(compile(&host) == 0);
    CHECK(coop_policy_add_protect(policy, "**/src", COOP_PROTECT_HIDE, NULL) == 0);
    CHECK(coop_policy_add_protect(policy, "src", COOP_PROTECT_HIDE, NULL) == 0);
    CHECK(compile(&host) == -EACCES);
    CHECK(strstr(coop_error_message(error), "'src/deep', which is hidden"));
    end();
}

TEST(names_of_the_rest_are_told_to_nobody)
{
    start();
    CHECK(mkdirat(workspace_fd, ".git", 0755) == 0);
    CHECK(coop_policy_add_protect(policy, "secret", COOP_PROTECT_HIDE, NULL) == 0);
    CHECK(compile(&host) == 0);
    CHECK(plan.git_excludes && strstr(plan.git_excludes, "/secret"));
    CHECK(coop_policy_set_restrict(policy, "src", NULL) == 0);
    CHECK(compile(&host) == 0);
    CHECK(!plan.git_excludes || !strstr(plan.git_excludes, "secret"));
    CHECK(unlinkat(workspace_fd, ".git", AT_REMOVEDIR) == 0);
    end();
}

TEST(the_part_of_a_root_stands_beside_the_tools)
{
    start();
    coop_policy_free(policy);
    policy = NULL;
    CHECK(coop_policy_new(&policy, NULL) == 0);
    CHECK(coop_policy_set_root(policy, workspace, false, NULL) == 0);
    CHECK(coop_policy_set_restrict(policy, "/src", NULL) == 0);
    CHECK(compile(&host) == 0);
    CHECK(!plan.is_root_view && *bind_at("src")->source);
    CHECK_STR(plan.workspace_view, "/");
    CHECK_STR(plan.directory, "/");
    CHECK(mkdirat(workspace_fd, "lib", 0755) == 0);
    CHECK(coop_policy_set_restrict(policy, "/lib", NULL) == 0);
    CHECK(compile(&host) == -EINVAL);
    CHECK(strstr(coop_error_message(error), "the box has its own there"));
    CHECK(unlinkat(workspace_fd, "lib", AT_REMOVEDIR) == 0);
    end();
}

TEST(a_mount_cannot_take_the_place_of_the_part)
{
    start();
    CHECK(coop_policy_set_restrict(policy, "src", NULL) == 0);
    CHECK(coop_policy_add_bind(policy, "/usr", "/work/src", true, NULL) == 0);
    CHECK(compile(&host) == -EEXIST);
    end();
}
