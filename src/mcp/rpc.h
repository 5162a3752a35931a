/*
 * rpc.h - JSON-RPC 2.0: what a message is, and how answers are written
 *
 *   rpc_classify(value, &message)     a request, a notification, an answer, or why it is none
 *
 *   rpc_result_begin(&out, id);       the result itself is appended to `out` by whoever knows it
 *   rpc_end(&out);
 */
#pragma once

#include "base/buffer.h"
#include "base/json/read.h"
#include "base/json/write.h"

enum rpc_code {
    RPC_PARSE_ERROR = -32700,
    RPC_INVALID_REQUEST = -32600,
    RPC_NO_METHOD = -32601,
    RPC_INVALID_PARAMS = -32602,
    RPC_INTERNAL = -32603,
    RPC_BUSY = -32000,       /* of the range that is the server's own */
    RPC_NO_RESOURCE = -32002 /* given by MCP */
};

enum rpc_kind { RPC_REQUEST, RPC_NOTIFICATION, RPC_REPLY, RPC_INVALID };

/* Borrowed from the document. */
struct rpc_message {
    enum rpc_kind kind;
    const struct json_value *id; /* of an invalid one too, where it has one that can be answered */
    const char *method;
    const struct json_value *params; /* an object; NULL: not given */
    const struct json_value *result; /* of a reply; NULL: it is an error */
    enum rpc_code code;              /* of an invalid one */
    const char *problem;
};

void rpc_classify(const struct json_value *value, struct rpc_message *out);

/* The id of a request that json_read() refuses, so that whoever waits for an answer gets it: an object
 * as far as brackets and quotes go, with one 'id' and a 'method'. Empty: there is none to be seen. */
void rpc_find_id(const char *text, size_t n, struct json_document *out);

/* Texts or numbers, and the same characters. NULL equals nothing. */
bool rpc_same_id(const struct json_value *a, const struct json_value *b);

/* Messages without a newline in them. `id` NULL is written as null. */
void rpc_result_begin(struct buffer *out, const struct json_value *id);
void rpc_notification_begin(struct buffer *out, const char *method); /* its params come next */
void rpc_request_begin(struct buffer *out, const char *id, const char *method);
void rpc_end(struct buffer *out);
/* `data`: JSON that goes with it; NULL: none. */
void rpc_error(struct buffer *out, const struct json_value *id, enum rpc_code code,
               const char *message, const char *data);
