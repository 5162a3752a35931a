#include "summary.h"

#include <stdlib.h>
#include <string.h>

#include "audit/settings.h"
#include "base/cleanup.h"
#include "policy/policy.h"
#include "test/check.h"

static char *words(const coop_policy *policy, char *const *argv, size_t max)
{
    auto_summary struct summary *summary = NULL;
    struct buffer out = { 0 };

    if (summary_new(policy, &summary, NULL) < 0)
        return NULL;
    summary_words(summary, argv, max, &out);
    return buffer_take_string(&out);
}

TEST(shows_a_command_as_it_could_be_typed)
{
    char *argv[] = { (char *)"echo", (char *)"a b", (char *)"", (char *)"\x1b[31m", NULL };
    auto_free char *text = words(NULL, argv, SUMMARY_MAX);

    CHECK_STR(text, "echo 'a b' '' '\\x1b[31m'");
}

TEST(takes_secrets_of_the_policy_and_of_the_environment_out)
{
    coop_policy *policy = NULL;
    char *argv[] = { (char *)"x", (char *)"=s3cr3t-value=", (char *)"t0ken-value",
                     (char *)"fl4g-value", NULL };

    CHECK(coop_policy_new(&policy, NULL) == 0);
    CHECK(coop_policy_add_secret(policy, "deploy", "DEPLOY", "s3cr3t-value", NULL) == 0);
    CHECK(coop_policy_set_env(policy, "DB_PASSWORD", "fl4g-value", NULL) == 0);
    CHECK(setenv("SOME_API_TOKEN", "t0ken-value", 1) == 0);
    auto_free char *text = words(policy, argv, SUMMARY_MAX);
    CHECK(unsetenv("SOME_API_TOKEN") == 0);
    coop_policy_free(policy);
    CHECK(!strstr(text, "s3cr3t") && !strstr(text, "t0ken") && !strstr(text, "fl4g"));
    CHECK(strstr(text, "[secret deploy]") && strstr(text, "[secret hidden]"));
}

TEST(leaves_no_part_of_a_secret_where_it_is_cut)
{
    coop_policy *policy = NULL;
    char long_word[300];

    CHECK(coop_policy_new(&policy, NULL) == 0);
    CHECK(coop_policy_add_secret(policy, "deploy", "DEPLOY", "s3cr3t-value", NULL) == 0);
    for (size_t n = 0; n < 60; n++) {
        char *argv[] = { long_word, NULL };

        memset(long_word, 'x', n);
        (void)strcpy(long_word + n, "s3cr3t-value and more of it");
        auto_free char *text = words(policy, argv, 40);
        CHECK(!strstr(text, "s3c") && strlen(text) <= 40);
    }
    coop_policy_free(policy);
}

TEST(cuts_between_characters)
{
    char *argv[] = { (char *)"\xe2\x82\xac\xe2\x82\xac\xe2\x82\xac\xe2\x82\xac\xe2\x82\xac", NULL };
    auto_free char *text = words(NULL, argv, 11);

    CHECK_STR(text, "'\xe2\x82\xac\xe2\x82\xac\xe2\x80\xa6");
}

/* ---- audit_hide() */

static size_t n_blocks(const coop_policy *policy, const char *target)
{
    size_t n = 0;

    for (size_t i = 0; i < policy->n_mounts; i++)
        n +=
            policy->mounts[i].kind == POLICY_BLOCK && strcmp(policy->mounts[i].target, target) == 0;
    return n;
}

TEST(hides_the_log_wherever_it_would_be_shown)
{
    struct audit_settings settings = { .mode = AUDIT_ON,
                                       .directory = (char *)"/usr/share/coop-log" };
    coop_policy *policy = NULL;

    CHECK(coop_policy_new(&policy, NULL) == 0);
    CHECK(coop_policy_add_bind(policy, "/usr/share", "/data", true, NULL) == 0);
    CHECK(audit_hide(&settings, "/usr", true, policy, NULL) == 0);
    CHECK(n_blocks(policy, "share/coop-log") == 1 && n_blocks(policy, "/data/coop-log") == 1);
    coop_policy_free(policy);
    CHECK(coop_policy_new(&policy, NULL) == 0);
    CHECK(audit_hide(&settings, "/usr/lib", true, policy, NULL) == 0);
    CHECK(policy->n_mounts == 0);
    CHECK(audit_hide(&settings, "/usr/share/coop-log/x", true, policy, NULL) < 0);
    settings.directory = (char *)"/usr/share";
    CHECK(coop_policy_add_bind(policy, "/usr/share/doc", NULL, true, NULL) == 0);
    CHECK(audit_hide(&settings, "/tmp", true, policy, NULL) < 0);
    coop_policy_free(policy);
}
