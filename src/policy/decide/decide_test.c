/* worlds: user */
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
    CHECK(policy_decide(&subject, &question, &answer, NULL) == 0);
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
    CHECK(strstr(answer.why, "only git may write it"));
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

TEST(words_are_decided_as_words)
{
    static const char *const words[] = { "git", "status", "a; curl b", NULL };
    const struct decide_question question = { DECIDE_COMMAND, "git", words };

    start();
    coop_policy_set_command_strength(policy, COOP_COMMANDS_CHECK, NULL);
    coop_policy_allow_command(policy, "git", NULL);
    CHECK(policy_decide(&subject, &question, &answer, NULL) == 0 && answer.is_allowed);
    CHECK(denies("-- git status a; curl b"));
}

TEST(a_path_of_a_command_must_be_shown_and_no_more)
{
    start();
    coop_policy_set_command_strength(policy, COOP_COMMANDS_CHECK, NULL);
    coop_policy_allow_command(policy, "cat", NULL);
    CHECK(allows("-- cat .env")); /* what may be read is the kernel's business */
    CHECK(denies("-- cat /srv/x"));
    coop_policy_add_block(policy, "private", NULL);
    CHECK(denies("-- cat private/x"));
    coop_policy_set_directory(policy, "sub", NULL);
    CHECK(allows("-- cat private/x"));
    CHECK(denies("-- cat ../private/x"));
}

TEST(what_would_change_it_as_a_flag)
{
    start();
    CHECK(denies("read /srv/a b"));
    CHECK_STR(answer.flag, "--ro '/srv/a b'");
    CHECK(denies("write /srv/x"));
    CHECK_STR(answer.flag, "--rw /srv/x");
    CHECK(denies("write sub/.git/hooks/x"));
    CHECK_STR(answer.flag, "--unprotect sub/.git/hooks");
    CHECK(coop_policy_add_protect(policy, "sub/.git/hooks", COOP_PROTECT_SHOW, NULL) == 0);
    CHECK(allows("write sub/.git/hooks/x"));
    CHECK(denies("read a/.env"));
    CHECK_STR(answer.flag, "--unprotect a/.env");
    coop_policy_add_bind(policy, "/srv/data", "/data", true, NULL);
    CHECK(denies("write /data/x"));
    CHECK_STR(answer.flag, "--rw /srv/data:/data");
    CHECK(denies("env VISUAL"));
    CHECK_STR(answer.flag, "--env-pass VISUAL");
    CHECK(denies("env LD_PRELOAD"));
    CHECK(!answer.flag);
}

static enum decide_kind look(void *opaque, const char *path)
{
    const char *const *there = opaque;

    for (; *there; there++)
        if (strcmp(path, *there + 1) == 0)
            return **there == 'd' ? DECIDE_DIRECTORY : DECIDE_FILE;
    return DECIDE_NOTHING;
}

TEST(what_is_not_there_is_not_hidden)
{
    static const char *there[] = { "f/home/u/ws/a/.env", "d/home/u/ws/.env", "d/home/u/ws/b/.git",
                                   "d/home/u/ws/private", NULL };

    start();
    subject.look = look;
    subject.opaque = there;
    CHECK(denies("write a/.env"));
    CHECK(allows("write c/.env"));
    CHECK_STR(answer.rule, "protect.deny '**/.env'");
    CHECK(denies("read c/.env")); /* one that somebody makes is none of the box's */
    CHECK(allows("read .env"));   /* a directory */
    CHECK(denies("write b/.git/hooks/x"));
    CHECK(denies("write c/.git/hooks/x")); /* whether there is a repository or not */
    CHECK(allows("write c/.git/hooks/x.sample"));
    CHECK(denies("write b/.git/hooks/x.sample"));
    CHECK(denies("write .git/hooks/x")); /* the workspace's own, whether it is there or not */
    coop_policy_add_block(policy, "private", NULL);
    coop_policy_add_block(policy, "absent", NULL);
    coop_policy_add_block(policy, "/tmp/x", NULL);
    CHECK(denies("write private/x"));
    CHECK(allows("write absent/x"));
    CHECK(denies("read absent/x"));
    CHECK(allows("write /tmp/x/y"));
}

TEST(a_workspace_among_the_places_of_the_box)
{
    start();
    coop_policy_set_same_path(policy, true, NULL);
    subject.workspace = "/tmp/ws";
    CHECK(allows("write /tmp/x"));
    CHECK(allows("write /var/tmp/x"));
    CHECK(allows("write /tmp/ws/x"));
    CHECK(denies("write /tmp/ws/.vscode/x"));
    subject.workspace = "/var/tmp/ws";
    CHECK(denies("write /var/tmp/x")); /* else a link to /tmp */
    CHECK(allows("write /var/tmp/ws/x"));
    CHECK(allows("write /tmp/x"));
    CHECK(allows("write /dev/shm/x"));
}

TEST(sockets)
{
    struct decide_question question;

    start();
    CHECK(allows("bind 127.0.0.1:0"));
    CHECK(allows("bind 0.0.0.0:8080"));
    CHECK(allows("bind 127.0.0.1:1024"));
    CHECK(denies("bind 127.0.0.1:1023"));
    CHECK(denies("bind 192.0.2.1:80"));
    CHECK(denies("connect /home/u/ws/x.sock"));
    CHECK_STR(answer.flag, "--allow-sockets");
    CHECK(denies("connect /srv/a.sock"));
    CHECK_STR(answer.flag, "--socket /srv/a.sock");
    coop_policy_add_socket(policy, "/srv/a.sock", NULL);
    CHECK(allows("connect /srv/a.sock"));
    CHECK(denies("connect /srv/b.sock"));
    coop_policy_set_host_sockets(policy, true, NULL);
    CHECK(allows("connect /home/u/ws/x.sock"));
    CHECK(denies("connect /srv/x.sock"));
    coop_policy_set_network(policy, COOP_NETWORK_OFF, NULL);
    CHECK(denies("bind 127.0.0.1:0"));
    CHECK(decide_parse("connect nowhere", &question, NULL) == 0);
    CHECK(policy_decide(&subject, &question, &answer, NULL) < 0);
    CHECK(decide_parse("connect a:99999", &question, NULL) == 0);
    CHECK(policy_decide(&subject, &question, &answer, NULL) < 0);
}

TEST(what_only_others_know)
{
    struct decide_question question;

    start();
    CHECK(decide_parse("syscall mount", &question, NULL) == 0);
    CHECK(policy_decide(&subject, &question, &answer, NULL) < 0);
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
    CHECK(denies("read x") && denies("-- ls") && denies("read ~/.ssh/id_rsa"));
    CHECK_STR(answer.rule, "trust 'public'");
    subject.decision.trust = TRUST_FAMILIAR;
    CHECK(allows("read x") && denies("write x") && denies("-- ls"));
    CHECK(denies("read ~/.ssh/id_rsa"));
    CHECK(coop_policy_set_mode(policy, COOP_MODE_DISABLED, NULL) == 0);
    CHECK(allows("read x") && denies("read ~/.ssh/id_rsa") && denies("-- ls"));
    CHECK(coop_policy_set_mode(policy, COOP_MODE_REQUIRED, NULL) == 0);
    subject.decision.trust = TRUST_INNER;
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
    CHECK_STR(answer.why, "the box does not have it");
    CHECK(allows("read /../work/x") && allows("read ../../../work/x"));
    CHECK(coop_policy_set_root(policy, "/home/u/ws", false, NULL) == 0);
    CHECK(allows("read /../src/main.c") && allows("read /src/../../../src/main.c"));
    CHECK(denies("read /../.env"));
    subject.home = NULL;
    CHECK(decide_parse("read ~/x", &question, NULL) == 0);
    CHECK(policy_decide(&subject, &question, &answer, NULL) < 0);
    decide_answer_done(&answer);
    coop_policy_free(policy);
    policy = NULL;
}

TEST(a_part_of_the_workspace_that_can_only_be_read)
{
    start();
    CHECK(coop_policy_set_restrict(policy, "src", NULL) == 0);
    CHECK(allows("write src/a") && allows("read /home/u/ws/src/a"));
    CHECK(denies("read docs/a"));
    CHECK_STR(answer.rule, "sandbox.restrict '/src'");
    CHECK(denies("read /home/u/ws/docs/a") && denies("read srcs") && denies("write ."));
    CHECK(allows("read ."));
    CHECK(denies("read src/.env")); /* rules are about the workspace's own names */
    CHECK(coop_policy_set_read_only(policy, true, NULL) == 0);
    CHECK(allows("read src/a") && denies("write src/a"));
    CHECK_STR(answer.why, "the workspace is read-only");
    CHECK_STR(answer.rule, "sandbox.readonly");
}
