#include <errno.h>
#include <unistd.h>

#include "test/tools_set.h"
#include "tools/arguments.h"
#include "tools/tools.h"

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
            CHECK(has(said, may ? "'nonsense' is not an argument" : "is refused"));
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
    CHECK(has(said, "the identity is unknown"));
    CHECK(has(said, "no tool is available"));
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

/* The gate of trust is the same without a sandbox; only the box is not there. */
static void check_without_boxes(void)
{
    for (size_t level = 1; level < COUNT(levels); level++) {
        coop_tools *tools = tools_for(levels[level].identity);

        CHECK_STR(coop_tools_level(tools), levels[level].level);
        CHECK(coop_tools_on_host(tools) == levels[level].commands);
        for (size_t i = 0; tool_row(i); i++) {
            bool want =
                tool_row(i)->need == TOOL_ALL ? levels[level].all : expects(level, tool_row(i));

            CHECK(coop_tools_may(tools, coop_tool_at(i)->name, NULL) == want);
        }
        coop_tools_free(tools);
    }
    coop_tools *tools = tools_for("t:inner");
    CHECK_STR(bash(tools, path_of("cat %s", beside)), "of the host\n");
    coop_tools_free(tools);
    tools = tools_for("t:familiar");
    text(tools, "read_file", path_of("{\"path\":\"%s\"}", beside), true);
    CHECK(has(bash_fails(tools, "true"), "fay has the trust 'familiar'"));
    CHECK_STR(coop_tools_workspace(tools), "/work");
    coop_tools_free(tools);
    tools = tools_for("t:stranger");
    CHECK(has(bash_fails(tools, "true"), "no tool is available"));
    coop_tools_free(tools);
}

TEST(without_a_sandbox_trust_holds_as_well)
{
    make_world();
    configure("false", "");
    coop_tools *tools = tools_for("t:full");
    CHECK(has(coop_tools_banner(tools), "disabled"));
    coop_tools_free(tools);
    check_without_boxes();
    configure("true", "mode = \"disabled\"");
    check_without_boxes();
    configure("true", "");
}

static bool resolves_to(coop_tools *tools, const char *path, const char *host)
{
    auto_free char *found = NULL;
    int r = coop_tools_resolve(tools, path, &found, NULL);

    if (r < 0 || !host)
        return r < 0 && !host;
    if (strcmp(found, host) != 0)
        printf("# '%s' is '%s'\n", path, found);
    return strcmp(found, host) == 0;
}

TEST(paths_are_found_and_judged_as_the_file_tools_do)
{
    make_world();
    configure("true", "");
    write_text(path_of("%s/plain.txt", workspace), "x");
    write_text(path_of("%s/.env", workspace), "KEY=1");
    coop_tools *tools = tools_for("t:inner");
    CHECK(resolves_to(tools, "plain.txt", path_of("%s/plain.txt", workspace)));
    CHECK(resolves_to(tools, "/work/../work/plain.txt", path_of("%s/plain.txt", workspace)));
    CHECK(resolves_to(tools, "/work", workspace));
    CHECK(resolves_to(tools, "/usr/bin", "/usr/bin"));
    CHECK(resolves_to(tools, "/memory/social", path_of("%s/memory/social", top)));
    CHECK(resolves_to(tools, ".env", NULL) && resolves_to(tools, "none", NULL));
    CHECK(resolves_to(tools, beside, NULL) && resolves_to(tools, "/memory/private", NULL));
    CHECK(coop_tools_can_read(tools, "plain.txt") && coop_tools_can_write(tools, "plain.txt"));
    CHECK(coop_tools_can_write(tools, "new") && !coop_tools_can_read(tools, "new"));
    CHECK(!coop_tools_can_read(tools, ".env") && !coop_tools_can_write(tools, ".env"));
    CHECK(!coop_tools_can_write(tools, ".git/hooks/pre-commit"));
    CHECK(!coop_tools_can_read(tools, beside) && !coop_tools_can_write(tools, beside));
    CHECK(!coop_tools_can_write(tools, "/usr/bin/new"));
    CHECK(!coop_tools_can_read(tools, NULL) && !coop_tools_can_read(NULL, "x"));
    coop_tools_free(tools);
    tools = tools_for("t:familiar");
    CHECK(coop_tools_can_read(tools, "plain.txt") && !coop_tools_can_write(tools, "plain.txt"));
    coop_tools_free(tools);
    tools = tools_for("t:stranger");
    CHECK(!coop_tools_can_read(tools, "plain.txt") && resolves_to(tools, "plain.txt", NULL));
    coop_tools_free(tools);
    tools = tools_for("t:owner");
    CHECK(resolves_to(tools, beside, beside) && coop_tools_can_read(tools, beside));
    CHECK_STR(coop_tools_memory(tools), path_of("%s/memory", top));
    coop_tools_free(tools);
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
        { "bsh", "{}", "unknown tool 'bsh'" },
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
    { "bash", "{\"command\":\"cat; echo over\",\"background\":true}" },
    { "job_input", "{\"job\":1,\"input\":\"fed\\n\",\"end\":true}" },
    { "job_output", "{\"job\":1,\"wait_for\":\"over\"}" },
    { "bash", "{\"command\":\"cd /tmp; echo $PWD\",\"shell\":\"a\"}" },
    { "jobs", "{}" },
    { "job_stop", "{\"job\":2}" },
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
