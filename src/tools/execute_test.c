#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdarg.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/json_read.h"
#include "coop/coop.h"
#include "test/check.h"
#include "tools/arguments.h"
#include "tools/tools.h"

/* ---- a world: a workspace, a directory beside it, and a configuration of everybody */

static char top[64];
static char workspace[96], beside[96], config[96];

static void write_text(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");

    CHECK(file);
    CHECK(fputs(text, file) >= 0);
    CHECK(fclose(file) == 0);
}

__attribute__((format(printf, 1, 2))) static const char *path_of(const char *format, ...)
{
    static char paths[8][1024];
    static unsigned next;
    char *path = paths[next++ % COUNT(paths)];
    va_list args;

    va_start(args, format);
    (void)vsnprintf(path, sizeof paths[0], format, args);
    va_end(args);
    return path;
}

#define PEOPLE                                                               \
    "[[users]]\nname = \"olga\"\ntrust = \"owner\"\nmatch = [\"t:owner\"]\n" \
    "[[users]]\nname = \"fritz\"\ntrust = \"full\"\nmatch = [\"t:full\"]\n"  \
    "[[users]]\nname = \"ines\"\ntrust = \"inner\"\nmatch = [\"t:inner\"]\n" \
    "[[users]]\nname = \"fay\"\ntrust = \"familiar\"\nmatch = [\"t:familiar\"]\n"

/* With more lines for [sandbox]. */
static void configure(const char *enabled, const char *more)
{
    write_text(config, path_of("[sandbox]\nenabled = %s\n%s\n[memory]\ndirectory = \"%s/memory\"\n",
                               enabled, more, top));
    FILE *file = fopen(config, "a");
    CHECK(file);
    CHECK(fputs(PEOPLE, file) >= 0);
    CHECK(fclose(file) == 0);
}

static void make_world(void)
{
    if (top[0])
        return;
    (void)snprintf(top, sizeof top, "/tmp/coop-tools.XXXXXX");
    CHECK(mkdtemp(top));
    (void)snprintf(workspace, sizeof workspace, "%s/ws", top);
    (void)snprintf(beside, sizeof beside, "%s/beside", top);
    (void)snprintf(config, sizeof config, "%s/coop.toml", top);
    CHECK(mkdir(workspace, 0755) == 0);
    write_text(beside, "of the host\n");
    write_text(path_of("%s/a.txt", workspace), "in the workspace\n");
    configure("true", "");
}

__attribute__((destructor)) static void remove_world(void)
{
    if (top[0])
        (void)!system(path_of("rm -rf '%s'", top));
}

static coop_tools *tools_for_context(coop_tools_context context)
{
    auto_error coop_error *err = NULL;
    coop_tools *tools = NULL;

    context.size = sizeof context;
    context.workspace = workspace;
    context.config_file = config;
    if (coop_tools_new(&context, &tools, &err) < 0)
        printf("# %s\n", coop_error_message(err));
    CHECK(tools);
    return tools;
}

static coop_tools *tools_for(const char *identity)
{
    make_world();
    return tools_for_context((coop_tools_context){ .identity = identity });
}

static coop_tools *tools_with(const char *more)
{
    make_world();
    configure("true", more);
    coop_tools *tools = tools_for("t:full");
    configure("true", "");
    return tools;
}

/* ---- calls; results live until the test is over */

static const coop_execute_options *call_options;

static coop_tool_result *call(coop_tools *tools, const char *tool, const char *arguments)
{
    auto_error coop_error *err = NULL;
    coop_tool_result *result = NULL;

    if (coop_execute(tools, tool, arguments, strlen(arguments), call_options, &result, &err) < 0)
        printf("# %s: %s\n", tool, coop_error_message(err));
    CHECK(result);
    return result;
}

/* What a tool said, for a moment; `error` is what must hold of it. */
static const char *text(coop_tools *tools, const char *tool, const char *arguments, bool error)
{
    static coop_tool_result *last[8];
    static unsigned next;
    coop_tool_result **slot = &last[next++ % COUNT(last)];

    coop_tool_result_free(*slot);
    *slot = call(tools, tool, arguments);
    const char *said = coop_tool_result_text(*slot, NULL);
    if (coop_tool_result_is_error(*slot) != error)
        printf("# %s %s: %s\n", tool, arguments, said);
    CHECK(coop_tool_result_is_error(*slot) == error);
    return said;
}

static const char *bash(coop_tools *tools, const char *command)
{
    return text(tools, "bash", path_of("{\"command\":\"%s\"}", command), false);
}

static const char *bash_fails(coop_tools *tools, const char *command)
{
    return text(tools, "bash", path_of("{\"command\":\"%s\"}", command), true);
}

static bool has(const char *said, const char *words)
{
    if (!strstr(said, words))
        printf("# not in it: '%s'\n# it is: %.600s\n", words, said);
    return strstr(said, words) != NULL;
}

static bool has_sandbox(void)
{
    static int known = -1;
    coop_probe *probe = NULL;

    if (known < 0 && coop_probe_new(&probe, NULL) == 0)
        known = coop_probe_tier(probe) == COOP_TIER_FULL;
    coop_probe_free(probe);
    return known == 1;
}

#define NEEDS_SANDBOX()                            \
    do {                                           \
        if (!has_sandbox())                        \
            SKIP("this host has no full sandbox"); \
    } while (0)

/* ---- who may what */

static const struct {
    const char *identity, *level;
    bool reads, writes, commands, all;
    bool on_host;
} levels[] = {
    { NULL, "full", true, true, true, true, false },
    { "t:owner", "owner", true, true, true, true, true },
    { "t:full", "full", true, true, true, true, false },
    { "t:inner", "inner", true, true, true, false, false },
    { "t:familiar", "familiar", true, false, false, false, false },
    { "t:stranger", "public", false, false, false, false, false },
};

static bool expects(size_t level, const struct tool *tool)
{
    switch (tool->need) {
    case TOOL_READS:
        return levels[level].reads;
    case TOOL_WRITES:
        return levels[level].writes;
    case TOOL_COMMANDS:
        return levels[level].commands;
    case TOOL_ALL: /* and then the network, which boxes have none of */
        return levels[level].all && levels[level].on_host;
    }
    return false;
}

TEST(each_level_may_use_what_the_table_says)
{
    make_world();
    for (size_t level = 0; level < COUNT(levels); level++) {
        coop_tools *tools = tools_for(levels[level].identity);

        CHECK_STR(coop_tools_level(tools), levels[level].level);
        CHECK(coop_tools_on_host(tools) == levels[level].on_host);
        for (size_t i = 0; tool_row(i); i++) {
            const char *name = coop_tool_at(i)->name;
            const char *why = NULL;
            bool may = coop_tools_may(tools, name, &why);

            if (may != expects(level, tool_row(i)))
                printf("# %s, %s\n", levels[level].level, name);
            CHECK(may == expects(level, tool_row(i)));
            CHECK(may == (why == NULL));
            /* Arguments that nobody takes: who may is told so, who may not is told that. */
            const char *said = text(tools, name, "{\"nonsense\":1}", true);
            CHECK(has(said, may ? "'nonsense' is no argument" : "is refused"));
        }
        coop_tools_free(tools);
    }
}

TEST(a_refusal_says_what_is_open_instead)
{
    coop_tools *tools = tools_for("t:familiar");
    const char *said = bash_fails(tools, "true");

    CHECK(has(said, "fay has the trust 'familiar'"));
    CHECK(has(said, "Instead, "));
    CHECK(!strstr(said, "use bash"));
    coop_tools_free(tools);
    tools = tools_for("t:stranger");
    said = bash_fails(tools, "true");
    CHECK(has(said, "nobody of that identity is known"));
    CHECK(has(said, "no tool is open"));
    coop_tools_free(tools);
}

TEST(pushing_without_a_network_is_refused_with_the_reason)
{
    coop_tools *tools = tools_for("t:full");

    CHECK(has(text(tools, "git_push", "{}", true), "the sandbox has no network"));
    coop_tools_free(tools);
    tools = tools_for("t:inner");
    CHECK(has(text(tools, "git_push", "{}", true), "has the trust 'inner'"));
    coop_tools_free(tools);
}

TEST(in_a_group_the_owner_is_one_of_many)
{
    make_world();
    coop_tools *tools =
        tools_for_context((coop_tools_context){ .identity = "t:owner", .group = "friends" });

    CHECK_STR(coop_tools_level(tools), "familiar");
    CHECK_STR(coop_tools_user(tools), "olga");
    CHECK(!coop_tools_on_host(tools));
    CHECK(has(bash_fails(tools, "true"), "in a group"));
    coop_tools_free(tools);
}

TEST(without_a_sandbox_everybody_acts_on_the_host)
{
    make_world();
    configure("false", "");
    coop_tools *tools = tools_for("t:stranger");
    CHECK(coop_tools_on_host(tools));
    CHECK_STR(bash(tools, path_of("cat %s", beside)), "of the host\n");
    CHECK(has(coop_tools_banner(tools), "disabled"));
    coop_tools_free(tools);
    configure("true", "");
}

TEST(the_owner_acts_on_the_host_and_others_in_a_box)
{
    NEEDS_SANDBOX();
    coop_tools *tools = tools_for("t:owner");

    CHECK_STR(coop_tools_workspace(tools), workspace);
    CHECK_STR(bash(tools, path_of("cat %s; cat a.txt", beside)), "of the host\nin the workspace\n");
    coop_tools_free(tools);
    tools = tools_for("t:inner");
    CHECK_STR(coop_tools_workspace(tools), "/work");
    CHECK(has(bash_fails(tools, path_of("cat %s", beside)), "No such file"));
    CHECK_STR(bash(tools, "pwd; cat a.txt"), "/work\nin the workspace\n");
    coop_tools_free(tools);
}

TEST(overrides_of_a_user_hold)
{
    NEEDS_SANDBOX();
    make_world();
    write_text(config, path_of("[sandbox]\nenabled = true\n[memory]\ndirectory = \"%s/memory\"\n"
                               "[[users]]\nname = \"f\"\ntrust = \"full\"\nmatch = [\"t:full\"]\n"
                               "sandbox = { network = \"host\" }\n",
                               top));
    coop_tools *tools = tools_for("t:full");
    CHECK(coop_tools_may(tools, "git_push", NULL));
    coop_tools_free(tools);
    configure("true", "");
}

TEST(mistakes_of_the_configuration_are_all_told)
{
    make_world();
    write_text(config, "[sandbox]\nmemry = \"1g\"\npids_limit = -1\n");
    const coop_tools_context context = { .size = sizeof context,
                                         .workspace = workspace,
                                         .config_file = config };
    auto_error coop_error *err = NULL;
    coop_tools *tools = NULL;

    CHECK(coop_tools_new(&context, &tools, &err) == -EINVAL);
    CHECK(!tools);
    CHECK(coop_error_get_kind(err) == COOP_ERROR_BAD_POLICY);
    CHECK(has(coop_error_message(err), "memry"));
    CHECK(has(coop_error_message(err), "pids_limit"));
    configure("true", "");
}

/* ---- calls that are none */

TEST(mistakes_of_the_caller_are_errors_and_no_results)
{
    static const struct {
        const char *tool, *arguments, *message;
    } wrong[] = {
        { "bsh", "{}", "there is no tool 'bsh'" },
        { "bash", "[]", "the arguments are not an object" },
        { "bash", "{", "the arguments are not JSON" },
        { "bash", "{\"command\":\"a\\u0000b\"}", "the arguments are not JSON" },
    };
    coop_tools *tools = tools_for("t:full");

    for (size_t i = 0; i < COUNT(wrong); i++) {
        auto_error coop_error *err = NULL;
        coop_tool_result *result = NULL;

        CHECK(coop_execute(tools, wrong[i].tool, wrong[i].arguments, strlen(wrong[i].arguments),
                           NULL, &result, &err) < 0);
        CHECK(!result);
        CHECK(has(coop_error_message(err), wrong[i].message));
    }
    coop_tools_free(tools);
}

/* ---- bash */

TEST(the_exit_code_stands_first)
{
    NEEDS_SANDBOX();
    coop_tools *tools = tools_for(NULL);

    CHECK_STR(bash(tools, "true"), "(no output)");
    CHECK_STR(bash_fails(tools, "echo a; echo b >&2; exit 3"), "exit code 3\na\nb\n");
    CHECK(has(bash_fails(tools, "kill -9 $$"), "killed by signal 9"));
    CHECK_STR(bash(tools, "printf abc"), "abc");
    CHECK_STR(bash_fails(tools, "-x"), "exit code 127\nbash: line 1: -x: command not found\n");
    coop_tools_free(tools);
}

TEST(it_starts_where_it_is_told)
{
    NEEDS_SANDBOX();
    coop_tools *tools = tools_for(NULL);

    CHECK_STR(text(tools, "bash", "{\"command\":\"pwd\",\"directory\":\"/tmp\"}", false), "/tmp\n");
    CHECK(has(text(tools, "bash", "{\"command\":\"pwd\",\"directory\":\"nowhere\"}", true),
              "start in the directory 'nowhere': No such file or directory"));
    coop_tools_free(tools);
}

TEST(what_it_did_is_told_to_programs_too)
{
    NEEDS_SANDBOX();
    coop_tools *tools = tools_for(NULL);
    coop_tool_result *result = call(tools, "bash", "{\"command\":\"echo a; exit 3\"}");
    size_t n = 0;
    const char *structured = coop_tool_result_structured(result, &n);
    auto_json_document struct json_document document = { 0 };

    CHECK(structured);
    CHECK(json_read(structured, n, &document, NULL) == 0);
    CHECK_STR(json_get(document.root, "exit_code")->text, "3");
    CHECK_STR(json_get(document.root, "output")->text, "a\n");
    CHECK_STR(json_get(document.root, "tier")->text, "full");
    CHECK(!json_get(document.root, "timed_out")->truth);
    CHECK(!json_get(document.root, "truncated")->truth);
    coop_tool_result_free(result);
    coop_tools_free(tools);
}

TEST(a_timeout_ends_it_and_says_so)
{
    NEEDS_SANDBOX();
    coop_tools *tools = tools_for(NULL);

    CHECK(has(
        text(tools, "bash", "{\"command\":\"echo begun; sleep 100\",\"timeout_seconds\":1}", true),
        "timed out after 1 s"));
    coop_tools_free(tools);
    tools = tools_with("timeout = \"1s\"");
    CHECK(has(bash_fails(tools, "sleep 100"), "timed out after 1 s"));
    coop_tools_free(tools);
}

TEST(what_the_sandbox_refused_is_told)
{
    NEEDS_SANDBOX();
    coop_tools *tools = tools_for(NULL);

    CHECK(has(bash_fails(tools, "unshare -m true"), "[the sandbox refused: unshare"));
    coop_tools_free(tools);
}

TEST(secrets_do_not_show)
{
    NEEDS_SANDBOX();
    make_world();
    write_text(config, path_of("[sandbox]\nenabled = true\n[memory]\ndirectory = \"%s/memory\"\n"
                               "[[users]]\nname = \"f\"\ntrust = \"full\"\nmatch = [\"t:full\"]\n"
                               "[secrets.token]\nvalue = \"hush-hush-value\"\nusers = [\"f\"]\n",
                               top));
    CHECK(chmod(config, 0600) == 0);
    coop_tools *tools = tools_for("t:full");
    CHECK_STR(bash(tools, "echo $TOKEN; echo ${#TOKEN} >&2"), "[secret token]\n15\n");
    coop_tools_free(tools);
    configure("true", "");
}

/* ---- long output */

TEST(of_long_output_the_end_is_shown_and_the_whole_is_kept)
{
    NEEDS_SANDBOX();
    coop_tools *tools = tools_for(NULL);
    const char *said = bash(tools, "seq 1 10000");

    CHECK(strncmp(said, "8001\n", 5) == 0);
    CHECK(has(said, "\n10000\n[cut: the first 8,000 lines"));
    CHECK(has(said, "[the whole output is in /tmp/output-1.txt"));
    CHECK_STR(bash(tools, "seq 1 10000 | cmp - /tmp/output-1.txt && rm /tmp/output-1.txt"),
              "(no output)");
    /* One line that is too long, and what a command put in the way. */
    said = bash(tools, "ln -s /work/a.txt /tmp/output-2.txt; mkdir /tmp/output-3.txt; "
                       "head -c 60000 /dev/zero | tr '\\\\0' x");
    CHECK(has(said, "[the whole output is in /tmp/output-4.txt"));
    CHECK_STR(bash(tools, "wc -c < /tmp/output-4.txt; cat a.txt"), "60000\nin the workspace\n");
    coop_tools_free(tools);
}

TEST(where_the_tmp_is_full_it_is_said)
{
    NEEDS_SANDBOX();
    coop_tools *tools = tools_with("tmp_size = \"64k\"");
    const char *said = bash(tools, "seq 1 100000");

    CHECK(has(said, "[only the first "));
    CHECK(has(said, "No space left on device]"));
    CHECK(has(said, "\n100000\n"));
    coop_tools_free(tools);
}

TEST(where_nothing_can_be_kept_it_is_said)
{
    NEEDS_SANDBOX();
    coop_tools *tools =
        tools_with(path_of("mounts = [{ source = \"%s\", target = \"/tmp/m\" }]", beside));
    const char *said = bash(tools, "seq 1 10000");

    CHECK(has(said, "[the whole output was not kept: the policy mounts something in /tmp"));
    CHECK_STR(bash(tools, "cat /tmp/m; touch /tmp/x; ls /tmp"), "of the host\nm\nx\n");
    CHECK_STR(bash(tools, "ls /tmp"), "m\n");
    coop_tools_free(tools);
    tools = tools_for("t:owner");
    CHECK(has(bash(tools, "seq 1 10000"), "[the whole output was not kept: the command ran on"));
    coop_tools_free(tools);
}

/* ---- the /tmp that is kept */

TEST(the_tmp_outlives_a_command_and_not_the_tools)
{
    NEEDS_SANDBOX();
    coop_tools *tools = tools_for(NULL);

    CHECK_STR(bash(tools, "echo kept > /tmp/x; echo gone > /run/shm/y"), "(no output)");
    CHECK_STR(bash(tools, "cat /tmp/x /var/tmp/x; ls /run/shm; stat -c %a /tmp"),
              "kept\nkept\n1777\n");
    CHECK(access("/tmp/x", F_OK) < 0 || !"the host's");
    coop_tools_free(tools);
    tools = tools_for(NULL);
    CHECK_STR(bash(tools, "ls -A /tmp"), "(no output)");
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
    struct stat st;
    if (chown(workspace, 1234, 4321) != 0)
        SKIP_NEVER("only real root has more rights");
    write_text(path_of("%s/roots", workspace), "of root alone\n");
    CHECK(chmod(path_of("%s/roots", workspace), 0600) == 0);
    CHECK(chmod(top, 0755) == 0);
    coop_tools *tools = tools_for(NULL);
    CHECK(has(bash_fails(tools, "cat roots"), "Permission denied"));
    (void)text(tools, "read_file", "{\"path\":\"roots\"}", true);
    (void)text(tools, "write_file", "{\"path\":\"theirs\",\"content\":\"x\"}", false);
    CHECK(stat(path_of("%s/theirs", workspace), &st) == 0);
    CHECK(st.st_uid == 1234 && st.st_gid == 4321);
    CHECK_STR(bash(tools, "echo y >> theirs; cat theirs"), "xy\n");
    (void)text(tools, "write_file", "{\"path\":\"/tmp/t\",\"content\":\"x\"}", false);
    CHECK_STR(bash(tools, "echo y >> /tmp/t; cat /tmp/t; rm /tmp/t theirs"), "xy\n");
    CHECK(geteuid() == 0 && access(path_of("%s/roots", workspace), R_OK) == 0);
    coop_tools_free(tools);
    CHECK(unlink(path_of("%s/roots", workspace)) == 0);
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
    (void)text(tools, "write_file", "{\"path\":\"/tmp/out\",\"content\":\"x\"}", true);
    CHECK_STR(bash(tools, "cat a.txt"), "in the workspace\n");
    CHECK(system(path_of("grep -qx 'of the host' '%s'", beside)) == 0);
    coop_tools_free(tools);
}

/* ---- several at once, and ending one */

struct one_call {
    coop_tools *tools;
    char arguments[256];
    coop_tool_result *result;
    pthread_t thread;
    unsigned number;
    const coop_execute_options *options;
};

static void *run_call(void *argument)
{
    struct one_call *one = argument;

    (void)coop_execute(one->tools, "bash", one->arguments, strlen(one->arguments), one->options,
                       &one->result, NULL);
    return NULL;
}

static void start_call(struct one_call *one, coop_tools *tools, const char *command)
{
    *one = (struct one_call){ .tools = tools, .options = one->options };
    (void)snprintf(one->arguments, sizeof one->arguments,
                   "{\"command\":\"%s\",\"timeout_seconds\":60}", command);
    CHECK(pthread_create(&one->thread, NULL, run_call, one) == 0);
}

/* Each waits for the other through the /tmp that they share. */
TEST(commands_run_side_by_side)
{
    NEEDS_SANDBOX();
    coop_tools *tools = tools_for(NULL);
    struct one_call calls[2] = { 0 };

    CHECK_STR(bash(tools, "mkfifo /tmp/a /tmp/b"), "(no output)");
    start_call(&calls[0], tools, "echo one > /tmp/a; cat /tmp/b");
    start_call(&calls[1], tools, "cat /tmp/a; echo two > /tmp/b");
    for (size_t i = 0; i < COUNT(calls); i++)
        CHECK(pthread_join(calls[i].thread, NULL) == 0);
    CHECK(calls[0].result && calls[1].result);
    CHECK_STR(coop_tool_result_text(calls[0].result, NULL), "two\n");
    CHECK_STR(coop_tool_result_text(calls[1].result, NULL), "one\n");
    for (size_t i = 0; i < COUNT(calls); i++)
        coop_tool_result_free(calls[i].result);
    coop_tools_free(tools);
}

TEST(a_slow_command_keeps_nobody_from_reading)
{
    NEEDS_SANDBOX();
    coop_tools *tools = tools_for(NULL);
    struct one_call slow = { 0 };

    (void)bash(tools, "mkfifo /tmp/a");
    start_call(&slow, tools, "cat /tmp/a");
    CHECK(has(text(tools, "read_file", "{\"path\":\"a.txt\"}", false), "in the workspace"));
    (void)bash(tools, "echo done > /tmp/a");
    CHECK(pthread_join(slow.thread, NULL) == 0);
    CHECK_STR(coop_tool_result_text(slow.result, NULL), "done\n");
    coop_tool_result_free(slow.result);
    coop_tools_free(tools);
}

#define N_THREADS 6
#define N_ROUNDS  5

static void *run_rounds(void *argument)
{
    struct one_call *one = argument;
    unsigned long *bad = calloc(1, sizeof *bad);

    for (unsigned i = 0; bad && i < N_ROUNDS; i++) {
        char command[128];
        char expected[64];
        coop_tool_result *result = NULL;

        (void)snprintf(expected, sizeof expected, "%u.%u\n", one->number, i);
        (void)snprintf(command, sizeof command,
                       "{\"command\":\"echo %u.%u > /tmp/%u; cat /tmp/%u\"}", one->number, i,
                       one->number, one->number);
        if (coop_execute(one->tools, "bash", command, strlen(command), NULL, &result, NULL) < 0 ||
            strcmp(coop_tool_result_text(result, NULL), expected) != 0)
            ++*bad;
        coop_tool_result_free(result);
    }
    return bad;
}

TEST(many_threads_use_one_set_of_tools)
{
    NEEDS_SANDBOX();
    coop_tools *tools = tools_for(NULL);
    struct one_call calls[N_THREADS] = { 0 };

    for (unsigned i = 0; i < N_THREADS; i++) {
        calls[i] = (struct one_call){ .tools = tools, .number = i };
        CHECK(pthread_create(&calls[i].thread, NULL, run_rounds, &calls[i]) == 0);
    }
    unsigned long all_bad = 0;
    for (size_t i = 0; i < N_THREADS; i++) {
        unsigned long *bad = NULL;

        CHECK(pthread_join(calls[i].thread, (void **)&bad) == 0);
        all_bad += bad ? *bad : 1;
        free(bad);
    }
    CHECK(all_bad == 0);
    coop_tools_free(tools);
}

static void cancel_when_heard(void *context, const char *bytes, size_t n)
{
    const uint64_t one = 1;
    int fd = *(int *)context;

    if (n > 0 && bytes[0] == 'b')
        CHECK(write(fd, &one, sizeof one) == sizeof one);
}

TEST(a_call_can_be_cancelled_while_its_output_comes)
{
    NEEDS_SANDBOX();
    coop_tools *tools = tools_for(NULL);
    int fd = eventfd(0, EFD_CLOEXEC);
    const coop_execute_options options = { .size = sizeof options,
                                           .can_cancel = true,
                                           .cancel_fd = fd,
                                           .on_progress = cancel_when_heard,
                                           .context = &fd };

    CHECK(fd >= 0);
    call_options = &options;
    const char *said = bash_fails(tools, "echo begun; sleep 1000 & wait");
    call_options = NULL;
    CHECK(has(said, "cancelled: "));
    CHECK(has(said, "begun\n"));
    (void)close(fd);
    CHECK_STR(bash(tools, "echo well"), "well\n");
    coop_tools_free(tools);
}

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
              "may not begin with '-'"));
    CHECK(has(text(tools, "git_log", "{" IN_REPO ",\"revision\":\"-p\"}", true),
              "may not begin with '-'"));
    (void)bash(tools, "touch repo/file");
    /* Behind `--` it is a path, and a pattern is its own letters. */
    CHECK(has(text(tools, "git_stage", "{" IN_REPO ",\"paths\":[\"--force\"]}", true),
              "pathspec '--force' did not match"));
    CHECK(has(text(tools, "git_stage", "{" IN_REPO ",\"paths\":[\"*\"]}", true),
              "pathspec '*' did not match"));
    CHECK(has(
        text(tools, "git_commit", "{" IN_REPO ",\"message\":\"m\",\"author\":\"nobody\"}", true),
        "must be written 'Name <"));
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

/* ---- for programs */

static const struct {
    const char *tool, *arguments;
} day[] = {
    { "bash", "{\"command\":\"mkdir day; cd day; git init -q -b main .; git config user.name N; "
              "git config user.email n@m.example\"}" },
    { "write_file", "{\"path\":\"day/a.c\",\"content\":\"int a;\\n\"}" },
    { "read_file", "{\"path\":\"day/a.c\"}" },
    { "edit_file",
      "{\"path\":\"/work/day/a.c\",\"edits\":[{\"old_text\":\"a;\",\"new_text\":\"b;\"}]}" },
    { "list_dir", "{\"path\":\"day\"}" },
    { "glob", "{\"pattern\":\"*.c\",\"path\":\"day\"}" },
    { "grep", "{\"pattern\":\"int\",\"path\":\"day\"}" },
    { "stat", "{\"path\":\"day/a.c\"}" },
    { "make_dir", "{\"path\":\"day/d\"}" },
    { "move", "{\"source\":\"day/a.c\",\"destination\":\"day/d/a.c\"}" },
    { "symlink", "{\"target\":\"d/a.c\",\"path\":\"day/l\"}" },
    { "git_status", "{\"directory\":\"day\"}" },
    { "git_stage", "{\"directory\":\"day\",\"paths\":[\"/work/day/d/a.c\"]}" },
    { "git_diff", "{\"directory\":\"day\",\"staged\":true}" },
    { "git_commit", "{\"directory\":\"day\",\"message\":\"a\"}" },
    { "git_log", "{\"directory\":\"day\"}" },
    { "bash", "{\"command\":\"git init -q --bare /tmp/far\"}" },
    { "git_push", "{\"directory\":\"day\",\"branch\":\"main\",\"remote\":\"/tmp/far\"}" },
    { "remove", "{\"path\":\"day\",\"recursive\":true}" },
};

static bool is_in_day(const char *tool)
{
    for (size_t i = 0; i < COUNT(day); i++)
        if (strcmp(day[i].tool, tool) == 0)
            return true;
    return false;
}

TEST(what_every_tool_answers_fits_its_schema)
{
    NEEDS_SANDBOX();
    coop_tools *tools = tools_with("network = \"host\"");

    for (size_t i = 0; tool_row(i); i++)
        CHECK(is_in_day(tool_row(i)->face.name));
    for (size_t i = 0; i < COUNT(day); i++) {
        auto_json_document struct json_document document = { 0 };
        auto_json_document struct json_document schema = { 0 };
        auto_error coop_error *err = NULL;
        size_t row = 0;
        size_t n = 0;

        CHECK(tool_find(day[i].tool, &row));
        const char *output_schema = coop_tool_at(row)->output_schema;
        coop_tool_result *result = call(tools, day[i].tool, day[i].arguments);
        const char *structured = coop_tool_result_structured(result, &n);
        if (coop_tool_result_is_error(result))
            printf("# %s: %s\n", day[i].tool, coop_tool_result_text(result, NULL));
        CHECK(!coop_tool_result_is_error(result));
        CHECK(coop_tool_result_text(result, NULL)[0]);
        CHECK(structured && json_read(structured, n, &document, NULL) == 0);
        CHECK(json_read(output_schema, strlen(output_schema), &schema, NULL) == 0);
        if (arguments_check(day[i].tool, schema.root, document.root, &err) < 0)
            printf("# %s: %s\n", coop_error_message(err), structured);
        CHECK(!err);
        coop_tool_result_free(result);
    }
    coop_tools_free(tools);
}

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
    CHECK(has(bash_fails(tools, "true"), "can be held to one of them only"));
    coop_tools_free(tools);
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
