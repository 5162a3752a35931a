#include "decide_plan.h"

#include <string.h>

#include "base/cleanup.h"
#include "test/check.h"

static coop_policy *policy;
static struct decide_subject subject;
static struct decide_answer answer;

static void start(void)
{
    coop_policy_free(policy);
    policy = NULL;
    decide_answer_done(&answer);
    CHECK(coop_policy_new(&policy, NULL) == 0);
    subject = (struct decide_subject){ .policy = policy,
                                       .workspace = "/no/such/workspace",
                                       .decide_syscall = decide_plan_syscall,
                                       .has_program = decide_plan_has_program };
}

static bool allows(const char *text)
{
    struct decide_question question;

    decide_answer_done(&answer);
    CHECK(decide_parse(text, &question, NULL) == 0);
    CHECK(policy_decide(&subject, &question, &answer, NULL) == 0);
    return answer.is_allowed;
}

TEST(calls_that_are_always_refused)
{
    start();
    CHECK(!allows("syscall mount"));
    CHECK(!answer.change && !answer.flag);
    CHECK(!allows("syscall io_uring_setup"));
    CHECK(allows("syscall read"));
}

TEST(calls_for_debuggers)
{
    start();
    CHECK(!allows("syscall ptrace"));
    CHECK_STR(answer.flag, "--profile dev");
    coop_policy_set_profile(policy, COOP_PROFILE_DEV, NULL);
    CHECK(allows("syscall ptrace"));
}

TEST(arguments_that_are_refused_are_named)
{
    start();
    CHECK(allows("syscall clone"));
    CHECK(strstr(answer.why, "argument 0 has a bit of 0x7e020000"));
    CHECK(allows("syscall ioctl"));
    CHECK(strstr(answer.why, "argument 1 is 0x5412, or where argument 1 is 0x541c"));
    CHECK(allows("syscall socket"));
    CHECK(strstr(answer.why, "argument 1 & 0xf is 0x2")); /* datagrams need no listener's consent */
    coop_policy_set_host_sockets(policy, true, NULL);
    CHECK(allows("syscall socket"));
    CHECK(!strstr(answer.why, "argument 1 & 0xf"));
}

TEST(no_programs_from_memory_with_enforce)
{
    start();
    CHECK(allows("syscall memfd_create"));
    coop_policy_set_command_strength(policy, COOP_COMMANDS_ENFORCE, NULL);
    CHECK(!allows("syscall memfd_create"));
    CHECK(allows("syscall execveat"));
    CHECK(strstr(answer.why, "argument 4 has a bit of 0x1000"));
}

TEST(names_that_are_none_have_one_near_them)
{
    auto_error coop_error *err = NULL;
    struct decide_question question;

    start();
    CHECK(decide_parse("syscall mout", &question, NULL) == 0);
    CHECK(policy_decide(&subject, &question, &answer, &err) < 0);
    CHECK(strstr(coop_error_hint(err), "did you mean mount?"));
}

TEST(programs_of_enforce)
{
    start();
    coop_policy_set_command_strength(policy, COOP_COMMANDS_ENFORCE, NULL);
    coop_policy_allow_command(policy, "cat", NULL);
    CHECK(allows("exec /bin/cat"));
    CHECK(allows("read /bin/cat"));
    CHECK(!allows("exec /bin/ls"));
    CHECK(!allows("read /bin/ls"));
    CHECK(allows("read /usr/share"));
    CHECK(!allows("exec /usr/share"));
    CHECK(!allows("exec tool.sh"));
}
