#include <grp.h>
#include <sys/stat.h>
#include <unistd.h>

#include "test/tools_set.h"

/* ---- the /tmp that is kept */

TEST(the_tmp_outlives_a_command_and_not_the_tools)
{
    NEEDS_SANDBOX();
    coop_tools *tools = tools_for(NULL);

    const char *name = strrchr(top, '/') + 1; /* that nobody else has in the host's */
    CHECK_STR(bash(tools, path_of("echo kept > /tmp/%s.x; echo gone > /run/shm/y", name)),
              "(no output)");
    CHECK_STR(
        bash(tools, path_of("cat /tmp/%s.x /var/tmp/*.x; ls /run/shm; stat -c %%a /tmp", name)),
        "kept\nkept\n1777\n");
    CHECK(access(path_of("/tmp/%s.x", name), F_OK) < 0 || !"the host's");
    coop_tools_free(tools);
    tools = tools_for(NULL);
    CHECK(has(bash_fails(tools, path_of("ls /tmp/%s.x", name)), "No such file"));
    coop_tools_free(tools);
}

/* People and their tools name files as the host has them. */
TEST(the_own_path_of_the_workspace_works_in_every_tool)
{
    NEEDS_SANDBOX();
    make_world();
    coop_tools *tools = tools_for(NULL);
    const char *said;

    CHECK_STR(text(tools, "read_file", path_of("{\"path\":\"%s/a.txt\"}", workspace), false),
              "in the workspace\n");
    said = text(tools, "write_file", path_of("{\"path\":\"%s/new\",\"content\":\"x\"}", workspace),
                false);
    CHECK(has(said, "/work/new"));
    said = text(tools, "read_file", path_of("{\"path\":\"%s/../beside\"}", workspace), true);
    CHECK(has(said, "'/beside' is not in the sandbox's view"));
    CHECK_STR(bash(tools, path_of("cat %s/a.txt", workspace)), "in the workspace\n");
    CHECK_STR(text(tools, "bash", path_of("{\"command\":\"pwd\",\"directory\":\"%s\"}", workspace),
                   false),
              "/work\n");
    coop_tools_free(tools);
    tools = tools_for("t:inner"); /* who need not know where it is */
    (void)text(tools, "read_file", path_of("{\"path\":\"%s/a.txt\"}", workspace), true);
    (void)bash_fails(tools, path_of("cat %s/a.txt", workspace));
    coop_tools_free(tools);
}

TEST(the_tmp_stays_when_the_workspace_is_replaced)
{
    NEEDS_SANDBOX();
    make_world();
    coop_tools *tools = tools_for(NULL);

    CHECK_STR(bash(tools, "echo kept > /tmp/x"), "(no output)");
    CHECK_STR(bash(tools, "cat a.txt"), "in the workspace\n"); /* the second: from a template */
    CHECK(rename(workspace, path_of("%s/old", top)) == 0);
    CHECK(mkdir(workspace, 0755) == 0);
    CHECK_STR(bash(tools, "ls; cat /tmp/x"), "kept\n");
    CHECK(rmdir(workspace) == 0);
    CHECK(rename(path_of("%s/old", top), workspace) == 0);
    coop_tools_free(tools);
}

TEST(programs_in_the_tmp_run_and_have_no_powers)
{
    NEEDS_SANDBOX();
    coop_tools *tools = tools_for(NULL);

    CHECK_STR(
        bash(tools, "printf '#!/bin/sh\\\\necho ran\\\\n' > /tmp/p; chmod 755 /tmp/p; /tmp/p"),
        "ran\n");
    CHECK(has(bash(tools, "grep ' /tmp ' /proc/self/mounts"), "nosuid,nodev"));
    CHECK(has(bash_fails(tools, "mknod /tmp/n c 1 3"), "mknod"));
    coop_tools_free(tools);
}

/* What a command leaves there for those who read it from outside. */
TEST(the_file_tools_see_the_same_tmp)
{
    NEEDS_SANDBOX();
    coop_tools *tools = tools_for(NULL);

    (void)bash(tools, "echo from a command > /tmp/x; seq 1 10000");
    CHECK(has(text(tools, "read_file", "{\"path\":\"/tmp/x\"}", false), "from a command"));
    CHECK(has(text(tools, "read_file",
                   "{\"path\":\"/tmp/output-1.txt\",\"offset\":4711,\"limit\":1}", false),
              "4711"));
    (void)text(tools, "write_file", "{\"path\":\"/tmp/y\",\"content\":\"from a tool\\n\"}", false);
    CHECK_STR(bash(tools, "cat /tmp/y; echo more >> /tmp/y; rm /tmp/y"), "from a tool\n");
    CHECK(has(text(tools, "list_dir", "{\"path\":\"/tmp\"}", false), "output-1.txt"));
    coop_tools_free(tools);
}

/* Root's boxes are the owner of the workspace, and so are the file tools. */
TEST(file_tools_that_root_runs_have_the_rights_of_the_owner)
{
    NEEDS_SANDBOX();
    make_world();
    const gid_t group = 5432;
    struct stat st;
    if (chown(workspace, 1234, 4321) != 0)
        SKIP_NEVER("only real root has more rights");
    write_text(path_of("%s/roots", workspace), "of root alone\n");
    CHECK(chmod(path_of("%s/roots", workspace), 0600) == 0);
    write_text(path_of("%s/groups", workspace), "of a group that root is in\n");
    CHECK(chown(path_of("%s/groups", workspace), 0, group) == 0);
    CHECK(chmod(path_of("%s/groups", workspace), 0640) == 0);
    CHECK(chmod(top, 0755) == 0);
    CHECK(setgroups(1, &group) == 0);
    coop_tools *tools = tools_for(NULL);
    CHECK(has(bash_fails(tools, "cat roots"), "Permission denied"));
    (void)text(tools, "read_file", "{\"path\":\"roots\"}", true);
    CHECK(has(bash_fails(tools, "cat groups"), "Permission denied"));
    (void)text(tools, "read_file", "{\"path\":\"groups\"}", true);
    (void)text(tools, "write_file", "{\"path\":\"theirs\",\"content\":\"x\"}", false);
    CHECK(stat(path_of("%s/theirs", workspace), &st) == 0);
    CHECK(st.st_uid == 1234 && st.st_gid == 4321);
    CHECK_STR(bash(tools, "echo y >> theirs; cat theirs"), "xy\n");
    (void)text(tools, "write_file", "{\"path\":\"/tmp/t\",\"content\":\"x\"}", false);
    CHECK_STR(bash(tools, "echo y >> /tmp/t; cat /tmp/t; rm /tmp/t theirs"), "xy\n");
    CHECK(geteuid() == 0 && access(path_of("%s/roots", workspace), R_OK) == 0);
    gid_t now = 0;
    CHECK(getgroups(1, &now) == 1 && now == group && setgroups(0, NULL) == 0);
    coop_tools_free(tools);
    CHECK(unlink(path_of("%s/roots", workspace)) == 0);
    CHECK(unlink(path_of("%s/groups", workspace)) == 0);
    CHECK(chown(workspace, 0, 0) == 0);
}

TEST(traps_in_the_tmp_catch_nobody)
{
    NEEDS_SANDBOX();
    coop_tools *tools = tools_for(NULL);

    (void)bash(tools,
               path_of("cd /tmp; ln -s %s out; ln -s /work/a.txt in; mkfifo fifo; ln -s / up; "
                       "truncate -s 100G huge; ln -s loop loop",
                       beside));
    (void)text(tools, "read_file", "{\"path\":\"/tmp/out\"}", true);
    (void)text(tools, "read_file", path_of("{\"path\":\"/tmp/up%s\"}", beside), true);
    (void)text(tools, "read_file", "{\"path\":\"/tmp/../../etc/shadow\"}", true);
    (void)text(tools, "read_file", "{\"path\":\"/tmp/fifo\"}", true);
    (void)text(tools, "read_file", "{\"path\":\"/tmp/loop\"}", true);
    coop_tool_result_free(call(tools, "read_file", "{\"path\":\"/tmp/huge\"}"));
    CHECK(has(text(tools, "read_file", "{\"path\":\"/tmp/in\"}", false), "in the workspace"));
    /* The boxes' /tmp may have the directories above the workspace: then a file is made in it. */
    coop_tool_result_free(call(tools, "write_file", "{\"path\":\"/tmp/out\",\"content\":\"x\"}"));
    CHECK_STR(bash(tools, "cat a.txt"), "in the workspace\n");
    CHECK(system(path_of("grep -qx 'of the host' '%s'", beside)) == 0);
    coop_tools_free(tools);
}
