/*
 * head.c - whom a client means, by the first thing it says
 *
 * A connection to an allowed host could still ask that host's servers for another one: many share
 * an address. So the name in a TLS hello or in a request must be the one that was connected to. The
 * bytes are looked at, and stay in the socket until enough have come to judge.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "gate/connection.h"
#include "gate/watch.h"
#include "net/wire/tls_hello.h"

static void refuse(struct gate *gate, struct gate_connection *connection, const char *detail,
                   const char *why)
{
    gate_connection_record(gate, connection, GATE_EVENT_HEAD, -1, 0, detail);
    gate_refuse(gate, connection, why);
}

/* ---- TLS */

/* What was judged goes on as it was then, whatever becomes of what is in the socket. */
static void go_on(struct gate *gate, struct gate_connection *connection, size_t n)
{
    if (!connection->credential) { /* that program judges what it reads itself */
        if (!gate_connection_hold(connection, gate->scratch, n)) {
            gate_connection_reset(gate, connection);
            return;
        }
        gate_connection_consume(connection->near.fd, n);
        gate_watch_passed(connection, &connection->up, n);
        if (connection->is_tls)
            gate_tls_begin(connection);
    }
    gate_dial_begin(gate, connection);
}

static void step_tls(struct gate *gate, struct gate_connection *connection, size_t n)
{
    struct tls_hello hello = { 0 };
    enum tls_hello_state state = tls_hello_parse((const uint8_t *)gate->scratch, n, &hello);

    connection->is_tls = state != TLS_HELLO_NOT_TLS;
    switch (state) {
    case TLS_HELLO_MORE:
        connection->up.is_readable = false;
        break;
    case TLS_HELLO_COMPLETE:
        if (gate_tls_judge(gate, connection, &hello))
            go_on(gate, connection, hello.length);
        break;
    case TLS_HELLO_NOT_TLS:
        refuse(gate, connection, "(not TLS)", "on port 443 only TLS is allowed");
        break;
    case TLS_HELLO_BAD:
        refuse(gate, connection, hello.why ? hello.why : "", "the TLS hello cannot be read");
        break;
    }
}

/* ---- HTTP */

static void step_http(struct gate *gate, struct gate_connection *connection, size_t n)
{
    ssize_t allowed = gate_http_allow(gate, connection, &connection->up, gate->scratch, n);

    if (allowed == 0)
        connection->up.is_readable = false;
    else if (allowed > 0)
        go_on(gate, connection, (size_t)allowed);
}

/* ---- */

void gate_head_step(struct gate *gate, struct gate_connection *connection)
{
    if (connection->is_near_gone) {
        gate_connection_reset(gate, connection);
        return;
    }
    if (!connection->up.is_readable)
        return;
    ssize_t n = recv(connection->near.fd, gate->scratch, TLS_HELLO_MAX, MSG_PEEK | MSG_DONTWAIT);

    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        connection->up.is_readable = false;
    else if (n <= 0)
        gate_connection_close(gate, connection); /* it has said nothing */
    else if (connection->http)
        step_http(gate, connection, (size_t)n);
    else
        step_tls(gate, connection, (size_t)n);
}

void gate_head_begin(struct gate *gate, struct gate_connection *connection)
{
    gate_connection_enter(gate, connection, GATE_STAGE_HEAD);
    if (connection->port == 80) {
        connection->http = calloc(1, sizeof *connection->http);
        if (!connection->http) {
            gate_connection_reset(gate, connection);
            return;
        }
    }
    /* The client says nothing before it knows that it may. */
    gate_reply(connection, 0);
    gate_head_step(gate, connection);
}
