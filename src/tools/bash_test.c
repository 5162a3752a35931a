#include <pthread.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include "test/tools_set.h"
#include "tools/tools.h"

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
    const struct json_value *records = json_get(document.root, "records");
    const struct json_value *not_watched = records ? json_get(records, "not_watched") : NULL;
    CHECK(not_watched && !json_get(not_watched, "syscall"));
    for (const struct json_value *why = not_watched ? not_watched->first : NULL; why;
         why = why->next)
        CHECK(why->text && *why->text);
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

TEST(a_session_has_an_end)
{
    NEEDS_SANDBOX();
    coop_tools *tools = tools_with("session_timeout = '1h'");

    CHECK(tools->shared->began_ms == 0); /* nobody has called */
    (void)text(tools, "read_file", "{\"path\":\"a.txt\"}", false);
    CHECK(tools->shared->began_ms != 0);
    tools->shared->began_ms -= 3600 * 1000 - 1000;
    CHECK(has(bash_fails(tools, "sleep 100"), "the session ends then"));
    const char *said = text(tools, "read_file", "{\"path\":\"a.txt\"}", true);
    CHECK(has(said, "the session is over: it was limited to 1h (sandbox.session_timeout, "));
    CHECK(has(said, "coop.toml:3:"));

    /* Others that take their place do not begin anew; those of another session do. */
    configure("true", "session_timeout = '1h'");
    coop_tools *next = tools_for_context((coop_tools_context){ .before = tools });
    coop_tools *other = tools_for_context((coop_tools_context){ 0 });
    configure("true", "");
    CHECK(has(bash_fails(next, "true"), "the session is over"));
    (void)text(other, "read_file", "{\"path\":\"a.txt\"}", false);
    coop_tools_free(other);
    coop_tools_free(next);
    coop_tools_free(tools);
}

TEST(what_the_sandbox_refused_is_told)
{
    NEEDS_SANDBOX();
    coop_tools *tools = tools_for(NULL);

    CHECK(has(bash_fails(tools, "unshare -m true"), "[denied by the sandbox: syscall unshare"));
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
    CHECK(has(said, "[the full output is in /tmp/output-1.txt"));
    CHECK_STR(bash(tools, "seq 1 10000 | cmp - /tmp/output-1.txt && rm /tmp/output-1.txt"),
              "(no output)");
    /* One line that is too long, and what a command put in the way. */
    said = bash(tools, "ln -s /work/a.txt /tmp/output-2.txt; mkdir /tmp/output-3.txt; "
                       "head -c 60000 /dev/zero | tr '\\\\0' x");
    CHECK(has(said, "[the full output is in /tmp/output-4.txt"));
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

    CHECK(has(said, "[the full output was not kept: the policy mounts something in /tmp"));
    CHECK_STR(bash(tools, "cat /tmp/m; touch /tmp/x; ls /tmp"), "of the host\nm\nx\n");
    CHECK_STR(bash(tools, "ls /tmp"), "m\n");
    coop_tools_free(tools);
    tools = tools_for("t:owner");
    CHECK(has(bash(tools, "seq 1 10000"), "[the full output was not kept: the command ran on"));
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
