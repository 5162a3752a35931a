#include "connection.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "gate/dial.h"
#include "gate/listen.h"
#include "gate/own.h"
#include "net/socket.h"

#define DNS_PORT 53
#define SO_ORIGINAL_DST \
    80 /* linux/netfilter_ipv4.h, which does not go together with netinet/in.h */
#define EVERYTHING (EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLPRI | EPOLLET)
#define NOT_BYTES  (EPOLLRDHUP | EPOLLPRI | EPOLLHUP | EPOLLERR)

static void wait_on(struct gate *gate, struct gate_connection *connection)
{
    (void)gate;
    (void)connection;
}

static void (*const steps[GATE_N_STAGES])(struct gate *gate, struct gate_connection *connection) = {
    [GATE_STAGE_NEW] = wait_on,           [GATE_STAGE_PROXY] = gate_proxy_step,
    [GATE_STAGE_HEAD] = gate_head_step,   [GATE_STAGE_DIAL] = gate_dial_step,
    [GATE_STAGE_RELAY] = gate_relay_step, [GATE_STAGE_REFUSE] = gate_refuse_step,
    [GATE_STAGE_DNS] = gate_dns_step,
};

static void note(uint32_t events, struct gate_flow *from, struct gate_flow *to)
{
    if (events & (EPOLLIN | NOT_BYTES))
        from->is_readable = true;
    if (events & NOT_BYTES)
        from->is_ending = true;
    if (events & EPOLLERR)
        from->is_broken = true;
    if (events & EPOLLPRI)
        from->needs_copy = true;
    if (events & (EPOLLOUT | EPOLLHUP | EPOLLERR))
        to->is_writable = true;
}

static void near_happened(struct gate *gate, struct loop_source *source, uint32_t events)
{
    struct gate_connection *connection = LOOP_CONTAINER(source, struct gate_connection, near);

    note(events, &connection->up, &connection->down);
    if (events & (EPOLLHUP | EPOLLERR))
        connection->is_near_gone = true;
    steps[connection->stage](gate, connection);
}

static void far_happened(struct gate *gate, struct loop_source *source, uint32_t events)
{
    struct gate_connection *connection = LOOP_CONTAINER(source, struct gate_connection, far);

    note(events, &connection->down, &connection->up);
    steps[connection->stage](gate, connection);
}

static void took_turn(struct gate *gate, struct loop_task *turn)
{
    struct gate_connection *connection = LOOP_CONTAINER(turn, struct gate_connection, turn);

    steps[connection->stage](gate, connection);
}

/* ---- life */

struct gate_connection *gate_connection_new(struct gate *gate, int fd)
{
    struct gate_connection *connection = calloc(1, sizeof *connection);

    if (!connection) {
        gate_connection_reset_fd(fd);
        return NULL;
    }
    connection->near = (struct loop_source){ .happened = near_happened, .fd = fd };
    connection->far = (struct loop_source){ .happened = far_happened, .fd = -1 };
    connection->turn.take = took_turn;
    if (loop_add(&gate->loop, &connection->near, EVERYTHING) < 0) {
        gate_connection_reset_fd(fd);
        free(connection);
        return NULL;
    }
    connection->next = gate->connections;
    if (connection->next)
        connection->next->previous = connection;
    gate->connections = connection;
    gate->n_connections++;
    return connection;
}

static void leave_stage(struct gate *gate, struct gate_connection *connection)
{
    loop_stop(&connection->timer);
    loop_no_turn(&connection->turn);
    if (connection->dial)
        gate_dial_cancel(gate, connection);
}

static void drop_pipe(struct gate *gate, struct gate_flow *flow)
{
    if (flow->pipe)
        gate_pipes_drop(&gate->pipes, flow->pipe);
    flow->pipe = NULL;
}

static void end(struct gate *gate, struct gate_connection *connection)
{
    leave_stage(gate, connection);
    drop_pipe(gate, &connection->up);
    drop_pipe(gate, &connection->down);
    free(connection->http);
    free(connection->held);
    if (connection->previous)
        connection->previous->next = connection->next;
    else
        gate->connections = connection->next;
    if (connection->next)
        connection->next->previous = connection->previous;
    gate->n_connections--;
    loop_free(&gate->loop, &connection->dead);
}

void gate_connection_close(struct gate *gate, struct gate_connection *connection)
{
    loop_close(&connection->near);
    loop_close(&connection->far);
    end(gate, connection);
}

void gate_connection_reset_fd(int fd)
{
    const struct linger now = { .l_onoff = 1 };

    (void)setsockopt(fd, SOL_SOCKET, SO_LINGER, &now, sizeof now);
    (void)close(fd);
}

/* At the mark of an urgent byte it stops, though there is more. */
void gate_connection_consume(int fd, size_t n)
{
    while (n > 0) {
        ssize_t got = recv(fd, NULL, n, MSG_TRUNC | MSG_DONTWAIT);

        if (got <= 0)
            return;
        n -= (size_t)got;
    }
}

bool gate_connection_hold(struct gate_connection *connection, const char *bytes, size_t n)
{
    struct gate_held *held = malloc(sizeof *held + n);

    if (!held)
        return false;
    held->n = (uint32_t)n;
    held->at = 0;
    memcpy(held->bytes, bytes, n);
    connection->held = held;
    return true;
}

static void reset_source(struct loop_source *source)
{
    if (source->fd >= 0)
        gate_connection_reset_fd(source->fd);
    source->fd = -1;
}

void gate_connection_reset(struct gate *gate, struct gate_connection *connection)
{
    reset_source(&connection->near);
    reset_source(&connection->far);
    end(gate, connection);
}

static void is_late(struct gate *gate, struct loop_timer *timer)
{
    struct gate_connection *connection = LOOP_CONTAINER(timer, struct gate_connection, timer);

    if (connection->stage == GATE_STAGE_DIAL)
        gate_dial_late(gate, connection);
    else
        gate_connection_reset(gate, connection);
}

void gate_connection_enter(struct gate *gate, struct gate_connection *connection,
                           enum gate_stage stage)
{
    static const enum loop_delay delays[GATE_N_STAGES] = {
        [GATE_STAGE_NEW] = LOOP_DELAY_PUBLISH, [GATE_STAGE_PROXY] = LOOP_DELAY_HEAD,
        [GATE_STAGE_HEAD] = LOOP_DELAY_HEAD,   [GATE_STAGE_DIAL] = LOOP_DELAY_DIAL,
        [GATE_STAGE_RELAY] = LOOP_N_DELAYS,    [GATE_STAGE_REFUSE] = LOOP_DELAY_LINGER,
        [GATE_STAGE_DNS] = LOOP_DELAY_HEAD,
    };

    leave_stage(gate, connection);
    connection->stage = (uint8_t)stage;
    connection->timer.fire = is_late;
    if (delays[stage] != LOOP_N_DELAYS)
        loop_set(&gate->loop, &connection->timer, delays[stage]);
}

/* ---- where to */

void gate_connection_record(struct gate *gate, const struct gate_connection *connection,
                            enum gate_event_kind kind, int32_t rule, int error, const char *detail)
{
    struct gate_event event = {
        .kind = kind, .rule = rule, .error = error, .port = connection->port
    };

    if (connection->name)
        (void)strncpy(event.name, connection->name->text, sizeof event.name - 1);
    else
        (void)address_format(connection->address, event.name);
    if (detail)
        (void)strncpy(event.detail, detail, sizeof event.detail - 1);
    gate_events_add(gate, &event);
}

static struct gate_decision decide(const struct gate *gate,
                                   const struct gate_connection *connection)
{
    if (connection->credential) /* it may be aimed at the host already */
        return gate_rules_credential_name(&gate->rules, connection->credential);
    return connection->name
               ? gate_rules_name(&gate->rules, connection->name->text, connection->port, false)
               : gate_rules_address(&gate->rules, connection->address, connection->port, false);
}

void gate_connection_go(struct gate *gate, struct gate_connection *connection)
{
    if (connection->name)
        connection->credential =
            gate_rules_credential(&gate->rules, connection->name->text, connection->port);
    else
        gate_own_know(gate);
    struct gate_decision decision = decide(gate, connection);

    if (decision.verdict != HOST_ALLOWED) {
        gate_connection_record(gate, connection, GATE_EVENT_CONNECT, decision.rule, 0, NULL);
        gate_refuse(gate, connection, gate_refuse_sentence(decision.verdict));
        return;
    }
    connection->is_ruled = true;
    connection->is_exact = decision.is_exact;
    if (connection->name && (connection->port == 443 || connection->port == 80))
        gate_head_begin(gate, connection);
    else
        gate_dial_begin(gate, connection);
}

void gate_connection_judge_all(struct gate *gate)
{
    struct gate_connection *next;

    for (struct gate_connection *at = gate->connections; at; at = next) {
        next = at->next;
        if (!at->is_ruled || at->stage == GATE_STAGE_REFUSE)
            continue;
        struct gate_decision decision = decide(gate, at);
        if (decision.verdict == HOST_ALLOWED)
            continue;
        gate_connection_record(gate, at, GATE_EVENT_CONNECT, decision.rule, 0, NULL);
        gate_connection_reset(gate, at);
    }
}

/* Where the program wanted to go. */
static int destination(const struct gate *gate, int fd, uint8_t address[ADDRESS_BYTES],
                       uint16_t *port)
{
    struct sockaddr_storage name = { 0 };
    socklen_t size = sizeof name;

    if (getsockname(fd, (struct sockaddr *)&name, &size) < 0)
        return -errno;
    gate_socket_read(&name, address, port);
    if (gate->sockets.method != GATE_REDIRECT)
        return 0;
    /* The kernel keeps it, with the family of the packets. */
    int level = address_is_v4(address) ? SOL_IP : SOL_IPV6;
    size = sizeof name;
    if (getsockopt(fd, level, SO_ORIGINAL_DST, &name, &size) < 0)
        return -errno;
    gate_socket_read(&name, address, port);
    return 0;
}

void gate_connection_accepted(struct gate *gate, struct gate_listener *listener, int fd)
{
    uint8_t address[ADDRESS_BYTES];
    uint16_t port = 0;
    bool is_ours;

    (void)listener;
    if (destination(gate, fd, address, &port) < 0) {
        gate_connection_reset_fd(fd);
        return;
    }
    struct gate_connection *connection = gate_connection_new(gate, fd);
    if (!connection)
        return;
    memcpy(connection->address, address, sizeof address);
    connection->port = port;
    connection->name = gate_names_find(&gate->names, address, &is_ours);
    if (port == DNS_PORT) {
        gate_dns_begin(gate, connection);
    } else if (!connection->name && (is_ours || address_class(address) == ADDRESS_LOOPBACK)) {
        /* An address that no name has, or the gate's own port: no rule can be for these. */
        gate_connection_record(gate, connection, GATE_EVENT_CONNECT, -1, 0, NULL);
        gate_connection_reset(gate, connection);
    } else {
        gate_connection_go(gate, connection);
    }
}
