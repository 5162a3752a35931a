#include <fcntl.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include "test/tools_set.h"

/* ---- what the caller takes away */

TEST(read_only_tools_change_nothing)
{
    NEEDS_SANDBOX();
    make_world();
    coop_tools *tools =
        tools_for_context((coop_tools_context){ .identity = "t:full", .read_only = true });

    CHECK(has(bash_fails(tools, "touch /work/new"), "Read-only file system"));
    CHECK_STR(bash(tools, "cat a.txt; touch /tmp/x"), "in the workspace\n");
    CHECK(has(text(tools, "git_stage", "{\"paths\":[\".\"]}", true), "these tools only read"));
    CHECK(!coop_tools_may(tools, "git_commit", NULL));
    CHECK(coop_tools_may(tools, "git_log", NULL));
    coop_tools_free(tools);
    /* The host cannot hold that, so the owner is in a box too, with the same paths. */
    tools = tools_for_context((coop_tools_context){ .identity = "t:owner", .read_only = true });
    CHECK(!coop_tools_on_host(tools));
    CHECK_STR(coop_tools_workspace(tools), workspace);
    CHECK(has(bash_fails(tools, "touch new"), "Read-only file system"));
    CHECK(has(bash_fails(tools, path_of("cat %s", beside)), "No such file"));
    coop_tools_free(tools);
}

TEST(roots_are_all_there_is)
{
    NEEDS_SANDBOX();
    make_world();
    CHECK(system(path_of("mkdir -p '%s/src/in' '%s/doc'; echo s > '%s/src/s'", workspace, workspace,
                         workspace)) == 0);
    const char *const one[] = { path_of("%s/src", workspace), path_of("%s/src/in", workspace),
                                NULL };
    coop_tools *tools =
        tools_for_context((coop_tools_context){ .identity = "t:full", .roots = one });
    CHECK_STR(text(tools, "bash",
                   "{\"command\":\"ls /work; cat /work/src/s\",\"directory\":\"/work/src\"}",
                   false),
              "src\ns\n");
    coop_tools_free(tools);
    const char *const all[] = { top, NULL };
    tools = tools_for_context((coop_tools_context){ .identity = "t:full", .roots = all });
    CHECK_STR(bash(tools, "cat a.txt"), "in the workspace\n");
    coop_tools_free(tools);
    const char *const two[] = { path_of("%s/src", workspace), path_of("%s/doc", workspace), NULL };
    tools = tools_for_context((coop_tools_context){ .identity = "t:full", .roots = two });
    CHECK_STR(bash(tools, "ls /work; cat /work/src/s; echo d > /work/doc/d; cat doc/d"),
              "doc\nsrc\ns\nd\n");
    CHECK(has(bash_fails(tools, "cat a.txt"), "No such file"));
    CHECK(has(bash_fails(tools, "touch new"), "Read-only file system"));
    CHECK_STR(text(tools, "read_file", "{\"path\":\"/work/doc/d\"}", false), "d\n");
    (void)text(tools, "read_file", "{\"path\":\"/work/a.txt\"}", true);
    coop_tools_free(tools);
    tools = tools_for_context(
        (coop_tools_context){ .identity = "t:full", .roots = two, .read_only = true });
    CHECK(has(bash_fails(tools, "touch doc/new"), "Read-only file system"));
    CHECK(has(bash_fails(tools, "touch src/new"), "Read-only file system"));
    coop_tools_free(tools);
    CHECK(system(path_of("rm -r '%s/src' '%s/doc'", workspace, workspace)) == 0);
}

/* A root is named by the client: it takes away, and gives nothing. */
TEST(several_roots_show_nothing_that_is_hidden)
{
    NEEDS_SANDBOX();
    make_world();
    CHECK(system(path_of("cd '%s' && mkdir -p src doc keys/in .git/hooks && echo s | tee doc/.env "
                         "keys/in/k keys/k > src/s",
                         workspace)) == 0);
    const char *const roots[] = {
        path_of("%s/keys", workspace),      path_of("%s/keys/in", workspace),
        path_of("%s/src", workspace),       path_of("%s/doc", workspace),
        path_of("%s/.git", workspace),      path_of("%s/nowhere", workspace),
        path_of("%s/../beside", workspace), NULL
    };
    write_text(config, "[sandbox]\nenabled = true\n[protect]\ndeny = [\"keys\"]\n" PEOPLE);
    coop_tools *tools =
        tools_for_context((coop_tools_context){ .identity = "t:full", .roots = roots });
    configure("true", "");
    CHECK_STR(bash(tools, "ls -A /work; cat src/s"), ".git\ndoc\nsrc\ns\n");
    CHECK(has(bash_fails(tools, "cat doc/.env"), "Permission denied"));
    CHECK(has(bash_fails(tools, "cat keys/in/k"), "No such file"));
    CHECK(has(bash_fails(tools, "echo x > .git/hooks/pre-commit"), "Permission denied"));
    (void)text(tools, "read_file", "{\"path\":\"keys/in/k\"}", true);
    (void)text(tools, "read_file", "{\"path\":\"doc/.env\"}", true);
    coop_tools_free(tools);
    CHECK(system(path_of("cd '%s' && rm -r src doc keys .git", workspace)) == 0);
}

TEST(roots_leave_less_than_the_configuration_and_never_more)
{
    NEEDS_SANDBOX();
    make_world();
    CHECK(system(path_of("mkdir -p '%s/src/in' '%s/doc'; echo s | tee '%s/src/s' '%s/src/in/s' "
                         "> '%s/doc/s'",
                         workspace, workspace, workspace, workspace, workspace)) == 0);
    static const struct {
        const char *root;
        bool src, in, doc, commands;
    } cases[] = {
        { "", true, true, false, true },
        { "/src", true, true, false, true },
        { "/src/in", false, true, false, true },
        { "/doc", false, false, false, false },
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        const char *const roots[] = { path_of("%s%s", workspace, cases[i].root), NULL };

        configure("true", "restrict = \"src\"");
        coop_tools *tools =
            tools_for_context((coop_tools_context){ .identity = "t:full", .roots = roots });
        (void)text(tools, "read_file", "{\"path\":\"/work/src/s\"}", !cases[i].src);
        (void)text(tools, "read_file", "{\"path\":\"/work/src/in/s\"}", !cases[i].in);
        (void)text(tools, "read_file", "{\"path\":\"/work/doc/s\"}", !cases[i].doc);
        CHECK(coop_tools_may(tools, "bash", NULL) == cases[i].commands);
        if (cases[i].commands)
            (void)bash_fails(tools, "cat /work/doc/s");
        coop_tools_free(tools);
    }
    configure("true", "");
    CHECK(system(path_of("rm -r '%s/src' '%s/doc'", workspace, workspace)) == 0);
}

/* ---- a host without a sandbox */

static bool write_to(const char *path, const char *words)
{
    auto_close int fd = open(path, O_WRONLY | O_CLOEXEC);

    return fd >= 0 && write(fd, words, strlen(words)) == (ssize_t)strlen(words);
}

/* In a user namespace that may have none below it; what was said comes back in `out`. */
static bool say_without_namespaces(const char *more, char *out, size_t size)
{
    int pipes[2];

    make_world();
    configure("true", more);
    CHECK(pipe(pipes) == 0);
    (void)fflush(stdout);
    pid_t pid = fork();
    CHECK(pid >= 0);
    if (pid == 0) {
        char map[64];
        coop_tool_result *result = NULL;
        const char *arguments = "{\"command\":\"echo ran\"}";

        (void)snprintf(map, sizeof map, "0 %u 1", geteuid());
        if (unshare(CLONE_NEWUSER) < 0 || !write_to("/proc/self/setgroups", "deny") ||
            !write_to("/proc/self/uid_map", map) ||
            !write_to("/proc/sys/user/max_user_namespaces", "0"))
            _exit(77);
        coop_tools *tools = tools_for("t:full");
        if (coop_execute(tools, "bash", arguments, strlen(arguments), NULL, &result, NULL) < 0)
            _exit(1);
        const char *said = coop_tool_result_text(result, NULL);
        _exit(write(pipes[1], said, strlen(said)) > 0 ? 0 : 1);
    }
    (void)close(pipes[1]);
    size_t n = 0;
    for (ssize_t r; n < size - 1 && (r = read(pipes[0], out + n, size - 1 - n)) > 0;)
        n += (size_t)r;
    out[n] = '\0';
    (void)close(pipes[0]);
    int status = 0;
    CHECK(waitpid(pid, &status, 0) == pid);
    configure("true", "");
    CHECK(WIFEXITED(status) && (WEXITSTATUS(status) == 0 || WEXITSTATUS(status) == 77));
    return WEXITSTATUS(status) == 0;
}

TEST(a_sandbox_that_is_required_and_not_there_refuses)
{
    char said[2048];

    if (!say_without_namespaces("mode = \"required\"", said, sizeof said))
        SKIP("a user namespace without others below it cannot be made here");
    CHECK(!strstr(said, "ran\n"));
    CHECK(has(said, "max_user_namespaces"));
}

TEST(one_that_is_preferred_runs_and_says_so)
{
    char said[2048];

    if (!say_without_namespaces("mode = \"preferred\"", said, sizeof said))
        SKIP("a user namespace without others below it cannot be made here");
    CHECK(has(said, "ran\n"));
    CHECK(has(said, "sandbox"));
    CHECK(strstr(said, "[weaker sandbox: tier 'landlock'") || strstr(said, "[NOT sandboxed"));
}
