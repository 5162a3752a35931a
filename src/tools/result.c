/*
 * result.c - what a tool answered
 */
#include "result.h"

#include <stdlib.h>

struct coop_tool_result {
    struct tool_reply reply;
};

void reply_done(struct tool_reply *reply)
{
    buffer_done(&reply->text);
    buffer_done(&reply->data);
    buffer_done(&reply->structured);
}

coop_tool_result *result_of(struct tool_reply *reply)
{
    coop_tool_result *result = NULL;

    if (!reply->text.failed && !reply->data.failed && !reply->structured.failed)
        result = calloc(1, sizeof *result);
    if (!result)
        return NULL;
    result->reply = *reply;
    *reply = (struct tool_reply){ 0 };
    return result;
}

void coop_tool_result_free(coop_tool_result *result)
{
    if (!result)
        return;
    reply_done(&result->reply);
    free(result);
}

bool coop_tool_result_is_error(const coop_tool_result *result)
{
    return result->reply.is_error;
}

const char *coop_tool_result_text(const coop_tool_result *result, size_t *length)
{
    const struct buffer *text = &result->reply.text;

    if (length)
        *length = text->length;
    return text->data ? text->data : "";
}

const char *coop_tool_result_data(const coop_tool_result *result, size_t *length,
                                  const char **mime_type)
{
    const struct buffer *data = &result->reply.data;

    if (data->length == 0)
        return NULL;
    if (length)
        *length = data->length;
    if (mime_type)
        *mime_type = result->reply.mime_type;
    return data->data;
}

const char *coop_tool_result_structured(const coop_tool_result *result, size_t *length)
{
    const struct buffer *structured = &result->reply.structured;

    if (structured->length == 0)
        return NULL;
    if (length)
        *length = structured->length;
    return structured->data;
}
