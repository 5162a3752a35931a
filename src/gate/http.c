#include "http.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool is_up(const struct gate_connection *connection, const struct gate_flow *flow)
{
    return flow == &connection->up;
}

size_t gate_http_blind(const struct gate_connection *connection, const struct gate_flow *flow)
{
    const struct gate_http *http = connection->http;

    if (!is_up(connection, flow))
        return http->is_asking ? 0 : SIZE_MAX;
    return http_stream_body(&http->stream);
}

void gate_http_passed(struct gate_connection *connection, const struct gate_flow *flow, size_t n)
{
    struct gate_http *http = connection->http;

    if (!is_up(connection, flow))
        return;
    if (http->n_passed)
        http->n_passed = 0;
    else
        http_stream_skip(&http->stream, n);
}

bool gate_http_has_judged(const struct gate_connection *connection, const struct gate_flow *flow)
{
    return is_up(connection, flow) && connection->http->n_passed > 0;
}

/* ---- requests */

static int refuse(struct gate *gate, struct gate_connection *connection, const char *detail,
                  const char *why)
{
    gate_connection_record(gate, connection, GATE_EVENT_HEAD, -1, 0, detail);
    gate_refuse(gate, connection, why);
    return -1;
}

static int refuse_host(struct gate *gate, struct gate_connection *connection,
                       const struct http_request *request)
{
    char named[ADDRESS_TEXT_MAX + HOST_NAME_SIZE] = "";
    char why[sizeof named + HOST_NAME_SIZE + 64];

    if (request->host.is_address)
        (void)address_format(request->host.address, named);
    else
        (void)snprintf(named, sizeof named, "%s", request->host.name);
    if (request->port && request->port != connection->port)
        (void)snprintf(named + strlen(named), sizeof named - strlen(named), ":%u", request->port);
    (void)snprintf(why, sizeof why, "the request is for '%s', the connection for '%s'", named,
                   connection->name->text);
    return refuse(gate, connection, named, why);
}

static int judge(struct gate *gate, struct gate_connection *connection,
                 const struct http_request *request)
{
    struct gate_http *http = connection->http;

    if (request->host.is_address || strcmp(request->host.name, connection->name->text) != 0 ||
        (request->port && request->port != connection->port))
        return refuse_host(gate, connection, request);
    /* Some servers do not read it, and take it for the next request. */
    if ((request->is_chunked || request->content_length > 0) &&
        (http_span_is(request->method, "GET") || http_span_is(request->method, "HEAD")))
        return refuse(gate, connection, "a GET or HEAD has a body",
                      "a GET or HEAD has a body, which not all servers read");
    /* The answer to an earlier one could be taken for the consent to this. */
    if (request->is_upgrade && http->has_request)
        return refuse(gate, connection, "a later request asks for another protocol",
                      "only the first request of a connection may ask for another protocol");
    http->has_request = true;
    http->is_asking = request->is_upgrade;
    loop_stop(&connection->timer);
    return 0;
}

static ssize_t least(size_t a, uint64_t b)
{
    return (ssize_t)(a < b ? a : b);
}

static ssize_t allow_up(struct gate *gate, struct gate_connection *connection, const char *bytes,
                        size_t n)
{
    struct gate_http *http = connection->http;
    struct http_request request;
    size_t n_passed = 0;

    uint64_t body = http_stream_body(&http->stream);
    if (body)
        return least(n, body);
    switch (http_stream_take(&http->stream, bytes, n, &n_passed, &request)) {
    case HTTP_STREAM_HEAD:
        if (judge(gate, connection, &request) < 0)
            return -1;
        break;
    case HTTP_STREAM_PASS:
        break;
    case HTTP_STREAM_MORE:
        if (!connection->timer.next) /* whoever begins a head must end it */
            loop_set(&gate->loop, &connection->timer, LOOP_DELAY_HEAD);
        return 0;
    case HTTP_STREAM_ASKED:
        if (http->is_asking)
            return 0;
        http_stream_answered(&http->stream, false);
        return allow_up(gate, connection, bytes, n);
    case HTTP_STREAM_BAD:
        return refuse(gate, connection, http->stream.why, http->stream.why);
    }
    http->n_passed = (uint32_t)n_passed;
    return least(n, n_passed);
}

/* ---- the answer to a request for another protocol */

static ssize_t refuse_answer(struct gate *gate, struct gate_connection *connection,
                             const char *detail)
{
    gate_connection_record(gate, connection, GATE_EVENT_HEAD, -1, 0, detail);
    gate_connection_reset(gate, connection);
    return -1;
}

static ssize_t allow_down(struct gate *gate, struct gate_connection *connection,
                          struct gate_flow *flow, const char *bytes, size_t n)
{
    struct gate_http *http = connection->http;
    bool is_switched = false;
    enum http_state state = http_stream_read_answer(bytes, n, &is_switched);

    if (state == HTTP_MORE && n < HTTP_REQUEST_MAX && !flow->is_ending)
        return 0;
    if (state != HTTP_COMPLETE)
        return refuse_answer(gate, connection,
                             "the answer to a request for another protocol is no HTTP");
    if (is_switched)
        http_stream_answered(&http->stream, true);
    if (is_switched && http_stream_body(&http->stream) != UINT64_MAX)
        return refuse_answer(gate, connection,
                             http->stream.why ? http->stream.why
                                              : "the server has changed the protocol too early");
    http->is_asking = false;
    connection->up.is_readable = true;
    return (ssize_t)n;
}

ssize_t gate_http_allow(struct gate *gate, struct gate_connection *connection,
                        struct gate_flow *flow, const char *bytes, size_t n)
{
    if (is_up(connection, flow))
        return allow_up(gate, connection, bytes, n);
    if (connection->http->is_asking)
        return allow_down(gate, connection, flow, bytes, n);
    return (ssize_t)n;
}

/* Whoever waits for an answer waits no longer. */
void gate_http_ended(struct gate_connection *connection, const struct gate_flow *flow)
{
    if (is_up(connection, flow))
        return;
    connection->http->is_asking = false;
    connection->up.is_readable = true;
}
