/*
 * library_plan_test.c - what libcoop tells without a run: plans, the host, its version
 *
 * builds: clang asan asan-root
 */
#include <errno.h>

#include "library.h"

TEST(plans_are_printed_and_nothing_runs)
{
    static const struct {
        int (*print)(coop_sandbox *, char *const[], const coop_run_options *, char **,
                     coop_error **);
        const char *begins;
    } forms[] = {
        { coop_plan_text, "tier: " },
        { coop_plan_json, "{" },
        { coop_plan_bwrap, "env -i PATH=\"$PATH\" bwrap " },
    };
    coop_policy *policy = new_policy();
    coop_sandbox *sandbox = NULL;
    char path[PATH_MAX + 16];

    CHECK(coop_policy_set_env(policy, "TOKEN", "hunter2", NULL) == 0);
    CHECK(coop_sandbox_new(policy, &sandbox, NULL) == 0);
    (void)snprintf(path, sizeof path, "%s/ran", workspace());
    for (size_t i = 0; i < COUNT(forms); i++) {
        char *text = NULL;

        CHECK(forms[i].print(sandbox, shell("touch ran"), NULL, &text, NULL) == 0);
        CHECK(strncmp(text, forms[i].begins, strlen(forms[i].begins)) == 0);
        CHECK(strstr(text, "TOKEN"));
        CHECK(!strstr(text, "hunter2"));
        free(text);
    }
    CHECK(access(path, F_OK) < 0);
    char *const no_command[] = { NULL };
    char *untouched = path;
    coop_error *err = NULL;
    CHECK(coop_plan_text(sandbox, no_command, NULL, &untouched, &err) == -EINVAL);
    CHECK(untouched == path);
    CHECK(coop_error_get_kind(err) == COOP_ERROR_BAD_POLICY);
    coop_error_free(err);
    coop_sandbox_free(sandbox);
    coop_policy_free(policy);
}

TEST(a_probe_names_each_capability_once)
{
    coop_probe *probe = NULL;

    CHECK(coop_probe_new(&probe, NULL) == 0);
    CHECK(*coop_probe_summary(probe));
    CHECK(*coop_probe_kernel(probe));
    CHECK(coop_probe_landlock_abi(probe) >= 0);
    CHECK(coop_probe_n_capabilities(probe) > 10);
    for (size_t i = 0; i < coop_probe_n_capabilities(probe); i++) {
        const coop_capability *capability = coop_probe_capability(probe, i);

        CHECK(capability && *capability->name && *capability->title && *capability->detail);
        CHECK(coop_probe_find(probe, capability->name) == capability);
        CHECK(!capability->available || !capability->fix);
    }
    CHECK(!coop_probe_capability(probe, coop_probe_n_capabilities(probe)));
    CHECK(!coop_probe_find(probe, "no-such-capability"));
    coop_probe_free(probe);
}

/* What is tried and what is done must not differ. */
TEST(the_probed_tier_is_the_tier_of_a_run)
{
    coop_probe *probe = NULL;

    CHECK(coop_probe_new(&probe, NULL) == 0);
    coop_tier tier = coop_probe_tier(probe);
    coop_probe_free(probe);
    CHECK(tier == tier_here());
}

TEST(the_library_and_its_headers_are_of_one_version)
{
    CHECK_STR(coop_version(), COOP_VERSION);
    char text[32];
    (void)snprintf(text, sizeof text, "%d.%d.%d", COOP_VERSION_NUMBER / 1000000,
                   COOP_VERSION_NUMBER / 1000 % 1000, COOP_VERSION_NUMBER % 1000);
    CHECK_STR(text, COOP_VERSION);
    CHECK(COOP_VERSION_NUMBER < COOP_VERSION_NUMBER_OF(COOP_VERSION_MAJOR + 1, 0, 0));
}
