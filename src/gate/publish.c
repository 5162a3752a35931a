#include "publish.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "gate/connection.h"
#include "gate/dial.h"
#include "gate/listen.h"
#include "net/socket.h"

#define BACKLOG      128
#define STRANGERS    64 /* looked at, one after the other, before others are served */
#define WAITING_MOST 256

struct waiting {
    struct waiting *next;
    int fd;
    uint16_t port;
};

struct gate_publisher {
    struct loop_source connector; /* not watched */
    struct loop_source listener;
    struct loop_timer timer;
    struct loop_timer again; /* without descriptors */
    struct waiting *first, **last;
    unsigned n_waiting;
    bool is_connecting;
    struct gate_listener listeners[GATE_RULES_MOST_PUBLISH];
};

static void connect_next(struct gate *gate);

/* ---- a fresh socket inside */

static void take_apart(int fd)
{
    const struct sockaddr none = { .sa_family = AF_UNSPEC };

    (void)connect(fd, &none, sizeof none);
}

static bool is_ours(const struct gate_publisher *publisher, const struct sockaddr_in *peer)
{
    struct sockaddr_in own = { 0 };
    socklen_t size = sizeof own;

    return getsockname(publisher->connector.fd, (struct sockaddr *)&own, &size) == 0 &&
           own.sin_port == peer->sin_port && own.sin_addr.s_addr == peer->sin_addr.s_addr;
}

/* The other end of the connector; -EAGAIN: it has not come yet; -errno. Others may connect there too. */
static int accept_ours(const struct gate_publisher *publisher)
{
    for (int i = 0; i < STRANGERS; i++) {
        struct sockaddr_in peer = { 0 };
        socklen_t size = sizeof peer;
        int fd = accept4(publisher->listener.fd, (struct sockaddr *)&peer, &size,
                         SOCK_CLOEXEC | SOCK_NONBLOCK);

        if (fd < 0)
            return -errno;
        if (publisher->is_connecting && is_ours(publisher, &peer))
            return fd;
        gate_connection_reset_fd(fd);
    }
    return -EAGAIN;
}

/* ---- those who wait for one */

static struct waiting *take_first(struct gate_publisher *publisher)
{
    struct waiting *waiting = publisher->first;

    publisher->first = waiting->next;
    if (!publisher->first)
        publisher->last = &publisher->first;
    publisher->n_waiting--;
    return waiting;
}

static void serve_first(struct gate *gate, int inner_fd)
{
    const int on = 1;
    struct waiting *waiting = take_first(gate->publisher);
    int fd = waiting->fd;
    uint16_t port = waiting->port;

    free(waiting);
    (void)setsockopt(inner_fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    (void)setsockopt(inner_fd, SOL_SOCKET, SO_OOBINLINE, &on, sizeof on);
    (void)setsockopt(inner_fd, IPPROTO_TCP, TCP_CONGESTION, "reno", 4);
    struct gate_connection *connection = gate_connection_new(gate, fd);
    if (!connection) {
        (void)close(inner_fd);
        return;
    }
    memcpy(connection->address, (uint8_t[ADDRESS_BYTES]){ [10] = 0xff, 0xff, 127, 0, 0, 1 },
           ADDRESS_BYTES);
    connection->port = port;
    gate_dial_with(gate, connection, inner_fd, port);
}

static void listen_again(struct gate *gate, struct loop_timer *timer)
{
    struct gate_publisher *publisher = LOOP_CONTAINER(timer, struct gate_publisher, again);

    loop_change(&gate->loop, &publisher->listener, EPOLLIN);
}

/* Whoever waits there stays there, and the kernel would say so again and again. */
static void out_of_descriptors(struct gate *gate)
{
    struct gate_publisher *publisher = gate->publisher;

    loop_change(&gate->loop, &publisher->listener, 0);
    publisher->again.fire = listen_again;
    loop_set(&gate->loop, &publisher->again, LOOP_DELAY_LISTEN);
}

static void try_accept(struct gate *gate)
{
    struct gate_publisher *publisher = gate->publisher;
    int fd = accept_ours(publisher);

    if (fd == -EMFILE || fd == -ENFILE || fd == -ENOBUFS || fd == -ENOMEM)
        out_of_descriptors(gate);
    if (fd < 0)
        return;
    take_apart(publisher->connector.fd);
    take_apart(fd);
    publisher->is_connecting = false;
    loop_stop(&publisher->timer);
    serve_first(gate, fd);
}

static void somebody_came(struct gate *gate, struct loop_source *source, uint32_t events)
{
    (void)source;
    (void)events;
    try_accept(gate);
    connect_next(gate);
}

static void is_late(struct gate *gate, struct loop_timer *timer)
{
    struct gate_publisher *publisher = LOOP_CONTAINER(timer, struct gate_publisher, timer);
    struct waiting *waiting = take_first(publisher);

    take_apart(publisher->connector.fd);
    publisher->is_connecting = false;
    gate_connection_reset_fd(waiting->fd);
    free(waiting);
    connect_next(gate);
}

static void connect_next(struct gate *gate)
{
    struct gate_publisher *publisher = gate->publisher;
    struct sockaddr_in name = { 0 };
    socklen_t size = sizeof name;

    while (publisher->first && !publisher->is_connecting) {
        if (getsockname(publisher->listener.fd, (struct sockaddr *)&name, &size) == 0)
            (void)connect(publisher->connector.fd, (struct sockaddr *)&name, size);
        publisher->is_connecting = true;
        publisher->timer.fire = is_late;
        loop_set(&gate->loop, &publisher->timer, LOOP_DELAY_PUBLISH);
        try_accept(gate);
    }
}

static void accepted(struct gate *gate, struct gate_listener *listener, int fd)
{
    struct gate_publisher *publisher = gate->publisher;
    struct waiting *waiting = publisher->n_waiting < WAITING_MOST ? malloc(sizeof *waiting) : NULL;

    if (!waiting) {
        gate_connection_reset_fd(fd);
        return;
    }
    *waiting = (struct waiting){ NULL, fd, listener->port };
    *publisher->last = waiting;
    publisher->last = &waiting->next;
    publisher->n_waiting++;
    connect_next(gate);
}

/* ---- */

static int bind_one(const struct gate_publish_rule *rule)
{
    const int on = 1;
    struct sockaddr_storage name;
    socklen_t size = gate_socket_write(rule->address, rule->port, &name);
    int fd = socket(name.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

    if (fd < 0)
        return -1;
    (void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (name.ss_family == AF_INET6)
        (void)setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof on);
    if (bind(fd, (const struct sockaddr *)&name, size) == 0 && listen(fd, BACKLOG) == 0)
        return fd;
    int saved = errno;
    (void)close(fd);
    errno = saved;
    return -1;
}

const struct gate_publish_rule *gate_publish_bind(struct gate *gate)
{
    const struct gate_rules *rules = &gate->rules;

    if (rules->n_publish == 0)
        return NULL;
    struct gate_publisher *publisher = calloc(1, sizeof *publisher);
    if (!publisher)
        return &rules->publish[0];
    publisher->last = &publisher->first;
    for (size_t i = 0; i < rules->n_publish; i++) {
        int fd = bind_one(&rules->publish[i]);

        if (fd < 0) {
            free(publisher);
            return &rules->publish[i];
        }
        publisher->listeners[i] = (struct gate_listener){ .source = { .fd = fd },
                                                          .accepted = accepted,
                                                          .port = rules->publish[i].inner_port };
    }
    gate->publisher = publisher;
    return NULL;
}

int gate_publish_serve(struct gate *gate, int connector_fd, int listener_fd)
{
    struct gate_publisher *publisher = gate->publisher;

    if (!publisher) {
        (void)close(connector_fd);
        (void)close(listener_fd);
        return 0;
    }
    publisher->connector.fd = connector_fd;
    publisher->listener = (struct loop_source){ .happened = somebody_came, .fd = listener_fd };
    int r = loop_add(&gate->loop, &publisher->listener, EPOLLIN);
    for (size_t i = 0; r == 0 && i < gate->rules.n_publish; i++)
        r = gate_listen(gate, &publisher->listeners[i]);
    return r;
}
