/*
 * dns_stream.c - questions by TCP: a connection to a name server for each of the box's
 *
 * Bytes go through as they are. Half of a connection may end before the other; without a byte either
 * way for a while it ends.
 */
#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <sys/socket.h>

#include "nat/resident.h"
#include "net/socket.h"

#define DNS_PORT 53
#define MOST     64
#define BYTES    4096

/* One end: what came from it and still is to go to the other. */
struct stream_end {
    struct loop_source source;
    uint32_t events; /* it is watched for */
    size_t from, to; /* in bytes */
    bool is_over;    /* no more will come */
    uint8_t bytes[BYTES];
};

struct stream {
    struct loop_dead dead;
    struct loop_timer timer;
    struct stream_end near, far;
    struct gate_servers servers;
    unsigned attempt;
    bool is_connected;
};

static void far_happened(struct gate *gate, struct loop_source *source, uint32_t events);

static void end(struct gate *gate, struct stream *stream)
{
    loop_close(&stream->near.source);
    loop_close(&stream->far.source);
    loop_stop(&stream->timer);
    nat_resident_of(gate)->n_streams--;
    loop_free(&gate->loop, &stream->dead);
}

static void is_late(struct gate *gate, struct loop_timer *timer)
{
    end(gate, LOOP_CONTAINER(timer, struct stream, timer));
}

/* Bytes from one end to the other, as far as they go now. False: the connection is broken. */
static bool move(struct stream_end *in, struct stream_end *out)
{
    for (;;) {
        if (in->from == in->to) {
            in->from = in->to = 0;
            ssize_t n = in->is_over ? -1 : recv(in->source.fd, in->bytes, BYTES, MSG_DONTWAIT);

            if (in->is_over || (n < 0 && (errno == EAGAIN || errno == EINTR)))
                return true;
            if (n < 0)
                return false;
            if (n == 0) {
                in->is_over = true;
                (void)shutdown(out->source.fd, SHUT_WR);
                return true;
            }
            in->to = (size_t)n;
        }
        ssize_t n = send(out->source.fd, in->bytes + in->from, in->to - in->from,
                         MSG_DONTWAIT | MSG_NOSIGNAL);
        if (n < 0)
            return errno == EAGAIN || errno == EINTR;
        in->from += (size_t)n;
    }
}

/* Of interest is what can go on: reading where there is room, writing where something waits. */
static void watch(struct gate *gate, struct stream_end *at, const struct stream_end *other)
{
    uint32_t events = (at->from == at->to && !at->is_over ? EPOLLIN : 0u) |
                      (other->from < other->to ? EPOLLOUT : 0u);

    if (events == at->events)
        return;
    at->events = events;
    loop_change(&gate->loop, &at->source, events);
}

static void go_on(struct gate *gate, struct stream *stream)
{
    bool is_whole = move(&stream->near, &stream->far) && move(&stream->far, &stream->near);
    bool is_done = stream->near.is_over && stream->far.is_over &&
                   stream->near.from == stream->near.to && stream->far.from == stream->far.to;

    if (!is_whole || is_done) {
        end(gate, stream);
        return;
    }
    watch(gate, &stream->near, &stream->far);
    watch(gate, &stream->far, &stream->near);
    loop_set(&gate->loop, &stream->timer, LOOP_DELAY_HEAD);
}

/* The next server that can be tried; false: there is none. */
static bool dial(struct gate *gate, struct stream *stream)
{
    for (; stream->attempt < stream->servers.n; stream->attempt++) {
        struct sockaddr_storage name;
        socklen_t size =
            gate_socket_write(stream->servers.addresses[stream->attempt], DNS_PORT, &name);
        int fd = socket(name.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, IPPROTO_TCP);

        stream->far.source = (struct loop_source){ .happened = far_happened, .fd = fd };
        stream->far.events = EPOLLOUT;
        if (fd >= 0 &&
            (connect(fd, (const struct sockaddr *)&name, size) == 0 || errno == EINPROGRESS) &&
            loop_add(&gate->loop, &stream->far.source, EPOLLOUT) == 0)
            return true;
        loop_close(&stream->far.source);
    }
    return false;
}

static void far_happened(struct gate *gate, struct loop_source *source, uint32_t events)
{
    struct stream *stream = LOOP_CONTAINER(source, struct stream, far.source);
    int error = 0;
    socklen_t size = sizeof error;

    (void)events;
    if (!stream->is_connected) {
        if (getsockopt(source->fd, SOL_SOCKET, SO_ERROR, &error, &size) < 0 || error) {
            loop_close(source);
            stream->attempt++;
            if (!dial(gate, stream))
                end(gate, stream);
            return;
        }
        stream->is_connected = true;
    }
    go_on(gate, stream);
}

static void near_happened(struct gate *gate, struct loop_source *source, uint32_t events)
{
    struct stream *stream = LOOP_CONTAINER(source, struct stream, near.source);

    if (stream->is_connected)
        go_on(gate, stream);
    else if (events & (EPOLLHUP | EPOLLERR))
        end(gate, stream);
}

static void connection_came(struct gate *gate, struct loop_source *source, uint32_t events)
{
    struct nat_resident *resident = nat_resident_of(gate);
    int fd = accept4(source->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    struct stream *stream =
        fd >= 0 && resident->n_streams < MOST ? calloc(1, sizeof *stream) : NULL;

    (void)events;
    if (!stream) {
        loop_close(&(struct loop_source){ .happened = NULL, .fd = fd });
        return;
    }
    resident->n_streams++;
    stream->near.source = (struct loop_source){ .happened = near_happened, .fd = fd };
    stream->far.source.fd = -1;
    stream->timer.fire = is_late;
    nat_resident_servers(resident, &stream->servers);
    /* Not for what it has to say: that waits until somebody can hear it. */
    if (loop_add(&gate->loop, &stream->near.source, 0) < 0 || !dial(gate, stream)) {
        end(gate, stream);
        return;
    }
    loop_set(&gate->loop, &stream->timer, LOOP_DELAY_HEAD);
}

int nat_dns_serve_streams(struct nat_resident *resident)
{
    resident->tcp.happened = connection_came;
    return loop_add(&resident->gate.loop, &resident->tcp, EPOLLIN);
}
