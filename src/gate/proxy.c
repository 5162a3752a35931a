/*
 * proxy.c - for programs that insist on a proxy: HTTP CONNECT and SOCKS5
 *
 * Both name a host and a port, and then carry whatever they like, so from there on a connection is
 * as one that came by itself: the same rules, and what it says first is looked at too.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "gate/connection.h"
#include "net/wire/http_head.h"
#include "net/wire/socks5.h"

enum { STEP_FIRST, STEP_SOCKS_REQUEST };

static void wait_for_more(struct gate_connection *connection)
{
    connection->up.is_readable = false;
}

static void consume(const struct gate_connection *connection, size_t n)
{
    gate_connection_consume(connection->near.fd, n);
}

static void go(struct gate *gate, struct gate_connection *connection, const struct host_name *host,
               uint16_t port)
{
    connection->port = port;
    if (host->is_address) {
        bool is_made_up = false;

        memcpy(connection->address, host->address, sizeof host->address);
        connection->name = gate_names_find(&gate->names, host->address, &is_made_up);
        gate_connection_go(gate, connection);
        return;
    }
    struct gate_decision decision = gate_rules_name(&gate->rules, host->name, port, false);
    if (decision.verdict != HOST_ALLOWED) { /* not remembered: code could choose any number */
        struct gate_event event = { .kind = GATE_EVENT_CONNECT,
                                    .rule = decision.rule,
                                    .port = port };

        (void)strncpy(event.name, host->name, sizeof event.name - 1);
        gate_events_add(gate, &event);
        gate_refuse(gate, connection, gate_refuse_sentence(decision.verdict));
        return;
    }
    connection->name = gate_names_add(&gate->names, host->name, true);
    if (!connection->name) {
        gate_refuse_failed(gate, connection, ENOBUFS);
        return;
    }
    gate_connection_go(gate, connection);
}

static void step_http(struct gate *gate, struct gate_connection *connection, size_t n)
{
    struct http_request request;
    enum http_state state = http_request_parse(gate->scratch, n, &request);

    connection->reply = GATE_REPLY_HTTP;
    if (state == HTTP_MORE) {
        wait_for_more(connection);
    } else if (state == HTTP_BAD) {
        gate_refuse(gate, connection, request.why);
    } else if (request.form != HTTP_AUTHORITY) {
        gate_refuse(gate, connection, "this proxy takes CONNECT and SOCKS5 only; HTTP needs none");
    } else {
        consume(connection, request.length);
        go(gate, connection, &request.host, request.port);
    }
}

static void step_socks_request(struct gate *gate, struct gate_connection *connection, size_t n)
{
    struct socks5_request request;
    uint8_t reply[SOCKS5_REPLY_BYTES];

    switch (socks5_request_parse((const uint8_t *)gate->scratch, n, &request)) {
    case SOCKS5_MORE:
        wait_for_more(connection);
        break;
    case SOCKS5_COMPLETE:
        consume(connection, request.length);
        connection->reply = GATE_REPLY_SOCKS;
        go(gate, connection, &request.host, request.port);
        break;
    case SOCKS5_BAD:
        socks5_reply(request.code, reply);
        (void)send(connection->near.fd, reply, sizeof reply, MSG_NOSIGNAL | MSG_DONTWAIT);
        gate_connection_close(gate, connection);
        break;
    }
}

static void step_socks_greeting(struct gate *gate, struct gate_connection *connection, size_t n)
{
    struct socks5_greeting greeting;
    enum socks5_state state = socks5_greeting_parse((const uint8_t *)gate->scratch, n, &greeting);
    uint8_t reply[2];

    if (state == SOCKS5_MORE) {
        wait_for_more(connection);
        return;
    }
    socks5_greeting_answer(state == SOCKS5_COMPLETE, reply);
    (void)send(connection->near.fd, reply, sizeof reply, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (state == SOCKS5_BAD) {
        gate_connection_close(gate, connection);
        return;
    }
    consume(connection, greeting.length);
    connection->proxy_step = STEP_SOCKS_REQUEST;
    gate_proxy_step(gate, connection);
}

void gate_proxy_step(struct gate *gate, struct gate_connection *connection)
{
    if (connection->is_near_gone) {
        gate_connection_reset(gate, connection);
        return;
    }
    if (!connection->up.is_readable)
        return;
    ssize_t n = recv(connection->near.fd, gate->scratch, HTTP_REQUEST_MAX, MSG_PEEK | MSG_DONTWAIT);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        wait_for_more(connection);
    else if (n <= 0)
        gate_connection_close(gate, connection);
    else if (connection->proxy_step == STEP_SOCKS_REQUEST)
        step_socks_request(gate, connection, (size_t)n);
    else if (gate->scratch[0] == 5)
        step_socks_greeting(gate, connection, (size_t)n);
    else
        step_http(gate, connection, (size_t)n);
}

void gate_proxy_begin(struct gate *gate, struct gate_connection *connection)
{
    gate_connection_enter(gate, connection, GATE_STAGE_PROXY);
    gate_proxy_step(gate, connection);
}
