/*
 * content.h - the result of a tool as the protocol says it
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/buffer.h"
#include "mcp/revision.h"

/* All borrowed; what is not there is NULL. */
struct content {
    const char *text;
    size_t n_text;
    const char *data; /* base64 */
    size_t n_data;
    const char *mime_type;  /* of the data */
    const char *uri;        /* of data that is neither picture nor sound */
    const char *structured; /* a JSON object */
    size_t n_structured;
    bool repeats_text; /* instead: the object has the text once more, as "content" */
    bool is_error;
};

void content_write(struct buffer *out, const struct revision *revision,
                   const struct content *content);
