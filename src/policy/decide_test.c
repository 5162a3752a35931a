#include "decide.h"

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
    subject =
        (struct decide_subject){ .policy = policy, .workspace = "/home/u/ws", .home = "/home/u" };
}

/* The answer is kept for looks at its parts. */
static bool allows(const char *text)
{
    struct decide_question question;

    decide_answer_done(&answer);
    CHECK(decide_parse(text, &question, NULL) == 0);
    CHECK(decide(&subject, &question, &answer, NULL) == 0);
    CHECK(answer.rule && *answer.rule && answer.why && *answer.why);
    return answer.is_allowed;
}

static bool denies(const char *text)
{
    return !allows(text);
}

TEST(questions_have_a_verb_and_a_target)
{
    struct decide_question question;
    auto_error coop_error *err = NULL;

    CHECK(decide_parse("write  a b", &question, NULL) == 0);
    CHECK(question.act == DECIDE_WRITE);
    CHECK_STR(question.target, "a b");
    CHECK(decide_parse("-- git push", &question, NULL) == 0 && question.act == DECIDE_COMMAND);
    CHECK(decide_parse("read ", &question, NULL) < 0);
    CHECK(decide_parse("look x", &question, &err) < 0);
    CHECK(strstr(coop_error_message(err), "'look x' is none of"));
}

TEST(the_workspace_and_nothing_else_of_the_host)
{
    start();
    CHECK(allows("write src/main.c"));
    CHECK(allows("read ."));
    CHECK(allows("write /home/u/ws/src/main.c"));
    CHECK(allows("write ~/ws/x"));
    CHECK(allows("write /work/x"));
    CHECK(denies("read ~/.ssh/id_rsa"));
    CHECK_STR(answer.change, "list it in extra_ro_paths");
    CHECK(denies("read /home/u/wsx"));
    CHECK(denies("read ../.ssh/id_rsa"));
    CHECK(denies("read ~/ws/../.ssh/id_rsa"));
    CHECK(denies("write /home/u"));
    CHECK(allows("exec /usr/bin/env"));
    CHECK(allows("read /usr/share/doc"));
    CHECK(denies("write /usr/bin/env"));
    CHECK(denies("read /etc/shadow"));
    CHECK(allows("read /etc/passwd"));
    CHECK(denies("write /etc/passwd"));
    CHECK(allows("write /tmp/x")); /* the box's own */
    CHECK(denies("read /tmp/x"));  /* the host's */
    CHECK(allows("write /dev/null"));
}

TEST(mounts_and_blocks)
{
    const struct origin here = { "coop.toml", 3, 9 };

    start();
    coop_policy_add_bind(policy, "/srv/data", "/data", true, NULL);
    CHECK(policy_note_origin(policy, here, NULL) == 0);
    coop_policy_add_bind(policy, "/srv/out", NULL, false, NULL);
    coop_policy_add_block(policy, "private", NULL);
    coop_policy_add_block(policy, "/srv/out/keep", NULL);
    CHECK(allows("read /srv/data/list"));
    CHECK(answer.has_origin && answer.origin.line == 3);
    CHECK_STR(answer.rule, "mount '/srv/data' at '/data'");
    CHECK(denies("write /srv/data/list"));
    CHECK_STR(answer.change, "list it in extra_rw_paths");
    CHECK(allows("read /data/list"));
    CHECK(allows("write /srv/out/x"));
    CHECK(denies("read /srv/out/keep/x"));
    CHECK_STR(answer.rule, "blocked_paths '/srv/out/keep'");
    CHECK(denies("read private/x"));
    CHECK(denies("read /home/u/ws/private"));
    CHECK(allows("read privately"));
    coop_policy_add_tmpfs(policy, "/scratch", 0, true, NULL);
    CHECK(denies("write /scratch/x"));
}

TEST(protected_names)
{
    start();
    CHECK(denies("read .env"));
    CHECK_STR(answer.rule, "protect.deny '.env'");
    CHECK(!answer.has_origin);
    CHECK(denies("write sub/.env"));
    CHECK(denies("read /home/u/ws/.env"));
    CHECK(allows("read .env.example"));
    CHECK(allows("read node_modules/x/.env"));
    CHECK(allows("read src/password_form.c"));
    CHECK(denies("read db_password.txt"));
    CHECK(allows("read .env/bin/python")); /* a directory */
    CHECK(denies("write .git/hooks/pre-commit"));
    CHECK(allows("read .git/hooks/pre-commit"));
    CHECK(denies("write sub/.git/hooks/pre-commit"));
    CHECK(denies("write .git/config"));
    CHECK(strstr(answer.why, "only git writes there"));
    CHECK(allows("write .git/index"));
    CHECK(policy_add_protect(policy, "fixtures", COOP_PROTECT_HIDE,
                             (struct origin){ "coop.toml", 7, 1 }, NULL) == 0);
    CHECK(denies("read fixtures/a/b"));
    CHECK(answer.has_origin && answer.origin.line == 7);
    coop_policy_add_protect(policy, ".env", COOP_PROTECT_SHOW, NULL);
    CHECK(allows("read .env"));
    coop_policy_set_protect_defaults(policy, false, NULL);
    CHECK(allows("write .git/hooks/pre-commit"));
}

static ssize_t give_text(void *opaque, const char *below, char *bytes, size_t size)
{
    const char *text = opaque;

    (void)below;
    CHECK(strlen(text) < size);
    memcpy(bytes, text, strlen(text));
    return (ssize_t)strlen(text);
}

TEST(what_depends_on_the_content)
{
    char certificate[] = "-----BEGIN CERTIFICATE-----";
    char key[] = "-----BEGIN PRIVATE KEY-----";

    start();
    CHECK(denies("read ca.pem")); /* nobody can look */
    subject.read_file = give_text;
    subject.opaque = certificate;
    CHECK(allows("read ca.pem"));
    subject.opaque = key;
    CHECK(denies("read ca.pem"));
}

TEST(same_path_shows_the_workspace_at_its_own)
{
    start();
    coop_policy_set_same_path(policy, true, NULL);
    CHECK(allows("write /home/u/ws/x"));
    CHECK(denies("write /work/x"));
}

TEST(networks)
{
    start();
    CHECK(denies("connect example.org:443"));
    CHECK_STR(answer.rule, "network 'none'");
    CHECK(denies("connect localhost:80"));
    CHECK(strstr(answer.why, "the box's own"));
    coop_policy_set_network(policy, COOP_NETWORK_OFF, NULL);
    CHECK(denies("connect example.org:443"));
    subject.network_origin = (struct origin){ "coop.toml", 2, 1 };
    coop_policy_set_network(policy, COOP_NETWORK_HOST, NULL);
    CHECK(allows("connect example.org:443"));
    CHECK(answer.has_origin && answer.origin.line == 2);
}

TEST(variables)
{
    static const char *const pass[] = { "EDITOR", NULL };

    start();
    subject.env_pass = pass;
    coop_policy_set_env(policy, "CI", "1", NULL);
    coop_policy_add_secret(policy, "token", "API_TOKEN", "canary", NULL);
    coop_policy_set_fact(policy, COOP_FACT_SESSION, NULL, NULL);
    CHECK(allows("env PATH"));
    CHECK(allows("env LC_ALL"));
    CHECK(allows("env CI"));
    CHECK(allows("env EDITOR"));
    CHECK(allows("env API_TOKEN"));
    CHECK(!strstr(answer.why, "canary") && !strstr(answer.rule, "canary"));
    CHECK(allows("env COOP_SESSION"));
    CHECK(denies("env COOP_CAMPAIGN"));
    CHECK(denies("env VISUAL"));
    CHECK_STR(answer.change, "list it in env_passthrough");
    CHECK(denies("env AWS_SECRET_ACCESS_KEY"));
    CHECK_STR(answer.rule, "the filtered name 'AWS_*'");
}

TEST(commands)
{
    start();
    CHECK(allows("-- anything at all"));
    coop_policy_set_command_strength(policy, COOP_COMMANDS_CHECK, NULL);
    coop_policy_allow_command(policy, "git", NULL);
    coop_policy_block_subcommand(policy, "git", "push --force", NULL);
    CHECK(allows("-- git status"));
    CHECK(denies("-- git push --force"));
    CHECK(strstr(answer.rule, "git push --force"));
    CHECK(denies("-- curl example.org"));
    CHECK(denies("-- git status && curl example.org"));
    CHECK(denies("-- git -C ~/.ssh status"));
    CHECK(allows("exec /usr/bin/curl"));
    coop_policy_set_command_strength(policy, COOP_COMMANDS_ENFORCE, NULL);
    CHECK(denies("exec /usr/bin/curl"));
    CHECK(allows("exec /usr/bin/git"));
}

TEST(a_root)
{
    start();
    subject.workspace = NULL;
    CHECK(coop_policy_set_root(policy, "/home/u/ws", false, NULL) == 0);
    CHECK(allows("write /src/main.c"));
    CHECK(allows("write src/main.c"));
    CHECK_STR(answer.place, "/src/main.c");
    CHECK(denies("write /usr/bin/env"));
    CHECK(denies("read /etc/shadow"));
    CHECK(denies("read .env"));
    CHECK(denies("read /.env"));
    CHECK(coop_policy_set_root(policy, "/home/u/ws", true, NULL) == 0);
    CHECK(denies("write /src/main.c"));
    CHECK(allows("read /src/main.c"));
}

TEST(trust_comes_first)
{
    start();
    subject.has_decision = true;
    subject.decision.trust = TRUST_FAMILIAR;
    CHECK(allows("read x"));
    CHECK(denies("read .env"));
    CHECK(denies("write x"));
    CHECK_STR(answer.rule, "trust 'familiar'");
    CHECK(denies("-- ls"));
    subject.decision.trust = TRUST_PUBLIC;
    CHECK(denies("read x"));
    subject.on_host = true;
    CHECK(allows("read ~/.ssh/id_rsa"));
    CHECK_STR(answer.rule, "sandbox.enabled 'false'");
    subject.decision.trust = TRUST_OWNER;
    CHECK(allows("read ~/.ssh/id_rsa"));
    CHECK_STR(answer.rule, "trust 'owner'");
}

TEST(a_disabled_sandbox_forbids_nothing)
{
    start();
    coop_policy_set_mode(policy, COOP_MODE_DISABLED, NULL);
    CHECK(allows("read ~/.ssh/id_rsa"));
    CHECK_STR(answer.rule, "mode 'disabled'");
}

TEST(what_is_malformed_is_an_error)
{
    struct decide_question question;

    start();
    CHECK(denies("read ../../x"));
    subject.home = NULL;
    CHECK(decide_parse("read ~/x", &question, NULL) == 0);
    CHECK(decide(&subject, &question, &answer, NULL) < 0);
    decide_answer_done(&answer);
    coop_policy_free(policy);
}
