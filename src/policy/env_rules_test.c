/* worlds: user */
#include "policy/env_rules.h"

#include <errno.h>
#include <string.h>

#include "base/cleanup.h"
#include "test/check.h"

static enum env_answer pass(const char *name)
{
    return env_may_pass(name, strlen(name), "CAMP_").answer;
}

TEST(what_may_be_passed_on)
{
    static const struct {
        const char *name;
        enum env_answer answer;
    } rows[] = {
        { "EDITOR", ENV_ALLOWED },
        { "HOME", ENV_ALLOWED },
        { "OPENAI_API_KEY", ENV_ALLOWED },
        { "GITHUB_TOKEN", ENV_ALLOWED },
        { "PYTHONPATH", ENV_ALLOWED },
        { "discovery.type", ENV_ALLOWED },
        { "a-b", ENV_ALLOWED },
        { "COOP", ENV_ALLOWED },
        { "coop_x", ENV_ALLOWED },
        { "LDFLAGS", ENV_ALLOWED },
        { "AWS", ENV_ALLOWED },
        { "aws_x", ENV_ALLOWED },
        { "MY_DATABASE_URL", ENV_ALLOWED },
        { "ENVIRONMENT", ENV_ALLOWED },
        { "COOP_", ENV_RESERVED },
        { "COOP_SESSION", ENV_RESERVED },
        { "OBEY_ANYTHING", ENV_RESERVED },
        { "CAMP_X", ENV_RESERVED },
        { "AWS_SECRET_ACCESS_KEY", ENV_FILTERED },
        { "AWS_", ENV_FILTERED },
        { "GCP_KEY", ENV_FILTERED },
        { "GOOGLE_APPLICATION_CREDENTIALS", ENV_FILTERED },
        { "AZURE_CLIENT_SECRET", ENV_FILTERED },
        { "DATABASE_URL", ENV_FILTERED },
        { "REDIS_URL", ENV_FILTERED },
        { "SSH_AUTH_SOCK", ENV_FILTERED },
        { "GPG_AGENT_INFO", ENV_FILTERED },
        { "LD_PRELOAD", ENV_FILTERED },
        { "LD_LIBRARY_PATH", ENV_FILTERED },
        { "DYLD_INSERT_LIBRARIES", ENV_FILTERED },
        { "BASH_ENV", ENV_FILTERED },
        { "ENV", ENV_FILTERED },
        { "GCONV_PATH", ENV_FILTERED },
        { "GLIBC_TUNABLES", ENV_FILTERED },
        { "BASH_FUNC_ls%%", ENV_FILTERED },
        { "", ENV_BAD_NAME },
        { "A=B", ENV_BAD_NAME },
        { "=", ENV_BAD_NAME },
        { "A\nB", ENV_BAD_NAME },
        { "X Y", ENV_BAD_NAME },
        { "1A", ENV_BAD_NAME },
        { "A+", ENV_BAD_NAME },
        { "\xc3\xa4", ENV_BAD_NAME },
        { "A\x7f", ENV_BAD_NAME },
    };

    for (size_t i = 0; i < COUNT(rows); i++)
        if (pass(rows[i].name) != rows[i].answer)
            CHECK_STR(rows[i].name, "(the answer is another)");
    CHECK(env_may_pass("A\0B", 3, NULL).answer == ENV_BAD_NAME);
    CHECK(env_may_pass("CAMP_X", 6, NULL).answer == ENV_ALLOWED);
    CHECK(env_may_pass("OBEY_X", 6, "CAMP_").answer == ENV_RESERVED);
}

TEST(every_filtered_row_filters_and_gives_a_reason)
{
    for (const struct env_row *row = env_filtered; row->pattern; row++) {
        struct env_verdict verdict = env_may_pass(row->pattern, strlen(row->pattern), NULL);

        CHECK(verdict.answer == ENV_FILTERED);
        CHECK_STR(verdict.pattern, row->pattern);
        CHECK(strlen(row->why) > 20 && verdict.why == row->why);
    }
}

TEST(setting_refuses_reserved_and_impossible_names_only)
{
    auto_error coop_error *err = NULL;

    CHECK(env_check_set("LD_PRELOAD", 10, "x", 1, NULL, NULL) == 0);
    CHECK(env_check_set("AWS_PROFILE", 11, "", 0, NULL, NULL) == 0);
    CHECK(env_check_set("A", 1, "a=b\n", 4, NULL, NULL) == 0);
    CHECK(env_check_set("", 0, "x", 1, NULL, NULL) == -EINVAL);
    CHECK(env_check_set("A\0", 2, "x", 1, NULL, NULL) == -EINVAL);
    CHECK(env_check_set("CAMP_A", 6, "x", 1, "CAMP_", NULL) == -EINVAL);
    CHECK(env_check_set("COOP_SESSION", 12, "x", 1, NULL, &err) == -EINVAL);
    CHECK(strstr(coop_error_message(err), "the variable 'COOP_SESSION' cannot be set"));
    coop_error_free(take_ptr(err));
    CHECK(env_check_set("A", 1, "x\0y", 3, NULL, &err) == -EINVAL);
    CHECK(strstr(coop_error_message(err), "has a NUL in it"));
}

TEST(a_filtered_name_that_is_listed_points_to_secrets)
{
    auto_error coop_error *err = NULL;

    CHECK(env_check_pass("EDITOR", 6, NULL, NULL) == 0);
    CHECK(env_check_pass("AWS_SECRET_ACCESS_KEY", 21, NULL, &err) == -EINVAL);
    CHECK_STR(coop_error_message(err),
              "the variable 'AWS_SECRET_ACCESS_KEY' is never passed on (rule 'AWS_*'): it belongs "
              "to the credentials of a cloud provider");
    CHECK(strstr(coop_error_hint(err), "[secrets]"));
    coop_error_free(take_ptr(err));
    CHECK(env_check_pass("COOP_X\x1b", 6, NULL, &err) == -EINVAL);
    CHECK(strstr(coop_error_message(err), "cannot be passed on"));
    coop_error_free(take_ptr(err));
    CHECK(env_check_pass("A\x1b[31m", 6, NULL, &err) == -EINVAL);
    CHECK_STR(coop_error_message(err),
              "the variable name 'A\\x1b[31m' has a control character in it");
}

TEST(the_second_prefix_has_a_form_and_takes_nothing_needed)
{
    static const char *const good[] = { "OBEY_", "A_", "CAMP2_X_", "COOPER_" };
    static const char *const bad[] = { "COOP_",
                                       "COOP_X_",
                                       "",
                                       "_",
                                       "O",
                                       "OBEY",
                                       "obey_",
                                       "1A_",
                                       "A-_",
                                       "L_*",
                                       "LC_",
                                       "LD_",
                                       "AWS_",
                                       "BASH_",
                                       "SSH_",
                                       "LANG_x_",
                                       "ABCDEFGHIJKLMNOPQRSTUVWXYZABCDEF_" };

    for (size_t i = 0; i < COUNT(good); i++)
        CHECK(env_check_second_prefix(good[i], strlen(good[i]), NULL) == 0);
    for (size_t i = 0; i < COUNT(bad); i++)
        if (env_check_second_prefix(bad[i], strlen(bad[i]), NULL) != -EINVAL)
            CHECK_STR(bad[i], "(must be refused)");
}

TEST(inherited_names_say_whose_value_they_have)
{
    enum env_source source;

    CHECK(env_is_inherited("HOME", &source) && source == ENV_FROM_COOP);
    CHECK(env_is_inherited("LC_TIME", &source) && source == ENV_FROM_CALLER);
    CHECK(env_is_inherited("TERM", &source) && source == ENV_FROM_CALLER);
    CHECK(!env_is_inherited("TERMINAL", &source));
    CHECK(!env_is_inherited("EDITOR", &source));
    for (const struct env_inherited *row = env_inherited; row->pattern; row++)
        CHECK(env_may_pass(row->pattern, strcspn(row->pattern, "*"), NULL).answer == ENV_ALLOWED);
}

TEST(facts_are_injected_under_both_prefixes)
{
    const struct env_facts facts = { "s1", "/work",          "2026-01-01", "c",
                                     "p",  "/run/coop.sock", "/memory" };
    static const char *const expected[] = {
        "COOP_SESSION=s1",
        "OBEY_SESSION=s1",
        "COOP_WORKSPACE=/work",
        "OBEY_WORKSPACE=/work",
        "COOP_CREATED=2026-01-01",
        "OBEY_CREATED=2026-01-01",
        "COOP_CAMPAIGN=c",
        "OBEY_CAMPAIGN=c",
        "COOP_PROVIDER=p",
        "OBEY_PROVIDER=p",
        "COOP_SOCKET=/run/coop.sock",
        "OBEY_SOCKET=/run/coop.sock",
        "COOP_MEMORY=/memory",
        "OBEY_MEMORY=/memory",
    };
    auto_free char **list = NULL;

    CHECK(env_inject(&facts, "OBEY_", &list, NULL) == 0);
    for (size_t i = 0; i < COUNT(expected); i++)
        CHECK_STR(list[i], expected[i]);
    CHECK(list[COUNT(expected)] == NULL);
}

TEST(facts_that_are_not_known_are_left_out)
{
    auto_free char **list = NULL;
    auto_free char **none = NULL;

    CHECK(env_inject(&(struct env_facts){ .provider = "", .created = "x" }, NULL, &list, NULL) ==
          0);
    CHECK_STR(list[0], "COOP_CREATED=x");
    CHECK_STR(list[1], "COOP_PROVIDER=");
    CHECK(list[2] == NULL);
    CHECK(env_inject(&(struct env_facts){ 0 }, "OBEY_", &none, NULL) == 0);
    CHECK(none[0] == NULL);
}
