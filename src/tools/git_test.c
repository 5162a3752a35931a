#include <unistd.h>

#include "test/tools_set.h"

/* ---- git */

static coop_tools *repository(void)
{
    coop_tools *tools = tools_for("t:inner");

    CHECK(system(path_of("rm -rf '%s/repo'", workspace)) == 0);
    (void)bash(tools, "mkdir repo; cd repo; git init -q -b main .");
    return tools;
}

#define IN_REPO "\"directory\":\"/work/repo\""

TEST(a_day_with_git)
{
    NEEDS_SANDBOX();
    coop_tools *tools = repository();

    (void)bash(tools, "cd repo; echo one > f; echo '*.o' > .gitignore; touch x.o");
    CHECK(has(text(tools, "git_status", "{" IN_REPO "}", false), "?? f\n"));
    CHECK(has(text(tools, "git_stage", "{" IN_REPO ",\"paths\":[\"/work/repo/f\"]}", false),
              "add 'f'"));
    CHECK(has(text(tools, "git_commit", "{" IN_REPO ",\"message\":\"first\"}", true),
              "git does not know who commits: give author"));
    CHECK(has(text(tools, "git_commit",
                   "{" IN_REPO ",\"message\":\"first\\n\\nwhy\",\"author\":\"A B <a@b.example>\"}",
                   false),
              "first"));
    CHECK(has(text(tools, "git_log", "{" IN_REPO "}", false), "Author: A B <a@b.example>"));
    (void)bash(tools, "cd repo; echo two >> f");
    CHECK(has(text(tools, "git_diff", "{" IN_REPO "}", false), "\n+two\n"));
    CHECK_STR(text(tools, "git_diff", "{" IN_REPO ",\"staged\":true}", false), "no differences");
    CHECK(has(text(tools, "git_diff", "{" IN_REPO ",\"stat\":true,\"revision\":\"HEAD\"}", false),
              "1 file changed"));
    CHECK(has(
        text(tools, "git_commit", "{" IN_REPO ",\"message\":\"x\",\"author\":\"A <a@b>\"}", true),
        "use git_stage first"));
    (void)bash(tools, "cd repo; git rm -q --cached f; git config user.name C; "
                      "git config user.email c@d.example");
    (void)text(tools, "git_stage", "{" IN_REPO ",\"paths\":[\".\"]}", false);
    (void)text(tools, "git_commit", "{" IN_REPO ",\"message\":\"second\"}", false);
    CHECK(
        has(text(tools, "git_log", "{" IN_REPO ",\"limit\":1}", false), "Author: C <c@d.example>"));
    coop_tools_free(tools);
}

TEST(git_takes_no_options_from_a_model)
{
    NEEDS_SANDBOX();
    coop_tools *tools = repository();

    CHECK(has(text(tools, "git_diff", "{" IN_REPO ",\"revision\":\"--output=/work/x\"}", true),
              "must not begin with '-'"));
    CHECK(has(text(tools, "git_log", "{" IN_REPO ",\"revision\":\"-p\"}", true),
              "must not begin with '-'"));
    (void)bash(tools, "touch repo/file");
    /* Behind `--` it is a path, and a pattern is its own letters. */
    CHECK(has(text(tools, "git_stage", "{" IN_REPO ",\"paths\":[\"--force\"]}", true),
              "pathspec '--force' did not match"));
    CHECK(has(text(tools, "git_stage", "{" IN_REPO ",\"paths\":[\"*\"]}", true),
              "pathspec '*' did not match"));
    CHECK(has(
        text(tools, "git_commit", "{" IN_REPO ",\"message\":\"m\",\"author\":\"nobody\"}", true),
        "write the author as 'Name <"));
    coop_tools_free(tools);
}

TEST(rules_for_commands_hold_for_the_tools)
{
    NEEDS_SANDBOX();
    coop_tools *tools = repository();

    coop_tools_free(tools);
    tools = tools_with("[commands]\nstrength = \"check\"\n[commands.git]\n"
                       "allowed = [\"status\", \"diff\", \"log\", \"add\"]");
    CHECK(has(text(tools, "git_status", "{" IN_REPO "}", false), "No commits yet"));
    CHECK_STR(text(tools, "git_diff", "{" IN_REPO "}", false), "no differences");
    (void)text(tools, "git_stage", "{" IN_REPO ",\"paths\":[\".\"]}", false);
    CHECK(has(text(tools, "git_commit", "{" IN_REPO ",\"message\":\"m\"}", true), "may not run"));
    CHECK(has(bash_fails(tools, "ls"), "may not run"));
    coop_tools_free(tools);
}

TEST(outside_a_repository_git_says_so_in_a_sentence)
{
    NEEDS_SANDBOX();
    coop_tools *tools = tools_for("t:inner");

    CHECK(has(text(tools, "git_status", "{\"directory\":\"/tmp\"}", true),
              "There is no git repository here"));
    coop_tools_free(tools);
}

TEST(nobody_can_leave_a_hook_behind)
{
    NEEDS_SANDBOX();
    coop_tools *tools = repository();

    (void)bash_fails(tools, "mkdir repo/.git/hooks; echo true > repo/.git/hooks/pre-commit");
    CHECK(access(path_of("%s/repo/.git/hooks/pre-commit", workspace), F_OK) < 0);
    coop_tools_free(tools);
}

/* ---- pushing; the remote is a bare repository in the boxes' own /tmp, so that no network is used */

#define PUSH(remote, branch) "{" IN_REPO ",\"remote\":\"" remote "\",\"branch\":\"" branch "\"}"

/* A new one: what a repository of before has in its configuration, a box may not change. */
static coop_tools *repository_with_remote(const char *more)
{
    make_world();
    CHECK(system(path_of("rm -rf '%s/repo'", workspace)) == 0);
    coop_tools *tools = tools_with(more);
    (void)bash(tools,
               "set -e; git init -q --bare -b main /tmp/far; git init -q -b main repo; "
               "cd repo; git config user.name N; git config user.email n@m.example; "
               "git remote add origin /tmp/far; echo one > f; git add f; git commit -qm one");
    return tools;
}

TEST(what_was_committed_can_be_pushed)
{
    NEEDS_SANDBOX();
    coop_tools *tools = repository_with_remote("network = \"host\"");

    CHECK(has(text(tools, "git_push", "{" IN_REPO "}", true), "name remote and branch"));
    CHECK(has(text(tools, "git_push",
                   "{" IN_REPO ",\"remote\":\"origin\",\"branch\":\"main\",\"set_upstream\":true}",
                   false),
              "main -> main"));
    CHECK(has(bash(tools, "git --git-dir /tmp/far log --format=%s main"), "one"));
    (void)bash(tools, "cd repo; echo two > f; git commit -qam two");
    CHECK(has(text(tools, "git_push", "{" IN_REPO "}", false), "main -> main"));
    CHECK(has(bash(tools, "git --git-dir /tmp/far log --format=%s -1 main"), "two"));
    coop_tools_free(tools);
}

TEST(what_is_at_the_remote_is_neither_overwritten_nor_deleted)
{
    NEEDS_SANDBOX();
    coop_tools *tools = repository_with_remote("network = \"host\"");

    (void)text(tools, "git_push", PUSH("origin", "main"), false);
    (void)bash(tools, "cd repo; git commit -q --amend -m other");
    CHECK(has(text(tools, "git_push", PUSH("origin", "main"), true), "rejected"));
    CHECK(has(text(tools, "git_push", PUSH("origin", "+main"), true), "must not begin with '+'"));
    CHECK(has(text(tools, "git_push", PUSH("origin", ":main"), true), "must not begin with ':'"));
    CHECK(has(text(tools, "git_push", PUSH("--mirror", "main"), true), "must not begin with '-'"));
    CHECK(
        has(text(tools, "git_push", PUSH("origin", "--delete"), true), "must not begin with '-'"));
    CHECK(has(bash(tools, "git --git-dir /tmp/far log --format=%s -1 main"), "one"));
    coop_tools_free(tools);
}

TEST(nothing_is_pushed_without_a_network)
{
    NEEDS_SANDBOX();
    coop_tools *tools = repository_with_remote("network = \"none\"");

    CHECK(has(text(tools, "git_push", PUSH("origin", "main"), true), "the sandbox has no network"));
    CHECK(has(bash_fails(tools, "git --git-dir /tmp/far rev-parse --verify main"), "fatal"));
    coop_tools_free(tools);
}

/* What the owner's own git would use is not there: neither files nor helpers nor an agent. */
TEST(credentials_of_the_host_do_not_come_along)
{
    NEEDS_SANDBOX();
    make_world();
    const char *const home = path_of("%s/home", top);

    CHECK(home && mkdir(home, 0755) == 0);
    write_text(path_of("%s/.git-credentials", home), "https://n:p@far.example\n");
    write_text(path_of("%s/.gitconfig", home), "[credential]\n\thelper = store\n");
    CHECK(setenv("HOME", home, 1) == 0 && setenv("SSH_AUTH_SOCK", "/nowhere", 1) == 0 &&
          setenv("GIT_ASKPASS", "/bin/echo", 1) == 0);
    coop_tools *tools = repository_with_remote("network = \"host\"");
    CHECK(has(bash(tools, "git -C repo config credential.helper || echo none"), "none"));
    CHECK(has(bash(tools, "env | grep -E '^(SSH_AUTH_SOCK|GIT_ASKPASS)' || echo none"), "none"));
    (void)bash_fails(tools, "cat ~/.git-credentials");
    coop_tools_free(tools);
    CHECK(unsetenv("SSH_AUTH_SOCK") == 0 && unsetenv("GIT_ASKPASS") == 0);
    CHECK(unsetenv("HOME") == 0);
}
