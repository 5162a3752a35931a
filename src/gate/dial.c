#include "dial.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "gate/credential.h"
#include "gate/listen.h"
#include "gate/own.h"
#include "net/socket.h"

#define ADDRESSES  16
#define FURTHER    3 /* tried at the same time as the first */
#define EVERYTHING (EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLPRI | EPOLLET)

struct further {
    struct loop_source source;
    struct gate_dial *dial;
};

/* The first attempt has the far socket of the connection itself. */
struct gate_dial {
    struct loop_dead dead;
    struct gate_connection *connection;
    struct gate_waiter waiter;
    struct loop_timer timer; /* for the next address */
    struct further further[FURTHER];
    uint16_t port;
    int error; /* of the last that failed */
    unsigned n, next;
    uint8_t addresses[ADDRESSES][ADDRESS_BYTES];
};

static void try_next(struct gate *gate, struct gate_dial *dial);

/* ---- the end of it */

void gate_dial_cancel(struct gate *gate, struct gate_connection *connection)
{
    struct gate_dial *dial = connection->dial;

    if (!dial)
        return;
    connection->dial = NULL;
    loop_stop(&dial->timer);
    gate_resolver_forget(&dial->waiter);
    for (unsigned i = 0; i < FURTHER; i++)
        loop_close(&dial->further[i].source);
    loop_free(&gate->loop, &dial->dead);
}

static void failed(struct gate *gate, struct gate_connection *connection, int error,
                   const char *detail)
{
    if (!gate_listen_is_full(gate, error))
        gate_connection_record(gate, connection, GATE_EVENT_UPSTREAM, -1, error, detail);
    gate_refuse_failed(gate, connection, error);
}

void gate_dial_late(struct gate *gate, struct gate_connection *connection)
{
    failed(gate, connection, ETIMEDOUT, NULL);
}

static void reached(struct gate *gate, struct gate_connection *connection)
{
    gate_dial_cancel(gate, connection);
    gate_reply(connection, 0);
    if (connection->credential)
        gate_credential_hand_over(gate, connection);
    else
        gate_relay_begin(gate, connection);
}

/* ---- attempts */

/* What was said of one far socket does not hold for the next. */
static void forget_far(struct gate_connection *connection)
{
    connection->up.is_writable = false;
    connection->down.is_readable = false;
    connection->down.is_ending = false;
    connection->down.is_broken = false;
    connection->down.needs_copy = false;
}

static void further_happened(struct gate *gate, struct loop_source *source, uint32_t events)
{
    struct further *further = LOOP_CONTAINER(source, struct further, source);
    struct gate_dial *dial = further->dial;
    struct gate_connection *connection = dial->connection;
    int error = 0;
    socklen_t size = sizeof error;

    (void)events;
    if (getsockopt(source->fd, SOL_SOCKET, SO_ERROR, &error, &size) < 0)
        error = errno;
    if (error) {
        dial->error = error;
        loop_close(source);
        try_next(gate, dial);
        return;
    }
    loop_close(&connection->far);
    forget_far(connection);
    connection->far.fd = take_fd(&source->fd);
    /* The kernel says again what it has said already. */
    loop_change(&gate->loop, &connection->far, EVERYTHING);
    connection->up.is_writable = true;
    reached(gate, connection);
}

/* A place for one more attempt; NULL: enough are under way. */
static struct loop_source *free_source(struct gate_dial *dial)
{
    if (dial->connection->far.fd < 0)
        return &dial->connection->far;
    for (unsigned i = 0; i < FURTHER; i++)
        if (dial->further[i].source.fd < 0)
            return &dial->further[i].source;
    return NULL;
}

static bool is_trying(const struct gate_dial *dial)
{
    bool is = dial->connection->far.fd >= 0;

    for (unsigned i = 0; i < FURTHER; i++)
        is = is || dial->further[i].source.fd >= 0;
    return is;
}

/* 0 or -errno. */
static int open_socket(const uint8_t address[ADDRESS_BYTES])
{
    const int on = 1;
    int fd = socket(address_is_v4(address) ? AF_INET : AF_INET6,
                    SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

    if (fd < 0)
        return -errno;
    (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    (void)setsockopt(fd, SOL_SOCKET, SO_OOBINLINE, &on, sizeof on);
    /* A host that has vanished must not hold its connection for ever. */
    (void)setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
    return fd;
}

/* 0, or -errno and the descriptor is closed. */
static int begin(struct gate *gate, struct gate_connection *connection, struct loop_source *source,
                 const uint8_t address[ADDRESS_BYTES], uint16_t port)
{
    struct sockaddr_storage name;
    socklen_t size = gate_socket_write(address, port, &name);
    int r = 0;

    if (source == &connection->far)
        forget_far(connection);
    if (connect(source->fd, (const struct sockaddr *)&name, size) < 0 && errno != EINPROGRESS)
        r = -errno;
    if (r == 0)
        r = loop_add(&gate->loop, source, EVERYTHING);
    if (r < 0)
        loop_close(source);
    return r;
}

static int attempt(struct gate *gate, struct gate_dial *dial, struct loop_source *source,
                   const uint8_t address[ADDRESS_BYTES])
{
    source->fd = open_socket(address);
    if (source->fd < 0) {
        int r = source->fd;

        source->fd = -1;
        return r;
    }
    return begin(gate, dial->connection, source, address, dial->port);
}

static void is_slow(struct gate *gate, struct loop_timer *timer)
{
    try_next(gate, LOOP_CONTAINER(timer, struct gate_dial, timer));
}

static void try_next(struct gate *gate, struct gate_dial *dial)
{
    struct loop_source *source;

    while (dial->next < dial->n && (source = free_source(dial))) {
        int r = attempt(gate, dial, source, dial->addresses[dial->next++]);

        if (r == 0) {
            if (dial->next < dial->n)
                loop_set(&gate->loop, &dial->timer, LOOP_DELAY_NEXT);
            return;
        }
        dial->error = -r;
    }
    if (!is_trying(dial) && dial->next == dial->n)
        failed(gate, dial->connection, dial->error, NULL);
}

void gate_dial_step(struct gate *gate, struct gate_connection *connection)
{
    int error = 0;
    socklen_t size = sizeof error;

    if (connection->is_near_gone) {
        gate_connection_reset(gate, connection);
        return;
    }
    if (connection->far.fd < 0 || !connection->up.is_writable)
        return;
    if (connection->down.is_ending &&
        getsockopt(connection->far.fd, SOL_SOCKET, SO_ERROR, &error, &size) < 0)
        error = errno;
    if (!error) {
        reached(gate, connection);
        return;
    }
    loop_close(&connection->far);
    forget_far(connection);
    connection->dial->error = error;
    try_next(gate, connection->dial);
}

/* ---- where to */

static struct gate_dial *new_dial(struct gate *gate, struct gate_connection *connection,
                                  uint16_t port)
{
    struct gate_dial *dial = calloc(1, sizeof *dial);

    if (!dial) {
        gate_connection_reset(gate, connection);
        return NULL;
    }
    gate_connection_enter(gate, connection, GATE_STAGE_DIAL);
    dial->connection = connection;
    dial->port = port;
    dial->error = EHOSTUNREACH;
    dial->timer.fire = is_slow;
    for (unsigned i = 0; i < FURTHER; i++)
        dial->further[i] = (struct further){ { .happened = further_happened, .fd = -1 }, dial };
    connection->dial = dial;
    return dial;
}

static void add_address(struct gate_dial *dial, const uint8_t address[ADDRESS_BYTES])
{
    if (dial->n < ADDRESSES)
        memcpy(dial->addresses[dial->n++], address, ADDRESS_BYTES);
}

static void record_answer(struct gate *gate, const struct gate_connection *connection,
                          const uint8_t address[ADDRESS_BYTES], int32_t rule)
{
    char text[ADDRESS_TEXT_MAX];
    char detail[ADDRESS_TEXT_MAX + 32];

    (void)address_format(address, text);
    (void)snprintf(detail, sizeof detail, "%s (%s)", text, gate_own_class(gate, address));
    gate_connection_record(gate, connection, GATE_EVENT_ANSWER, rule, 0, detail);
}

static void answered(struct gate *gate, struct gate_waiter *waiter,
                     const struct gate_answer *answer)
{
    struct gate_dial *dial = LOOP_CONTAINER(waiter, struct gate_dial, waiter);
    struct gate_connection *connection = dial->connection;

    if (answer->n == 0) {
        failed(gate, connection, answer->error, "the name could not be resolved");
        return;
    }
    gate_own_know(gate);
    for (unsigned i = 0; i < answer->n; i++) {
        struct gate_decision decision =
            connection->credential ? gate_rules_credential_answer(
                                         &gate->rules, connection->credential, answer->addresses[i])
                                   : gate_rules_answer(&gate->rules, connection->name->text,
                                                       answer->addresses[i], dial->port, false);

        if (decision.verdict == HOST_ALLOWED)
            add_address(dial, answer->addresses[i]);
        else
            record_answer(gate, connection, answer->addresses[i], decision.rule);
    }
    if (dial->n == 0)
        gate_refuse(gate, connection, "the name leads to an address that no rule allows");
    else
        try_next(gate, dial);
}

void gate_dial_begin(struct gate *gate, struct gate_connection *connection)
{
    if (connection->credential)
        gate_credential_aim(gate, connection);
    struct gate_dial *dial = new_dial(gate, connection, connection->port);

    if (!dial)
        return;
    if (connection->name) {
        dial->waiter.answered = answered;
        gate_resolver_ask(gate, connection->name, &dial->waiter);
    } else {
        add_address(dial, connection->address);
        try_next(gate, dial);
    }
}

static const uint8_t loopback[][ADDRESS_BYTES] = {
    { [10] = 0xff, 0xff, 127, 0, 0, 1 },
    { [15] = 1 },
};

void gate_dial_loopback(struct gate *gate, struct gate_connection *connection, uint16_t port)
{
    struct gate_dial *dial = new_dial(gate, connection, port);

    if (!dial)
        return;
    add_address(dial, loopback[0]);
    add_address(dial, loopback[1]);
    try_next(gate, dial);
}

void gate_dial_with(struct gate *gate, struct gate_connection *connection, int fd, uint16_t port)
{
    struct gate_dial *dial = new_dial(gate, connection, port);

    if (!dial) {
        (void)close(fd);
        return;
    }
    connection->far.fd = fd;
    int r = begin(gate, connection, &connection->far, loopback[0], port);
    if (r < 0)
        failed(gate, connection, -r, NULL);
}
