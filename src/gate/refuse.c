/*
 * refuse.c - the last words to a client
 *
 * A socket that is closed while something in it has not been read sends a reset, and the client may
 * never see why: so what it still sends is read and thrown away, for a while.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "gate/connection.h"
#include "net/wire/socks5.h"
#include "net/wire/tls_hello.h"

#define DRAINED_MOST (1024 * 1024)

static void say(const struct gate_connection *connection, const void *bytes, size_t n)
{
    (void)send(connection->near.fd, bytes, n, MSG_NOSIGNAL | MSG_DONTWAIT);
}

static void say_http(const struct gate_connection *connection, const char *status, const char *why)
{
    char body[1024];
    char text[sizeof body + 256];
    int n = snprintf(body, sizeof body, "coop: %s\n", why);

    if (n >= (int)sizeof body)
        n = sizeof body - 1;
    for (int i = 0; i < n - 1; i++)
        if (body[i] < ' ' || body[i] > '~')
            body[i] = '?';
    n = snprintf(text, sizeof text,
                 "HTTP/1.1 %s\r\nContent-Type: text/plain\r\nContent-Length: %d\r\n"
                 "Connection: close\r\n\r\n%s",
                 status, n, body);
    say(connection, text, (size_t)n);
}

static void say_socks(const struct gate_connection *connection, enum socks5_code code)
{
    uint8_t reply[SOCKS5_REPLY_BYTES];

    socks5_reply(code, reply);
    say(connection, reply, sizeof reply);
}

/* False: it would understand nothing. */
static bool say_why(struct gate_connection *connection, const char *why)
{
    switch ((enum gate_reply)connection->reply) {
    case GATE_REPLY_HTTP:
        say_http(connection, "403 Forbidden", why);
        return true;
    case GATE_REPLY_SOCKS:
        say_socks(connection, SOCKS5_DENIED);
        return true;
    case GATE_REPLY_NONE:
        break;
    }
    if (connection->is_tls) {
        say(connection, tls_hello_denied, sizeof tls_hello_denied);
        return true;
    }
    /* Not into the middle of an answer. */
    if (!connection->http || connection->down.is_readable || connection->down.in_pipe > 0)
        return false;
    say_http(connection, "403 Forbidden", why);
    return true;
}

const char *gate_refuse_sentence(enum host_verdict verdict)
{
    return verdict == HOST_DENIED ? "a rule denies this host and port"
                                  : "no rule allows this host and port";
}

static void linger(struct gate *gate, struct gate_connection *connection)
{
    (void)shutdown(connection->near.fd, SHUT_WR);
    if (connection->far.fd >= 0)
        gate_connection_reset_fd(connection->far.fd);
    connection->far.fd = -1;
    gate_connection_enter(gate, connection, GATE_STAGE_REFUSE);
    connection->up.is_readable = true;
    gate_refuse_step(gate, connection);
}

void gate_refuse(struct gate *gate, struct gate_connection *connection, const char *why)
{
    if (say_why(connection, why))
        linger(gate, connection);
    else
        gate_connection_reset(gate, connection);
}

void gate_refuse_failed(struct gate *gate, struct gate_connection *connection, int errnum)
{
    if (!connection->reply) {
        gate_connection_reset(gate, connection);
        return;
    }
    gate_reply(connection, errnum);
    linger(gate, connection);
}

void gate_refuse_step(struct gate *gate, struct gate_connection *connection)
{
    while (connection->up.is_readable) {
        ssize_t n = recv(connection->near.fd, NULL, DRAINED_MOST, MSG_TRUNC | MSG_DONTWAIT);

        if (n < 0 && (errno == EAGAIN || errno == EINTR)) {
            connection->up.is_readable = false;
            return;
        }
        if (n <= 0) {
            gate_connection_close(gate, connection);
            return;
        }
        connection->n_drained += (uint32_t)n;
        if (connection->n_drained >= DRAINED_MOST) {
            gate_connection_reset(gate, connection);
            return;
        }
    }
}

void gate_reply(struct gate_connection *connection, int errnum)
{
    static const char established[] = "HTTP/1.1 200 Connection established\r\n\r\n";
    enum gate_reply reply = connection->reply;

    connection->reply = GATE_REPLY_NONE;
    if (reply == GATE_REPLY_SOCKS)
        say_socks(connection, errnum ? socks5_code_of(errnum) : SOCKS5_GRANTED);
    else if (reply == GATE_REPLY_HTTP && errnum)
        say_http(connection, "502 Bad Gateway", strerror(errnum));
    else if (reply == GATE_REPLY_HTTP)
        say(connection, established, sizeof established - 1);
}
