#include "plan/root_view.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "test/check.h"

static const struct host host = {
    .uid = 1000,
    .gid = 1000,
    .landlock_abi = 7,
    .namespaces = true,
    .mount_setattr = true,
};
#define PROJECT_PATH 256

static char *const nothing[] = { (char *)(uintptr_t) "true", NULL };

static bool has(const struct plan_strings *strings, const char *text)
{
    for (const char *p = strings->text; p && *p; p += strlen(p) + 1)
        if (strcmp(p, text) == 0)
            return true;
    return false;
}

/* The index of a step, -1 if there is none. */
static int find(const struct plan *plan, enum step_kind kind, const char *target)
{
    for (size_t i = 0; i < plan->n_steps; i++)
        if (plan->steps[i].kind == kind && (!target || strcmp(plan->steps[i].target, target) == 0))
            return (int)i;
    return -1;
}

/* A directory with src/, README and .env; the caller removes it. */
static void make_project(char path[PROJECT_PATH])
{
    const char *base = getenv("TMPDIR");

    (void)snprintf(path, PROJECT_PATH, "%.200s/coop-project.XXXXXX", base ? base : "/tmp");
    CHECK(mkdtemp(path) != NULL);
    auto_close int fd = open(path, O_PATH | O_DIRECTORY);
    CHECK(mkdirat(fd, "src", 0755) == 0);
    auto_close int readme = openat(fd, "README", O_CREAT | O_WRONLY, 0644);
    auto_close int env = openat(fd, ".env", O_CREAT | O_WRONLY, 0600);
    CHECK(readme >= 0 && env >= 0);
}

static void remove_project(const char *path)
{
    auto_close int fd = open(path, O_PATH | O_DIRECTORY);

    (void)unlinkat(fd, "README", 0);
    (void)unlinkat(fd, ".env", 0);
    (void)unlinkat(fd, "src", AT_REMOVEDIR);
    CHECK(rmdir(path) == 0);
}

static int compile(struct plan *plan, const coop_policy *policy, const struct host *on)
{
    const struct plan_request request = { .argv = nothing, .is_for_reading = true };
    coop_error *err = NULL;
    int r = plan_compile(plan, policy, on, &request, &err);

    if (r < 0)
        printf("# %s\n", coop_error_message(err));
    coop_error_free(err);
    return r;
}

TEST(strings_are_kept_in_order_and_the_last_one_once)
{
    struct plan plan = { 0 };
    struct plan_strings strings = { 0 };
    char long_text[5000];

    memset(long_text, 'x', sizeof long_text);
    plan_strings_add(&plan, &strings, "/usr", 4);
    plan_strings_add(&plan, &strings, "/usr", 4);
    plan_strings_add(&plan, &strings, "/us", 3);
    plan_strings_add(&plan, &strings, "us", 2); /* the end of the last one is another */
    plan_strings_add(&plan, &strings, "/usr/bin", 4);
    plan_strings_add(&plan, &strings, long_text, sizeof long_text);
    CHECK(strings.length == 5 + 4 + 3 + 5 + sizeof long_text + 1);
    CHECK(memcmp(strings.text, "/usr\0/us\0us\0/usr\0x", 18) == 0);
    CHECK(strings.text[strings.length] == '\0' && strings.text[strings.length - 1] == '\0');
    plan_done(&plan);
}

TEST(entries_are_shown_beside_what_the_box_has)
{
    char path[PROJECT_PATH];
    struct plan plan = { 0 };
    coop_policy *policy = NULL;

    make_project(path);
    CHECK(coop_policy_new(&policy, NULL) == 0);
    CHECK(coop_policy_set_root(policy, path, false, NULL) == 0);
    CHECK(compile(&plan, policy, &host) == 0);
    CHECK_STR(plan.workspace_view, "/");
    CHECK_STR(plan.directory, "/");
    CHECK(find(&plan, STEP_SHOW, "src") > find(&plan, STEP_ROOT_VIEW, NULL));
    CHECK(find(&plan, STEP_SHOW, "README") > 0);
    CHECK(find(&plan, STEP_PROC, NULL) > find(&plan, STEP_SHOW, "src")); /* it covers the project */
    CHECK(has(&plan.outside, "/usr") && has(&plan.outside, "/bin") && has(&plan.outside, "/proc"));
    CHECK(!has(&plan.outside, "/src"));
    CHECK(plan.steps[find(&plan, STEP_SHOW, ".env")].flags & STEP_HIDDEN);
    CHECK(has(&plan.hidden, ".env") && find(&plan, STEP_MASK, ".env") < 0);
    CHECK(strstr(plan.git_excludes, "/usr\n") && strstr(plan.git_excludes, "/.env\n") == NULL);
    plan_done(&plan);
    coop_policy_free(policy);
    remove_project(path);
}

/* Hidden from commands, git would record their removal. */
TEST(names_of_the_boxs_own_are_refused)
{
    static const char *const names[] = { "bin", "lib",  "etc", "var",  "tmp",   "run",
                                         "dev", "proc", "usr", "sbin", "lib64", "nix" };
    char path[PROJECT_PATH];
    coop_policy *policy = NULL;

    make_project(path);
    auto_close int fd = open(path, O_PATH | O_DIRECTORY);
    CHECK(coop_policy_new(&policy, NULL) == 0);
    CHECK(coop_policy_set_root(policy, path, false, NULL) == 0);
    for (size_t i = 0; i < COUNT(names); i++) {
        struct plan plan = { 0 };

        CHECK(symlinkat("nowhere", fd, names[i]) == 0);
        CHECK(compile(&plan, policy, &host) == -EEXIST);
        plan_done(&plan);
        CHECK(unlinkat(fd, names[i], 0) == 0);
    }
    CHECK(coop_policy_set_restrict(policy, "src", NULL) == 0); /* nothing else is shown */
    CHECK(symlinkat("nowhere", fd, "lib") == 0);
    struct plan plan = { 0 };
    CHECK(compile(&plan, policy, &host) == 0);
    plan_done(&plan);
    CHECK(unlinkat(fd, "lib", 0) == 0);
    coop_policy_free(policy);
    remove_project(path);
}

TEST(mounts_and_blocks_over_an_entry_are_not_the_projects)
{
    char path[PROJECT_PATH];
    struct plan plan = { 0 };
    coop_policy *policy = NULL;

    make_project(path);
    CHECK(coop_policy_new(&policy, NULL) == 0);
    CHECK(coop_policy_set_root(policy, path, true, NULL) == 0);
    CHECK(coop_policy_add_bind(policy, "/usr", "/cache/u", true, NULL) == 0);
    CHECK(coop_policy_add_bind(policy, "/usr", "/src/u", true, NULL) == 0);
    CHECK(coop_policy_add_block(policy, "README", NULL) == 0);
    CHECK(compile(&plan, policy, &host) == 0);
    CHECK(has(&plan.outside, "/cache") && has(&plan.outside, "/src/u"));
    CHECK(has(&plan.outside, "/README") && !has(&plan.outside, "/src"));
    CHECK(find(&plan, STEP_MAKE_DIRECTORY, "cache/u") > 0);
    CHECK(find(&plan, STEP_MAKE_DIRECTORY, "src") < 0); /* nothing is made where the project is */
    CHECK(plan.steps[find(&plan, STEP_ROOT_VIEW, NULL)].flags & STEP_READ_ONLY);
    plan_done(&plan);
    coop_policy_free(policy);
    remove_project(path);
}

TEST(without_namespaces_there_is_no_root)
{
    const struct host poor = { .uid = 1000, .gid = 1000, .landlock_abi = 7 };
    char path[PROJECT_PATH];
    struct plan plan = { 0 };
    coop_policy *policy = NULL;

    make_project(path);
    CHECK(coop_policy_new(&policy, NULL) == 0);
    CHECK(coop_policy_set_root(policy, path, false, NULL) == 0);
    CHECK(coop_policy_set_mode(policy, COOP_MODE_PREFERRED, NULL) == 0);
    CHECK(compile(&plan, policy, &poor) < 0);
    plan_done(&plan);
    coop_policy_free(policy);
    remove_project(path);
}

TEST(root_workspace_and_same_path_exclude_each_other)
{
    coop_policy *policy = NULL;

    CHECK(coop_policy_new(&policy, NULL) == 0);
    CHECK(coop_policy_set_root(policy, "/p", false, NULL) == 0);
    CHECK(coop_policy_set_workspace(policy, "/w", NULL) < 0);
    CHECK(coop_policy_set_same_path(policy, true, NULL) < 0);
    CHECK(coop_policy_set_same_path(policy, false, NULL) == 0);
    CHECK(coop_policy_set_root(policy, "", false, NULL) < 0);
    coop_policy_free(policy);
    policy = NULL;
    CHECK(coop_policy_new(&policy, NULL) == 0);
    CHECK(coop_policy_set_workspace(policy, "/w", NULL) == 0);
    CHECK(coop_policy_set_root(policy, "/p", false, NULL) < 0);
    coop_policy_free(policy);
}

TEST(the_digest_knows_the_root)
{
    static const struct {
        const char *root;
        bool read_only;
    } cases[] = { { "/p", false }, { "/p", true }, { "/q", false } };
    char digests[3][65];

    for (size_t i = 0; i < 3; i++) {
        coop_policy *policy = NULL;
        coop_policy *copy = NULL;

        CHECK(coop_policy_new(&policy, NULL) == 0);
        CHECK(coop_policy_set_root(policy, cases[i].root, cases[i].read_only, NULL) == 0);
        CHECK(policy_copy(policy, &copy, NULL) == 0);
        strcpy(digests[i], coop_policy_digest(policy));
        CHECK_STR(coop_policy_digest(copy), digests[i]);
        CHECK(i == 0 || strcmp(digests[i], digests[i - 1]) != 0);
        coop_policy_free(policy);
        coop_policy_free(copy);
    }
}
