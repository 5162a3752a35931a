/* worlds: user */
/* Each check is made to fire once, and to be silent once. */
#include "policy/check.h"

#include <string.h>

#include "base/buffer.h"
#include "base/cleanup.h"
#include "config/toml/toml.h"
#include "test/check.h"

static const struct check_host host = { "/home/u/ws", "/home/u" };

/* Everything that is found in a file, a line each; the last answer. */
static const char *found(const char *text)
{
    static struct buffer out;
    auto_findings struct findings findings = { 0 };
    auto_config struct config *config = config_new();
    struct document *document = NULL;
    struct policy_run run = { 0 };
    struct policy_people people;
    coop_policy *policy = NULL;

    buffer_done(&out);
    CHECK(config && coop_policy_new(&policy, NULL) == 0);
    CHECK(toml_parse("f", text, strlen(text), &document, &findings) == 0);
    if (config_add_document(config, CONFIG_USER, document, &findings) == 0 &&
        policy_from_config(config, host.workspace, policy, &run, &findings) == 0 &&
        policy_people_new(config, &people, NULL) == 0) {
        check_people(config, &people, &findings);
        check_policy(config, policy, &host, &findings);
        policy_people_done(&people);
    }
    for (size_t i = 0; i < findings.n; i++)
        finding_print(&out, &findings.items[i]);
    buffer_append_string(&out, "");
    policy_run_done(&run);
    coop_policy_free(policy);
    CHECK(!findings.failed && !out.failed);
    return out.data ? out.data : "";
}

static bool finds(const char *text, const char *what)
{
    const char *all = found(text);
    bool is_there = strstr(all, what) != NULL;

    if (!is_there)
        printf("# found: %s\n", all);
    return is_there;
}

static bool is_clean(const char *text)
{
    const char *all = found(text);

    if (*all)
        printf("# found: %s\n", all);
    return !*all;
}

TEST(an_ordinary_policy_is_clean)
{
    CHECK(is_clean(""));
    CHECK(is_clean("[sandbox]\nmemory = '1g'\nextra_ro_paths = ['/srv']\n"
                   "extra_rw_paths = ['/srv/out']\nblocked_paths = ['private', '/srv/keys']\n"
                   "env_passthrough = ['EDITOR']\n[environment.set]\nCI = '1'\n"
                   "[protect]\ndeny = ['fixtures/*']\nallow = ['fixtures/public', '.env']\n"
                   "no_write = ['Makefile']\n"
                   "[commands]\nstrength = 'check'\n[commands.go]\nallowed = ['test', 'build']\n"
                   "[[users]]\nname = 'a'\ntrust = 'owner'\nmatch = ['terminal:default']\n"
                   "[[cron]]\nname = 'c'\nuser = 'a'\ncommand = 'true'\n"));
}

TEST(mounts_that_blocks_hide)
{
    CHECK(finds("[sandbox]\nextra_rw_paths = ['/srv/out']\nblocked_paths = ['/srv']\n",
                "f:2:19: error: '/srv/out' is mounted, but blocked_paths hides '/srv' (line 3)"));
    CHECK(finds("[sandbox]\nextra_ro_paths = ['/srv']\nblocked_paths = ['/srv']\n",
                "error: '/srv' is mounted, but"));
}

TEST(mounts_that_change_nothing)
{
    CHECK(finds("[sandbox]\nextra_ro_paths = ['/srv', '/srv/data']\n",
                "f:2:27: warning: the mount of '/srv/data' changes nothing"));
    CHECK(is_clean("[[sandbox.mounts]]\nsource = '/srv'\ntarget = '/data'\n"
                   "[[sandbox.mounts]]\nsource = '/srv/a'\ntarget = '/data/b'\n"));
    CHECK(finds("[[sandbox.mounts]]\nsource = '/srv'\ntarget = '/work'\n",
                "error: the mount target '/work' is the workspace's own place"));
}

TEST(the_workspace_once_more)
{
    CHECK(finds("[sandbox]\nextra_ro_paths = ['/home/u']\n",
                "warning: the mount of '/home/u' shows the whole workspace once more"));
    CHECK(finds("[sandbox]\nextra_ro_paths = ['lib']\n",
                "warning: the mount of '/home/u/ws/lib' shows a part of the workspace"));
}

TEST(blocks_that_miss)
{
    CHECK(finds("[sandbox]\nblocked_paths = ['/home/u/ws/private']\n",
                "f:2:18: error: blocked_paths '/home/u/ws/private' hides nothing"));
    CHECK(finds("[sandbox]\nblocked_paths = ['/home/u/ws/private']\n", "write 'private'"));
    CHECK(is_clean("[sandbox]\nsame_path = true\nblocked_paths = ['/home/u/ws/private']\n"));
    CHECK(finds("[sandbox]\nblocked_paths = ['/srv/keys']\n[[sandbox.mounts]]\nsource = '/srv'\n"
                "target = '/data'\n",
                "write '/data/keys'"));
    CHECK(
        finds("[sandbox]\nblocked_paths = ['/nowhere']\n", "info: blocked_paths '/nowhere' need"));
    CHECK(finds("[sandbox]\nblocked_paths = ['a', '/work/a']\n", "warning: blocked_paths names"));
    CHECK(is_clean("[sandbox]\nblocked_paths = ['/usr/local']\n"));
}

TEST(patterns_that_contradict_each_other)
{
    CHECK(finds("[protect]\ndeny = ['a']\nallow = ['a']\n",
                "f:3:10: error: 'a' is in protect.allow and, on line 2, in protect.deny"));
    CHECK(finds("[protect]\ndeny = ['a', 'a']\n", "warning: 'a' is twice in protect.deny"));
    CHECK(finds("[protect]\ndeny = ['a']\nno_write = ['a']\n", "what is hidden cannot be written"));
    CHECK(finds("[protect]\ndeny = ['[']\n", "f:2:9: error: "));
}

TEST(patterns_that_change_nothing)
{
    CHECK(finds("[protect]\ndeny = ['keys', 'keys/a']\n",
                "f:2:17: warning: 'keys/a' in protect.deny changes nothing: 'keys' (line 2)"));
    CHECK(finds("[protect]\ndeny = ['keys']\nallow = ['keys/*.pub']\n",
                "warning: 'keys/*.pub' in protect.allow changes nothing"));
    CHECK(finds("[protect]\ndeny = ['keys/**']\nallow = ['keys/a.pub']\n",
                "warning: 'keys/a.pub' in protect.allow changes nothing"));
    CHECK(finds("[protect]\ndeny = ['keys/x.txt']\nallow = ['keys/*.txt']\n",
                "does not help 'keys/x.txt'"));
    CHECK(is_clean("[protect]\ndeny = ['keys/*', 'more/**']\nallow = ['keys/a.pub']\n"));
}

TEST(variables)
{
    CHECK(finds("[sandbox]\nenv_passthrough = ['A', 'B', 'A']\n",
                "f:2:30: warning: 'A' is twice in env_passthrough, first on line 2"));
    CHECK(finds("[sandbox]\nenv_passthrough = ['A']\n[environment.set]\nA = '1'\n",
                "environment.set (line 4) gives it a value, which holds"));
    CHECK(finds("[sandbox]\nenv_passthrough = ['AWS_KEY']\n", "f:2:20: error: "));
    CHECK(finds("[environment.set]\nCOOP_X = '1'\n", "f:2:10: error: "));
}

TEST(hosts)
{
    CHECK(finds("[network]\nmode = 'none'\nallow = ['example.org']\n",
                "warning: network.allow changes nothing"));
    CHECK(finds("[network]\nallow = ['example.org']\ndeny = ['example.org']\n",
                "error: the host 'example.org' is in network.allow and, on line 3"));
    CHECK(finds("[network]\nallow = ['http://example.org']\n", "f:2:10: error: "));
}

TEST(rules_about_commands)
{
    CHECK(finds("[commands]\nstrength = 'check'\n[commands.go]\nallowed = ['test']\n"
                "blocked = ['test']\n",
                "f:4:12: error: 'go test' is allowed and, as 'test', blocked"));
    CHECK(finds("[commands.go]\nallowed = ['test']\n",
                "the rules for 'go' change nothing: commands.strength is \"off\""));
    CHECK(finds("[commands]\nstrength = 'check'\n[commands.'a b']\n", "error: the command 'a b'"));
}

TEST(users_and_whom_cron_serves)
{
    CHECK(finds("[[users]]\nname = 'a'\ntrust = 'owner'\nmatch = ['x:1']\n"
                "[[users]]\nname = 'b'\ntrust = 'owner'\nmatch = ['x:2']\n",
                "f:7:9: warning: user 'b' is owner, and so is 'a'"));
    CHECK(finds("[[users]]\nname = 'a'\ntrust = 'full'\nmatch = ['x:1']\n"
                "[[users]]\nname = 'b'\ntrust = 'full'\nmatch = ['x:1']\n",
                "error: 'x:1' is in the 'match' of user 'a' and of user 'b'"));
    CHECK(finds("[sandbox]\nenabled = true\n[[users]]\nname = 'a'\ntrust = 'full'\n"
                "match = ['terminal:default']\n",
                "warning: no user is owner"));
    CHECK(finds("[[cron]]\nname = 'c'\nuser = 'nobody'\ncommand = 'true'\n",
                "f:3:8: error: the cron entry 'c' runs for 'nobody'"));
}

TEST(the_mode_that_holds_nothing)
{
    CHECK(finds("[sandbox]\nmode = 'disabled'\n", "f:2:8: warning: with mode = \"disabled\""));
}
