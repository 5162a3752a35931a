/*
 * rpc_fuzz.c - any bytes as a message
 *
 * Rules: it is of one sort, what that sort has is there, and every answer to it is one line of JSON
 * with the same id.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "mcp/rpc.h"

#define REQUIRE(condition) \
    do {                   \
        if (!(condition))  \
            abort();       \
    } while (0)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_answer(struct buffer *answer, const struct json_value *id)
{
    struct json_document document;

    REQUIRE(!answer->failed && !memchr(answer->data, '\n', answer->length));
    REQUIRE(json_read(answer->data, answer->length, &document, NULL) == 0);
    const struct json_value *echoed = json_get(document.root, "id");
    REQUIRE(echoed && (id ? rpc_same_id(echoed, id) : echoed->kind == JSON_NULL));
    json_document_done(&document);
    buffer_done(answer);
}

static void fuzz_message(const struct json_value *value)
{
    struct rpc_message message;
    struct buffer answer = { 0 };

    rpc_classify(value, &message);
    switch (message.kind) {
    case RPC_REQUEST:
        REQUIRE(message.id && message.method);
        break;
    case RPC_NOTIFICATION:
        REQUIRE(!message.id && message.method);
        break;
    case RPC_REPLY:
        REQUIRE(!message.method && (message.id || !message.result));
        break;
    case RPC_INVALID:
        REQUIRE(message.problem && message.code);
        break;
    }
    REQUIRE(message.kind == RPC_INVALID || !message.params || message.params->kind == JSON_OBJECT ||
            message.kind == RPC_REPLY);
    rpc_error(&answer, message.id, RPC_INTERNAL, message.method ? message.method : "none", NULL);
    check_answer(&answer, message.id);
    rpc_result_begin(&answer, message.id);
    buffer_append_string(&answer, "{}");
    rpc_end(&answer);
    check_answer(&answer, message.id);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct json_document document;

    if (json_read((const char *)data, size, &document, NULL) < 0) {
        struct buffer answer = { 0 };

        rpc_find_id((const char *)data, size, &document);
        rpc_error(&answer, document.root, RPC_PARSE_ERROR, "no JSON", NULL);
        check_answer(&answer, document.root);
        json_document_done(&document);
        return 0;
    }
    fuzz_message(document.root);
    if (document.root->kind == JSON_ARRAY)
        for (const struct json_value *item = document.root->first; item; item = item->next)
            fuzz_message(item);
    json_document_done(&document);
    return 0;
}
