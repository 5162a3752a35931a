/*
 * tools_set.h - a set of tools, as a program uses it, in a workspace with a configuration of everybody
 *
 *   coop_tools *tools = tools_for("t:inner");     owner, full, inner, familiar, stranger; NULL: nobody
 *   CHECK(has(text(tools, "stat", "{\"path\":\"a.txt\"}", false), "type: file"));
 *   coop_tools_free(tools);
 */
#pragma once

#include <fcntl.h>
#include <stdarg.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/json/read.h"
#include "coop/coop.h"
#include "test/check.h"

/* ---- a world: a workspace, a directory beside it, and a configuration of everybody */

static char top[512];
static char workspace[600], beside[600], config[600];

__attribute__((unused)) static void write_text(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");

    CHECK(file);
    CHECK(fputs(text, file) >= 0);
    CHECK(fclose(file) == 0);
}

__attribute__((format(printf, 1, 2))) static const char *path_of(const char *format, ...)
{
    static char paths[8][2048];
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
__attribute__((unused)) static void configure(const char *enabled, const char *more)
{
    write_text(config, path_of("[sandbox]\nenabled = %s\n%s\n[memory]\ndirectory = \"%s/memory\"\n",
                               enabled, more, top));
    FILE *file = fopen(config, "a");
    CHECK(file);
    CHECK(fputs(PEOPLE, file) >= 0);
    CHECK(fclose(file) == 0);
}

__attribute__((unused)) static void make_world(void)
{
    if (top[0])
        return;
    CHECK(mkdtemp(check_temporary(top, sizeof top, "tools")));
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

__attribute__((unused)) static coop_tools *tools_for_context(coop_tools_context context)
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

__attribute__((unused)) static coop_tools *tools_for(const char *identity)
{
    make_world();
    return tools_for_context((coop_tools_context){ .identity = identity });
}

__attribute__((unused)) static coop_tools *tools_with(const char *more)
{
    make_world();
    configure("true", more);
    coop_tools *tools = tools_for("t:full");
    configure("true", "");
    return tools;
}

/* ---- calls; results live until the test is over */

static const coop_execute_options *call_options;

__attribute__((unused)) static coop_tool_result *call(coop_tools *tools, const char *tool,
                                                      const char *arguments)
{
    auto_error coop_error *err = NULL;
    coop_tool_result *result = NULL;

    if (coop_execute(tools, tool, arguments, strlen(arguments), call_options, &result, &err) < 0)
        printf("# %s: %s\n", tool, coop_error_message(err));
    CHECK(result);
    return result;
}

/* What a tool said, for a moment; `error` is what must hold of it. */
__attribute__((unused)) static const char *text(coop_tools *tools, const char *tool,
                                                const char *arguments, bool error)
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

__attribute__((unused)) static const char *bash(coop_tools *tools, const char *command)
{
    return text(tools, "bash", path_of("{\"command\":\"%s\"}", command), false);
}

__attribute__((unused)) static const char *bash_fails(coop_tools *tools, const char *command)
{
    return text(tools, "bash", path_of("{\"command\":\"%s\"}", command), true);
}

__attribute__((unused)) static bool has(const char *said, const char *words)
{
    if (!strstr(said, words))
        printf("# not in it: '%s'\n# it is: %.600s\n", words, said);
    return strstr(said, words) != NULL;
}

__attribute__((unused)) static bool has_sandbox(void)
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
