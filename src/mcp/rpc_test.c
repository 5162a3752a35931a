/* worlds: user */
#include "mcp/rpc.h"

#include "test/check.h"

static struct json_document document;

static struct rpc_message classified(const char *text)
{
    struct rpc_message message = { .problem = "not JSON" };

    json_document_done(&document);
    if (json_read(text, strlen(text), &document, NULL) == 0)
        rpc_classify(document.root, &message);
    return message;
}

TEST(tells_the_sorts_of_messages_apart)
{
    struct rpc_message message =
        classified("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"params\":{}}");

    CHECK(message.kind == RPC_REQUEST && message.params);
    CHECK_STR(message.method, "ping");
    CHECK(classified("{\"jsonrpc\":\"2.0\",\"method\":\"x\"}").kind == RPC_NOTIFICATION);
    message = classified("{\"jsonrpc\":\"2.0\",\"id\":\"a\",\"result\":{}}");
    CHECK(message.kind == RPC_REPLY && message.result);
    message = classified("{\"jsonrpc\":\"2.0\",\"id\":\"a\",\"error\":{}}");
    CHECK(message.kind == RPC_REPLY && !message.result);
    CHECK(classified("{\"jsonrpc\":\"2.0\",\"error\":{}}").kind == RPC_REPLY);
    json_document_done(&document);
}

static const char *found(const char *text)
{
    json_document_done(&document);
    rpc_find_id(text, strlen(text), &document);
    return document.root ? document.root->text : "none";
}

TEST(finds_the_id_of_what_cannot_be_read)
{
    static const struct {
        const char *text, *id;
    } messages[] = {
        { "{\"id\":7,\"method\":\"x\",\"params\":{\"a\":\"\\u0000\"}}", "7" },
        { "{\"params\":{\"id\":1,\"a\":[\"}\\\"\\ud800\"]}, \"id\" : \"a b\" ,\"method\":\"x\"} ",
          "a b" },
        { "{\"id\":7,\"method\":\"\\u0000\"}", "7" },
        { "{\"id\":7,\"a\":1,\"a\":2,\"method\":\"x\"}", "7" },
        { "{\"id\":\"\\u0000\",\"method\":\"x\"}", "none" },
        { "{\"id\":7,\"result\":\"\\u0000\"}", "none" }, /* an answer is not answered */
        { "{\"id\":7,\"id\":8,\"method\":\"x\"}", "none" },
        { "{\"id\":[7],\"method\":\"\\u0000\"}", "none" },
        { "{\"id\":7 8,\"method\":\"x\"}", "none" },
        { "{\"id\":7,\"method\":\"x\"}}", "none" },
        { "{\"id\":7,\"method\":\"x\"", "none" },
        { "{\"id\":7,\"method\":\"x", "none" },
        { "{\"id\":7,\"method\":\"x\\", "none" },
        { "[{\"id\":7,\"method\":\"\\u0000\"}]", "none" },
        { "{", "none" },
        { "{\"", "none" },
        { "{\"id\"", "none" },
        { "{\"id\":", "none" },
        { "", "none" },
    };

    for (size_t i = 0; i < sizeof messages / sizeof *messages; i++)
        CHECK_STR(found(messages[i].text), messages[i].id);
    json_document_done(&document);
}

TEST(says_why_it_is_no_message)
{
    static const struct {
        const char *text;
        enum rpc_code code;
        bool has_id;
    } bad[] = {
        { "1", RPC_INVALID_REQUEST, false },
        { "\"x\"", RPC_INVALID_REQUEST, false },
        { "{}", RPC_INVALID_REQUEST, false },
        { "{\"id\":1,\"method\":\"x\"}", RPC_INVALID_REQUEST, true },
        { "{\"jsonrpc\":2.0,\"id\":1,\"method\":\"x\"}", RPC_INVALID_REQUEST, true },
        { "{\"jsonrpc\":\"2.0\",\"id\":1}", RPC_INVALID_REQUEST, true },
        { "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":1,\"error\":{}}", RPC_INVALID_REQUEST, true },
        { "{\"jsonrpc\":\"2.0\",\"result\":1}", RPC_INVALID_REQUEST, false },
        { "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":2}", RPC_INVALID_REQUEST, true },
        { "{\"jsonrpc\":\"2.0\",\"id\":null,\"method\":\"x\"}", RPC_INVALID_REQUEST, false },
        { "{\"jsonrpc\":\"2.0\",\"id\":[1],\"method\":\"x\"}", RPC_INVALID_REQUEST, false },
        { "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"x\",\"params\":[]}", RPC_INVALID_PARAMS,
          true },
    };

    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct rpc_message message = classified(bad[i].text);

        CHECK(message.kind == RPC_INVALID && message.problem);
        CHECK(message.code == bad[i].code);
        CHECK((message.id != NULL) == bad[i].has_id);
    }
    json_document_done(&document);
}

TEST(an_id_is_itself_only)
{
    const char *text = "[1, 1, \"1\", 1.0, \"a\", \"\\u0061\", null, null]";
    const struct json_value *v[8];
    size_t n = 0;

    CHECK(json_read(text, strlen(text), &document, NULL) == 0);
    for (const struct json_value *item = document.root->first; item; item = item->next)
        v[n++] = item;
    CHECK(rpc_same_id(v[0], v[1]));
    CHECK(!rpc_same_id(v[0], v[2]));
    CHECK(!rpc_same_id(v[0], v[3]));
    CHECK(rpc_same_id(v[4], v[5]));
    CHECK(!rpc_same_id(v[6], v[7]));
    CHECK(!rpc_same_id(v[0], NULL));
    json_document_done(&document);
}

TEST(answers_with_the_id_as_it_was_written)
{
    const char *text = "[12345678901234567890, 1.50, \"a\\\"b\"]";
    static const char *const expected[] = {
        "{\"jsonrpc\":\"2.0\",\"id\":12345678901234567890,\"result\":{}}",
        "{\"jsonrpc\":\"2.0\",\"id\":1.50,\"result\":{}}",
        "{\"jsonrpc\":\"2.0\",\"id\":\"a\\\"b\",\"result\":{}}",
    };
    size_t i = 0;

    CHECK(json_read(text, strlen(text), &document, NULL) == 0);
    for (const struct json_value *id = document.root->first; id; id = id->next) {
        struct buffer out = { 0 };

        rpc_result_begin(&out, id);
        buffer_append_string(&out, "{}");
        rpc_end(&out);
        CHECK_STR(out.data, expected[i++]);
        buffer_done(&out);
    }
    json_document_done(&document);
}

TEST(writes_errors)
{
    struct buffer out = { 0 };

    rpc_error(&out, NULL, RPC_PARSE_ERROR, "line 1:\n\"x\"", "{\"a\":1}");
    CHECK_STR(out.data, "{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-32700,"
                        "\"message\":\"line 1:\\n\\\"x\\\"\",\"data\":{\"a\":1}}}");
    buffer_done(&out);
}
