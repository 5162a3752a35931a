/*
 * tool_call.h - one call of a tool, without the executor: its function, its places, its arguments
 *
 *   CHECK(call(tool_read_file, "{\"path\": \"a\"}") == 0);
 *   CHECK_STR(call_text(), "...");
 */
#pragma once

#include "base/json/read.h"
#include "test/tool_world.h"
#include "tools/tool.h"

static struct tool_reply call_reply;
static char *call_error; /* the message, where it failed */

static void call_forget(void)
{
    buffer_done(&call_reply.text);
    buffer_done(&call_reply.data);
    buffer_done(&call_reply.structured);
    call_reply = (struct tool_reply){ 0 };
    free(call_error);
    call_error = NULL;
}

/* 0 or -errno; what it said is in call_reply or call_error. */
static int call(tool_fn *tool, const char *arguments)
{
    static const coop_execute_options options = { .size = sizeof options };
    struct json_document document;
    coop_error *err = NULL;

    call_forget();
    int r = json_read(arguments, strlen(arguments), &document, &err);
    if (r < 0)
        printf("# %s\n", coop_error_message(err));
    CHECK(r == 0);
    struct tool_call one = { .places = world_places,
                             .arguments = document.root,
                             .options = &options,
                             .reply = &call_reply };
    r = tool(&one, &err);
    call_error = strdup(err ? coop_error_message(err) : "");
    json_document_done(&document);
    coop_error_free(err);
    CHECK((r < 0) == (*call_error != '\0'));
    return r;
}

__attribute__((unused)) static const char *call_text(void)
{
    return call_reply.text.data ? call_reply.text.data : "";
}

__attribute__((unused)) static bool call_facts(const char *part)
{
    const char *text = call_reply.structured.data;
    bool has = text && strstr(text, part);

    if (!has)
        printf("# '%s' is not in %s\n", part, text ? text : "(nothing)");
    return has;
}

__attribute__((unused)) static bool call_said(const char *part)
{
    bool has = call_error && strstr(call_error, part);

    if (!has)
        printf("# '%s' is not in '%s'\n", part, call_error ? call_error : "");
    return has;
}
