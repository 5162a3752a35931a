#include "listen.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "gate/connection.h"

#define AT_ONCE 64 /* then others are served */

#define NO_DESCRIPTOR "no descriptor was left for a connection"

static void record_limit(struct gate *gate, int error, const char *detail)
{
    struct gate_event event = { .kind = GATE_EVENT_LIMIT, .rule = -1, .error = error };

    (void)strncpy(event.detail, detail, sizeof event.detail - 1);
    gate_events_add(gate, &event);
}

bool gate_listen_is_full(struct gate *gate, int error)
{
    bool is = error == EMFILE || error == ENFILE;

    if (is)
        record_limit(gate, error, NO_DESCRIPTOR);
    return is;
}

static void listen_again(struct gate *gate, struct loop_timer *timer)
{
    struct gate_listener *listener = LOOP_CONTAINER(timer, struct gate_listener, timer);

    loop_change(&gate->loop, &listener->source, EPOLLIN);
}

/* No descriptor is left: the first in the queue is turned away, the others wait a moment. */
static void out_of_descriptors(struct gate *gate, struct gate_listener *listener, int error)
{
    record_limit(gate, error, NO_DESCRIPTOR);
    if (gate->spare_fd >= 0) {
        (void)close(gate->spare_fd);
        int fd = accept4(listener->source.fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
        if (fd >= 0)
            gate_connection_reset_fd(fd);
    }
    gate->spare_fd = fcntl(gate->control.fd, F_DUPFD_CLOEXEC, 3);
    loop_change(&gate->loop, &listener->source, 0);
    listener->timer.fire = listen_again;
    loop_set(&gate->loop, &listener->timer, LOOP_DELAY_LISTEN);
}

static void too_many(struct gate *gate, int fd)
{
    char detail[64];

    (void)snprintf(detail, sizeof detail, "more than %u connections at once",
                   gate->rules.connections);
    record_limit(gate, 0, detail);
    gate_connection_reset_fd(fd);
}

static void somebody_waits(struct gate *gate, struct loop_source *source, uint32_t events)
{
    struct gate_listener *listener = LOOP_CONTAINER(source, struct gate_listener, source);

    (void)events;
    for (int i = 0; i < AT_ONCE; i++) {
        int fd = accept4(source->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

        if (fd < 0 && (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM))
            out_of_descriptors(gate, listener, errno);
        if (fd < 0)
            return;
        if (gate->n_connections >= gate->rules.connections)
            too_many(gate, fd);
        else
            listener->accepted(gate, listener, fd);
    }
}

int gate_listen(struct gate *gate, struct gate_listener *listener)
{
    const int on = 1;
    int fd = listener->source.fd;

    listener->source.happened = somebody_waits;
    /* What is accepted inherits these. Reno, because others pace themselves also inside one machine. */
    (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    /* Urgent bytes are bytes: a byte that is read now and then is none that can be judged. */
    (void)setsockopt(fd, SOL_SOCKET, SO_OOBINLINE, &on, sizeof on);
    if (listener->is_inner)
        (void)setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, "reno", 4);
    int r = fcntl(fd, F_SETFL, O_NONBLOCK) < 0 ? -errno : 0;
    if (r == 0)
        r = loop_add(&gate->loop, &listener->source, EPOLLIN);
    if (r < 0)
        loop_close(&listener->source);
    return r;
}
