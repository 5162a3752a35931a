#include "connection.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "mcp/http/authorize.h"
#include "mcp/http/exchange.h"
#include "mcp/http/parse.h"
#include "mcp/http/reader.h"
#include "mcp/methods.h"

#define KEEP_ALIVE_MS 15000

/* Until the token was seen, and from then on. */
static const struct http_patience with_strangers = { .idle_ms = 2000, .head_ms = 2000 };
static const struct http_patience with_clients = { .idle_ms = 60000,
                                                   .head_ms = 10000,
                                                   .body_ms = 60000 };

struct connection {
    struct http_place *place;
    struct visitor *visitor;
    int fd;
    int done_fd;
    struct http_reader reader;
};

/* ---- answers without a session */

static bool refuse_id(struct connection *connection, int status, const char *why,
                      const struct json_value *id)
{
    static const struct {
        int status;
        const char *words;
    } known[] = {
        { 400, "Bad Request" },
        { 401, "Unauthorized" },
        { 403, "Forbidden" },
        { 404, "Not Found" },
        { 405, "Method Not Allowed" },
        { 406, "Not Acceptable" },
        { 409, "Conflict" },
        { 413, "Content Too Large" },
        { 415, "Unsupported Media Type" },
        { 431, "Request Header Fields Too Large" },
        { 500, "Internal Server Error" },
        { 501, "Not Implemented" },
        { 503, "Service Unavailable" },
        { 505, "HTTP Version Not Supported" },
    };
    auto_buffer struct buffer body = { 0 };
    auto_buffer struct buffer text = { 0 };
    const char *words = "Error";

    for (size_t i = 0; i < COUNT(known); i++)
        if (known[i].status == status)
            words = known[i].words;
    rpc_error(&body, id, status == 503 ? RPC_BUSY : RPC_INVALID_REQUEST, why ? why : words, NULL);
    buffer_printf(&text,
                  "HTTP/1.1 %d %s\r\nContent-Type: application/json\r\nContent-Length: %zu\r\n"
                  "Connection: close\r\n%s%s\r\n",
                  status, words, body.length, status == 401 ? "WWW-Authenticate: Bearer\r\n" : "",
                  status == 405 ? "Allow: POST, GET, DELETE\r\n" : "");
    buffer_append(&text, body.data, body.length);
    if (!text.failed && !body.failed)
        (void)http_write_all(connection->fd, text.data, text.length);
    return false;
}

static bool refuse(struct connection *connection, int status, const char *why)
{
    return refuse_id(connection, status, why, NULL);
}

/* ---- a session's own stream */

static void hold_stream(struct connection *connection, struct exchange *stream)
{
    struct pollfd fds[] = { { .fd = connection->fd, .events = POLLIN | POLLRDHUP },
                            { .fd = connection->place->server->stop_fd, .events = POLLIN },
                            { .fd = connection->done_fd, .events = POLLIN } };

    for (;;) {
        int r = poll(fds, COUNT(fds), KEEP_ALIVE_MS);

        if (r > 0 || (r < 0 && errno != EINTR)) /* a client says nothing more here */
            return;
        if (r == 0 && !http_exchange_keep_alive(stream))
            return;
    }
}

static bool serve_get(struct connection *connection, const struct http_head *head,
                      struct session *session, const char *fields)
{
    const char *accept = http_head_field(head, "accept");

    if (!accept || !http_accepts(accept, "text/event-stream"))
        return refuse(connection, 406, "'Accept' must name text/event-stream");
    auto_exchange struct exchange *stream =
        http_exchange_new(connection->fd, HTTP_EVENTS, fields, false, connection->done_fd);
    if (!stream)
        return false;
    if (!session_set_stream(session, stream, NULL))
        return refuse(connection, 409, "the session already has a stream");
    if (http_exchange_open(stream))
        hold_stream(connection, stream);
    (void)session_set_stream(session, NULL, stream);
    (void)http_exchange_close(stream);
    return false;
}

/* ---- a message */

static bool is_call_with_progress(const struct json_value *value)
{
    struct rpc_message rpc;

    rpc_classify(value, &rpc);
    return rpc.kind == RPC_REQUEST &&
           json_get(json_get(rpc.params, "_meta"), "progressToken") != NULL;
}

/* Events are for those who want to hear something before the answer. */
static enum http_sort sort_of(const struct http_head *head, const struct message *message)
{
    const struct json_value *root = message->document.root;
    const char *accept = http_head_field(head, "accept");
    bool wants = false;

    if (!accept || !http_accepts(accept, "text/event-stream"))
        return HTTP_JSON;
    if (!http_accepts(accept, "application/json"))
        return HTTP_EVENTS;
    if (root->kind == JSON_ARRAY)
        for (const struct json_value *item = root->first; item; item = item->next)
            wants |= is_call_with_progress(item);
    else
        wants = is_call_with_progress(root);
    return wants ? HTTP_EVENTS : HTTP_JSON;
}

/* On loopback a connection ends only when its client wants that or is gone, and nobody could fetch
 * the answer later: its calls end with it. */
static void await_answer(struct connection *connection, struct session *session,
                         const struct exchange *exchange)
{
    struct pollfd fds[] = { { .fd = connection->done_fd, .events = POLLIN },
                            { .fd = connection->fd, .events = POLLRDHUP } };

    while (poll(fds, COUNT(fds), -1) < 0 && errno == EINTR)
        ;
    if (fds[0].revents)
        return;
    session_cancel_all(session, exchange->bottom);
    fds[1].fd = -1;
    while (poll(fds, COUNT(fds), -1) < 0 && errno == EINTR)
        ;
}

static bool exchange_message(struct connection *connection, const struct http_head *head,
                             struct session *session, struct message *message, const char *fields)
{
    auto_exchange struct exchange *exchange = http_exchange_new(
        connection->fd, sort_of(head, message), fields, head->keeps_alive, connection->done_fd);

    if (!exchange)
        return false;
    session_handle(session, exchange, message);
    await_answer(connection, session, exchange);
    (void)!read(connection->done_fd, &(uint64_t){ 0 }, sizeof(uint64_t));
    return http_exchange_close(exchange);
}

static bool is_initialize(const struct message *message)
{
    struct rpc_message rpc;

    rpc_classify(message->document.root, &rpc);
    return rpc.kind == RPC_REQUEST && strcmp(rpc.method, "initialize") == 0;
}

static void print_fields(char *out, size_t size, const char *name)
{
    (void)snprintf(out, size, "Mcp-Session-Id: %s\r\n", name);
}

static bool serve_message(struct connection *connection, const struct http_head *head,
                          struct session *session, struct message *message)
{
    char name[HTTP_SESSION_NAME];
    char fields[80];
    auto_error coop_error *err = NULL;

    if (session) {
        print_fields(fields, sizeof fields, http_head_field(head, "mcp-session-id"));
        return exchange_message(connection, head, session, message, fields);
    }
    if (!is_initialize(message))
        return refuse(connection, 400, "'Mcp-Session-Id' is missing: send 'initialize' first");
    int r = http_sessions_add(&connection->place->sessions, connection->place->server, name,
                              &session, &err);
    if (r < 0)
        return refuse(connection, r == -EBUSY ? 503 : 500, coop_error_message(err));
    print_fields(fields, sizeof fields, name);
    bool goes_on = exchange_message(connection, head, session, message, fields);
    (void)pthread_mutex_lock(&session->lock);
    bool is_initialized = session->revision;
    (void)pthread_mutex_unlock(&session->lock);
    if (!is_initialized)
        http_sessions_remove(&connection->place->sessions, name);
    session_unref(session);
    return goes_on;
}

static bool serve_post(struct connection *connection, const struct http_head *head,
                       struct session *session)
{
    const char *type = http_head_field(head, "content-type");
    const char *accept = http_head_field(head, "accept");
    auto_error coop_error *err = NULL;
    auto_buffer struct buffer body = { 0 };
    struct json_document document;

    if (!type || !http_accepts(type, "application/json"))
        return refuse(connection, 415, "'Content-Type' must be application/json");
    if (accept && !http_accepts(accept, "application/json") &&
        !http_accepts(accept, "text/event-stream"))
        return refuse(connection, 406, "'Accept' must name application/json and text/event-stream");
    int status = http_read_body(&connection->reader, head, &body);
    if (status < 0)
        return false;
    if (status > 0)
        return refuse(connection, status, NULL);
    if (json_read(body.data ? body.data : "", body.length, &document, &err) < 0) {
        auto_buffer struct buffer why = { 0 };

        buffer_printf(&why, "parse error: %s", coop_error_message(err));
        rpc_find_id(body.data ? body.data : "", body.length, &document);
        (void)refuse_id(connection, 400, why.data, document.root);
        json_document_done(&document);
        return false;
    }
    struct message *message = message_new(&document);
    if (!message)
        return false;
    bool goes_on = serve_message(connection, head, session, message);
    message_unref(message);
    return goes_on;
}

static bool serve_delete(struct connection *connection, const struct http_head *head)
{
    static const char gone[] =
        "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: keep-alive\r\n\r\n";

    http_sessions_remove(&connection->place->sessions, http_head_field(head, "mcp-session-id"));
    return http_write_all(connection->fd, gone, sizeof gone - 1) && head->keeps_alive;
}

/* ---- a request */

static bool serve_request(struct connection *connection, const struct http_head *head)
{
    const char *name = http_head_field(head, "mcp-session-id");
    const char *why = NULL;
    bool is_post = strcmp(head->method, "POST") == 0;
    bool is_get = strcmp(head->method, "GET") == 0;
    int status = http_authorize(&connection->place->token, connection->place->port, head, &why);

    if (status)
        return refuse(connection, status, why);
    if (!visitor_admit(&connection->place->visitors, connection->visitor))
        return refuse(connection, 503, "too many connections");
    connection->reader.patience = with_clients;
    if (!is_post && !is_get && strcmp(head->method, "DELETE") != 0)
        return refuse(connection, 405, NULL);
    if (!is_post && (head->length > 0 || head->is_chunked))
        return refuse(connection, 400, "only POST has a body");
    struct session *session = name ? http_sessions_find(&connection->place->sessions, name) : NULL;
    if (name && !session)
        return refuse(connection, 404, "there is no such session");
    if (!name && !is_post)
        return refuse(connection, 400, "'Mcp-Session-Id' is missing");
    bool goes_on;
    if (is_post) {
        goes_on = serve_post(connection, head, session);
    } else if (is_get) {
        char fields[80];

        print_fields(fields, sizeof fields, name);
        goes_on = serve_get(connection, head, session, fields);
    } else {
        goes_on = serve_delete(connection, head);
    }
    session_unref(session);
    return goes_on;
}

static bool serve_next(struct connection *connection)
{
    char text[HTTP_HEAD_MAX];
    struct http_head head;
    ssize_t n = http_read_head(&connection->reader, text);

    if (n == 0)
        return false;
    visitor_hold(&connection->place->visitors, connection->visitor);
    if (n < 0)
        return refuse(connection, 431, NULL);
    int status = http_head_parse(text, (size_t)n, &head);
    return status ? refuse(connection, status, NULL) : serve_request(connection, &head);
}

void http_connection_serve(struct http_place *place, struct visitor *visitor, int fd)
{
    auto_close int done_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    struct connection connection = { .place = place,
                                     .visitor = visitor,
                                     .fd = fd,
                                     .done_fd = done_fd,
                                     .reader = { .fd = fd,
                                                 .stop_fd = place->server->stop_fd,
                                                 .limit = SERVER_MESSAGE_MAX,
                                                 .patience = with_strangers } };

    while (done_fd >= 0 && serve_next(&connection))
        ;
    buffer_done(&connection.reader.in);
    /* What the other side still sends would make the kernel drop the answer. */
    (void)shutdown(fd, SHUT_WR);
}
