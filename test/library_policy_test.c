/*
 * library_policy_test.c - policies of libcoop, and that a sandbox obeys them
 *
 * builds: clang asan asan-root
 */
#include <errno.h>

#include "library.h"

TEST(a_sandbox_keeps_its_own_copy_of_the_policy)
{
    coop_policy *policy = new_policy();
    coop_sandbox *sandbox = NULL;

    CHECK(coop_policy_set_env(policy, "WORD", "first", NULL) == 0);
    CHECK(coop_sandbox_new(policy, &sandbox, NULL) == 0);
    CHECK(coop_policy_set_env(policy, "WORD", "second", NULL) == 0);
    coop_policy_free(policy);
    for (int i = 0; i < 3; i++) {
        coop_result *result = run_text(sandbox, "echo $WORD", NULL);

        CHECK(result);
        CHECK_STR(out_of(result), "first\n");
        coop_result_free(result);
    }
    coop_sandbox_free(sandbox);
}

static size_t n_stores(coop_trust trust)
{
    size_t n = 0;

    while (coop_trust_store(trust, n))
        n++;
    return n;
}

TEST(levels_of_trust)
{
    static const struct {
        coop_trust trust;
        const char *name;
        bool may_run, is_sandboxed;
        size_t stores;
    } levels[] = {
        { COOP_TRUST_OWNER, "owner", true, false, 3 },
        { COOP_TRUST_FULL, "full", true, true, 3 },
        { COOP_TRUST_INNER, "inner", true, true, 2 },
        { COOP_TRUST_FAMILIAR, "familiar", false, true, 1 },
        { COOP_TRUST_PUBLIC, "public", false, true, 0 },
    };
    coop_error *err = NULL;
    coop_trust trust;

    for (size_t i = 0; i < COOP_TRUST_COUNT; i++) {
        CHECK(coop_trust_parse(levels[i].name, &trust, NULL) == 0 && trust == levels[i].trust);
        CHECK_STR(coop_trust_name(trust), levels[i].name);
        CHECK(coop_trust_may_run(trust) == levels[i].may_run);
        CHECK(coop_trust_is_sandboxed(trust) == levels[i].is_sandboxed);
        CHECK(n_stores(trust) == levels[i].stores);
        for (size_t j = 0; j < COOP_TRUST_COUNT; j++)
            CHECK(coop_trust_resolve(trust, levels[j].trust) == levels[i > j ? i : j].trust);
    }
    CHECK_STR(coop_trust_store(COOP_TRUST_FAMILIAR, 0), "social");
    CHECK(!coop_trust_name(COOP_TRUST_COUNT) && !coop_trust_may_run(COOP_TRUST_COUNT));
    CHECK(coop_trust_resolve(COOP_TRUST_COUNT, COOP_TRUST_OWNER) == COOP_TRUST_PUBLIC);
    CHECK(coop_trust_parse("Owner", &trust, &err) < 0 && coop_error_message(err));
    coop_error_free(err);
}

TEST(equal_policies_have_equal_digests)
{
    coop_policy *a = new_policy();
    coop_policy *b = new_policy();
    char before[65];

    CHECK(strlen(coop_policy_digest(a)) == 64);
    CHECK_STR(coop_policy_digest(a), coop_policy_digest(b));
    (void)snprintf(before, sizeof before, "%s", coop_policy_digest(a));
    CHECK(coop_policy_set_limit(a, COOP_LIMIT_PIDS, 100, NULL) == 0);
    CHECK(strcmp(coop_policy_digest(a), before) != 0);
    CHECK(coop_policy_add_tmpfs(b, "/scratch", 0, false, NULL) == 0);
    CHECK(strcmp(coop_policy_digest(b), before) != 0);
    coop_sandbox *sandbox = NULL;
    CHECK(coop_sandbox_new(a, &sandbox, NULL) == 0);
    coop_result *result = run_text(sandbox, ":", NULL);
    CHECK(result);
    CHECK_STR(coop_result_policy_digest(result), coop_policy_digest(a));
    coop_result_free(result);
    coop_sandbox_free(sandbox);
    coop_policy_free(a);
    coop_policy_free(b);
}

TEST(every_policy_call_has_its_effect)
{
    coop_policy *policy = new_policy();
    coop_sandbox *sandbox = NULL;

    NEED_NAMESPACES();
    CHECK(coop_policy_set_same_path(policy, true, NULL) == 0);
    CHECK(coop_policy_add_bind(policy, "/usr/bin", "/opt/tools", true, NULL) == 0);
    CHECK(coop_policy_add_tmpfs(policy, "/scratch", 1 << 20, false, NULL) == 0);
    CHECK(coop_policy_add_block(policy, "/usr/share", NULL) == 0);
    CHECK(coop_policy_set_env(policy, "WORD", "a word", NULL) == 0);
    CHECK(coop_policy_set_directory(policy, "/scratch", NULL) == 0);
    CHECK(coop_policy_set_uid(policy, 0, NULL) == 0);
    CHECK(coop_policy_set_hostname(policy, "elsewhere", NULL) == 0);
    CHECK(coop_policy_set_network(policy, COOP_NETWORK_OFF, NULL) == 0);
    CHECK(coop_policy_set_profile(policy, COOP_PROFILE_DEV, NULL) == 0);
    CHECK(coop_policy_set_host_sockets(policy, true, NULL) == 0);
    CHECK(coop_policy_set_limit(policy, COOP_LIMIT_OPEN_FILES, 64, NULL) == 0);
    CHECK(coop_sandbox_new(policy, &sandbox, NULL) == 0);
    coop_result *result = run_text(
        sandbox,
        "pwd; echo $WORD; id -u; cat /proc/sys/kernel/hostname; ulimit -n; [ -x /opt/tools/env ]"
        " && : >/scratch/f && [ -z \"$(ls /usr/share)\" ] && [ -w \"$HOME\" ] && echo $HOME",
        NULL);
    CHECK(result);
    char expected[PATH_MAX + 64];
    (void)snprintf(expected, sizeof expected, "/scratch\na word\n0\nelsewhere\n64\n%s\n",
                   workspace());
    CHECK_STR(out_of(result), expected);
    coop_result_free(result);
    coop_sandbox_free(sandbox);
    coop_policy_free(policy);
}

TEST(commands_are_decided_before_they_run)
{
    static char *const allowed[] = { (char *)"true", NULL };
    static char *const other[] = { (char *)"false", NULL };
    static char *const text[] = { (char *)"sh", (char *)"-c", (char *)"true; $(false)", NULL };

    for (int strength = COOP_COMMANDS_CHECK; strength <= COOP_COMMANDS_ENFORCE; strength++) {
        coop_policy *policy = new_policy();
        coop_sandbox *sandbox = NULL;

        CHECK(coop_policy_set_command_strength(policy, (coop_command_strength)strength, NULL) == 0);
        CHECK(coop_policy_allow_command(policy, "true", NULL) == 0);
        CHECK(coop_sandbox_new(policy, &sandbox, NULL) == 0);
        for (int i = 0; i < 3; i++) { /* the second time it is made from a template */
            coop_result *result = NULL;
            coop_error *err = NULL;

            CHECK(coop_run(sandbox, allowed, NULL, &result, NULL) == 0);
            CHECK(coop_result_status(result) == 0);
            CHECK((coop_result_wall(result, COOP_WALL_COMMANDS) != NULL) ==
                  (strength == COOP_COMMANDS_ENFORCE));
            coop_result_free(result);
            CHECK(coop_run(sandbox, other, NULL, &result, &err) == -EACCES);
            CHECK(coop_error_get_kind(err) == COOP_ERROR_DENIED);
            CHECK(strstr(coop_error_message(err), "'false' is not among the allowed"));
            coop_error_free(err);
            CHECK(coop_run(sandbox, text, NULL, &result, NULL) == -EACCES);
        }
        coop_sandbox_free(sandbox);
        coop_policy_free(policy);
    }
}
