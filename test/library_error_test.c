/*
 * library_error_test.c - what libcoop refuses, and how it says so
 *
 * builds: clang asan asan-root
 */
#include <errno.h>
#include <stddef.h>

#include "library.h"

/* What a run that must fail says; frees nothing it was not given. */
struct refusal {
    int r;
    coop_error_kind kind;
    int errnum;
    char message[512];
};

static struct refusal refusal_of(const coop_policy *policy, char *const argv[],
                                 const coop_run_options *options)
{
    struct refusal refusal = { 0 };
    coop_sandbox *sandbox = NULL;
    coop_error *err = NULL;
    coop_result *untouched = (coop_result *)&refusal;
    coop_result *result = untouched;

    refusal.r = coop_sandbox_new(policy, &sandbox, &err);
    if (refusal.r == 0)
        refusal.r = coop_run(sandbox, argv, options, &result, &err);
    refusal.kind = coop_error_get_kind(err);
    refusal.errnum = coop_error_errno(err);
    (void)snprintf(refusal.message, sizeof refusal.message, "%s", coop_error_message(err));
    coop_error_free(err);
    if (result != untouched) {
        coop_result_free(result);
        refusal.r = 1; /* it ran, or changed what it must not */
    }
    coop_sandbox_free(sandbox);
    return refusal;
}

TEST(a_bad_policy_is_told_by_its_kind)
{
    char *const no_command[] = { NULL };
    coop_policy *policy = new_policy();
    struct refusal refusal = refusal_of(policy, no_command, NULL);

    CHECK(refusal.r == -EINVAL && refusal.kind == COOP_ERROR_BAD_POLICY);
    CHECK(coop_policy_set_workspace(policy, "/no/such/place", NULL) == 0);
    refusal = refusal_of(policy, shell(":"), NULL);
    CHECK(refusal.r == -ENOENT && refusal.kind == COOP_ERROR_BAD_POLICY);
    CHECK(refusal.errnum == ENOENT);
    CHECK(strstr(refusal.message, "'/no/such/place'"));
    CHECK(coop_policy_set_workspace(policy, "/", NULL) == 0);
    CHECK(refusal_of(policy, shell(":"), NULL).kind == COOP_ERROR_BAD_POLICY);
    CHECK(coop_policy_set_workspace(policy, "/dev/null", NULL) == 0);
    CHECK(refusal_of(policy, shell(":"), NULL).r == -ENOTDIR);
    coop_policy_free(policy);
}

TEST(a_descriptor_to_keep_must_be_open)
{
    const int fds[] = { 987, 0 };
    coop_run_options options = { .size = sizeof options, .keep_fds = fds, .n_keep_fds = 1 };
    coop_policy *policy = new_policy();
    struct refusal refusal = refusal_of(policy, shell(":"), &options);

    CHECK(refusal.r == -EBADF && refusal.kind == COOP_ERROR_BAD_POLICY);
    CHECK(strstr(refusal.message, "987"));
    options.keep_fds = &fds[1]; /* the box has its own */
    refusal = refusal_of(policy, shell(":"), &options);
    CHECK(refusal.r == -EINVAL && refusal.kind == COOP_ERROR_BAD_POLICY);
    coop_policy_free(policy);
}

TEST(a_failed_step_is_told_by_its_kind)
{
    coop_policy *policy = new_policy();

    NEED_NAMESPACES();
    CHECK(coop_policy_set_directory(policy, "no/such/place", NULL) == 0);
    struct refusal refusal = refusal_of(policy, shell(":"), NULL);
    CHECK(refusal.r == -ENOENT && refusal.kind == COOP_ERROR_SETUP);
    CHECK(strstr(refusal.message, "step "));
    CHECK(strstr(refusal.message, "/work/no/such/place"));
    coop_policy_free(policy);
}

TEST(a_command_that_cannot_be_executed_is_told_by_its_kind)
{
    char absent[] = "no-such-command-anywhere";
    char directory[] = "/usr";
    char *const run_absent[] = { absent, NULL };
    char *const run_directory[] = { directory, NULL };
    coop_policy *policy = new_policy();
    struct refusal refusal = refusal_of(policy, run_absent, NULL);

    CHECK(refusal.r == -ENOENT && refusal.kind == COOP_ERROR_EXEC);
    CHECK(strstr(refusal.message, absent));
    refusal = refusal_of(policy, run_directory, NULL);
    CHECK(refusal.r == -EACCES && refusal.kind == COOP_ERROR_EXEC);
    coop_policy_free(policy);
}

TEST(every_error_kind_has_its_own_name)
{
    for (int i = COOP_ERROR_NONE; i <= COOP_ERROR_DENIED; i++)
        for (int j = COOP_ERROR_NONE; j < i; j++)
            CHECK(strcmp(coop_error_kind_name((coop_error_kind)i),
                         coop_error_kind_name((coop_error_kind)j)) != 0);
    CHECK_STR(coop_error_kind_name((coop_error_kind)999), "unknown");
    CHECK_STR(coop_error_kind_name(COOP_ERROR_NOT_AVAILABLE), "not-available");
}

TEST(errors_may_be_ignored)
{
    coop_policy *policy = new_policy();
    coop_sandbox *sandbox = new_sandbox();
    char absent[] = "no-such-command-anywhere";
    char *const argv[] = { absent, NULL };
    coop_result *result = NULL;

    CHECK(coop_run(sandbox, argv, NULL, &result, NULL) == -ENOENT);
    CHECK(!result);
    CHECK(coop_policy_add_bind(policy, "relative", NULL, true, NULL) == -EINVAL);
    CHECK(coop_error_get_kind(NULL) == COOP_ERROR_NONE);
    CHECK(coop_error_errno(NULL) == 0);
    CHECK(coop_error_message(NULL));
    CHECK(!coop_error_hint(NULL));
    coop_policy_free(policy);
    coop_sandbox_free(sandbox);
}

TEST(freeing_nothing_is_fine)
{
    coop_error_free(NULL);
    coop_policy_free(NULL);
    coop_sandbox_free(NULL);
    coop_result_free(NULL);
    coop_probe_free(NULL);
}

/* What an older program was compiled with, and behind it something that is not ours to read. */
struct older_options {
    unsigned char bytes[offsetof(coop_run_options, env_pass)];
    unsigned char foreign[sizeof(coop_run_options)];
};

TEST(options_of_an_older_program_are_understood)
{
    static union {
        struct older_options older;
        coop_run_options now;
    } options;
    coop_sandbox *sandbox = new_sandbox();

    memset(&options, 0xa5, sizeof options);
    memset(options.older.bytes, 0, sizeof options.older.bytes);
    options.now.size = sizeof options.older.bytes;
    options.now.capture_max = 4;
    coop_result *result = run_text(sandbox, "echo 1; echo 2; echo 3", &options.now);
    CHECK(result);
    CHECK_STR(out_of(result), "2\n3\n");
    coop_result_free(result);
    char *text = NULL;
    CHECK(coop_plan_text(sandbox, shell(":"), &options.now, &text, NULL) == 0);
    CHECK(text);
    free(text);
    coop_sandbox_free(sandbox);
}

TEST(options_of_a_wrong_size_are_refused)
{
    static struct {
        coop_run_options now;
        char more[64];
    } options;
    coop_policy *policy = new_policy();

    struct refusal refusal = refusal_of(policy, shell(":"), &options.now); /* size not set */
    CHECK(refusal.r == -EINVAL && refusal.kind == COOP_ERROR_BAD_POLICY);
    CHECK(strstr(refusal.message, "size"));
    options.now.size = sizeof options; /* of a newer program: it may ask for what we cannot do */
    CHECK(refusal_of(policy, shell(":"), &options.now).kind == COOP_ERROR_BAD_POLICY);
    coop_policy_free(policy);
}

TEST(bad_values_are_refused_by_the_call_that_brings_them)
{
    coop_policy *policy = new_policy();
    coop_error *err = NULL;

#define REFUSED(call)                                             \
    do {                                                          \
        CHECK((call) < 0);                                        \
        CHECK(coop_error_get_kind(err) == COOP_ERROR_BAD_POLICY); \
        CHECK(*coop_error_message(err));                          \
        coop_error_free(err);                                     \
        err = NULL;                                               \
    } while (0)
    REFUSED(coop_policy_set_workspace(policy, "", &err));
    REFUSED(coop_policy_set_workspace(policy, "new\nline", &err));
    REFUSED(coop_policy_add_bind(policy, "relative", NULL, true, &err));
    REFUSED(coop_policy_add_bind(policy, "/usr", "relative", true, &err));
    REFUSED(coop_policy_add_bind(policy, "/usr", "/a/../b", true, &err));
    REFUSED(coop_policy_add_bind(policy, "/usr", "/", true, &err));
    REFUSED(coop_policy_add_bind(policy, "/usr", "/proc/1", true, &err));
    REFUSED(coop_policy_add_tmpfs(policy, "relative", 0, false, &err));
    REFUSED(coop_policy_add_block(policy, "/", &err));
    REFUSED(coop_policy_set_env(policy, "", "x", &err));
    REFUSED(coop_policy_set_env(policy, "A=B", "x", &err));
    REFUSED(coop_policy_set_directory(policy, "", &err));
    REFUSED(coop_policy_set_uid(policy, UINT32_MAX, &err));
    REFUSED(coop_policy_set_hostname(policy, "no spaces", &err));
    REFUSED(coop_policy_set_hostname(policy, "", &err));
    REFUSED(coop_policy_set_network(policy, (coop_network)99, &err));
    REFUSED(coop_policy_set_mode(policy, (coop_mode)99, &err));
    REFUSED(coop_policy_set_profile(policy, (coop_profile)99, &err));
    REFUSED(coop_policy_set_limit(policy, COOP_LIMIT_COUNT, 1, &err));
    REFUSED(coop_policy_set_limit(policy, COOP_LIMIT_PIDS, 0, &err));
    CHECK(coop_policy_add_tmpfs(policy, "/twice", 0, false, NULL) == 0);
    REFUSED(coop_policy_add_bind(policy, "/usr", "/twice", true, &err));
#undef REFUSED
    coop_policy_free(policy);
}
