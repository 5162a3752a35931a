/*
 * relay.c - bytes from one socket to the other, both ways
 *
 * What was judged goes first. The next ones are copied: most connections never carry more, and a
 * pipe costs more than that.
 * Then pages go from socket to socket through a pipe. What is copied stays in the socket until the
 * other side has taken it, so a connection whose reader is slow holds no memory of ours. One side's
 * end is passed on as an end of that direction only, and a reset as a reset.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/socket.h>

#include "gate/connection.h"
#include "gate/watch.h"

#define ROUNDS       32          /* of one connection, then others are served */
#define COPIED_FIRST (64 * 1024) /* bytes, before a pipe is worth it */

enum moved { MOVED, MOVED_NOTHING, MOVED_OVER }; /* the last: the connection is gone */

static enum moved break_off(struct gate *gate, struct gate_connection *connection)
{
    gate_connection_reset(gate, connection);
    return MOVED_OVER;
}

static bool is_waiting(void)
{
    return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR;
}

static void give_pipe(struct gate *gate, struct gate_flow *flow)
{
    if (flow->pipe)
        gate_pipes_give(&gate->pipes, flow->pipe);
    flow->pipe = NULL;
}

static enum moved ended(struct gate *gate, struct gate_connection *connection,
                        struct gate_flow *flow)
{
    give_pipe(gate, flow);
    flow->has_ended = true;
    gate_watch_ended(connection, flow);
    return MOVED;
}

/* ---- by copying */

/* What was judged before there was a far side, or has not gone there whole. */
static enum moved send_held(struct gate *gate, struct gate_connection *connection,
                            struct gate_flow *flow, int to)
{
    struct gate_held *held = connection->held;
    ssize_t sent =
        send(to, held->bytes + held->at, held->n - held->at, MSG_NOSIGNAL | MSG_DONTWAIT);

    if (sent < 0 && !is_waiting())
        return break_off(gate, connection);
    if (sent < 0) {
        flow->is_writable = false;
        return MOVED_NOTHING;
    }
    held->at += (uint32_t)sent;
    if (held->at == held->n) {
        free(held);
        connection->held = NULL;
    }
    return MOVED;
}

/* All that was judged has left the socket: what has not been sent waits here. */
static enum moved hold_rest(struct gate *gate, struct gate_connection *connection,
                            struct gate_flow *flow, int from, size_t sent, size_t n)
{
    flow->is_writable = false;
    if (!gate_connection_hold(connection, gate->scratch + sent, n - sent))
        return break_off(gate, connection);
    gate_connection_consume(from, n);
    gate_watch_passed(connection, flow, n);
    return MOVED_NOTHING;
}

static enum moved copy(struct gate *gate, struct gate_connection *connection,
                       struct gate_flow *flow, int from, int to)
{
    size_t size = flow->copied < COPIED_FIRST ? COPIED_FIRST : GATE_SCRATCH;
    ssize_t n = recv(from, gate->scratch, size, MSG_PEEK | MSG_DONTWAIT);

    if (n == 0)
        return ended(gate, connection, flow);
    if (n < 0 && !is_waiting())
        return break_off(gate, connection);
    if (n < 0) {
        flow->is_readable = false;
        return MOVED_NOTHING;
    }
    bool is_all = (size_t)n < size && !flow->is_ending;
    ssize_t allowed = gate_watch_allow(gate, connection, flow, gate->scratch, (size_t)n);
    if (allowed < 0)
        return MOVED_OVER;
    if (allowed == 0) { /* more must come, from here or from the other side */
        flow->is_readable = false;
        return MOVED_NOTHING;
    }
    ssize_t sent = send(to, gate->scratch, (size_t)allowed, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0 && !is_waiting())
        return break_off(gate, connection);
    if (sent < allowed && gate_watch_has_judged(connection, flow))
        return hold_rest(gate, connection, flow, from, sent < 0 ? 0 : (size_t)sent,
                         (size_t)allowed);
    if (sent < 0) {
        flow->is_writable = false;
        return MOVED_NOTHING;
    }
    gate_connection_consume(from, (size_t)sent);
    gate_watch_passed(connection, flow, (size_t)sent);
    flow->copied =
        flow->copied > UINT32_MAX - (uint32_t)sent ? COPIED_FIRST : flow->copied + (uint32_t)sent;
    /* All that there was: the kernel tells of more. */
    if (is_all && sent == n)
        flow->is_readable = false;
    return MOVED;
}

/* ---- through a pipe */

static enum moved fill(struct gate *gate, struct gate_connection *connection,
                       struct gate_flow *flow, int from, size_t most)
{
    ssize_t n =
        splice(from, NULL, flow->pipe->write_fd, NULL, most, SPLICE_F_MOVE | SPLICE_F_NONBLOCK);

    if (n == 0) { /* the end, or an urgent byte with the end somewhere behind it */
        flow->needs_copy = true;
        give_pipe(gate, flow);
        return MOVED;
    }
    if (n < 0 && !is_waiting())
        return break_off(gate, connection);
    if (n < 0) {
        flow->is_readable = false;
        give_pipe(gate, flow);
        return MOVED_NOTHING;
    }
    flow->in_pipe = (uint32_t)n;
    gate_watch_passed(connection, flow, (size_t)n);
    return MOVED;
}

static enum moved empty(struct gate *gate, struct gate_connection *connection,
                        struct gate_flow *flow, int to)
{
    ssize_t n = splice(flow->pipe->read_fd, NULL, to, NULL, flow->in_pipe,
                       SPLICE_F_MOVE | SPLICE_F_NONBLOCK);

    if (n < 0 && !is_waiting())
        return break_off(gate, connection);
    if (n <= 0) {
        flow->is_writable = false;
        return MOVED_NOTHING;
    }
    flow->in_pipe -= (uint32_t)n;
    return MOVED;
}

static bool has_pipe(struct gate *gate, struct gate_flow *flow)
{
    if (flow->needs_copy)
        return false;
    if (flow->pipe)
        return true;
    if (flow->copied < COPIED_FIRST)
        return false;
    flow->pipe = gate_pipes_take(&gate->pipes);
    return flow->pipe;
}

/* ---- one direction */

static enum moved move(struct gate *gate, struct gate_connection *connection,
                       struct gate_flow *flow, int from, int to)
{
    if (flow == &connection->up && connection->held)
        return flow->is_writable ? send_held(gate, connection, flow, to) : MOVED_NOTHING;
    if (flow->in_pipe > 0)
        return flow->is_writable ? empty(gate, connection, flow, to) : MOVED_NOTHING;
    if (flow->has_ended || !flow->is_readable || !flow->is_writable) {
        give_pipe(gate, flow);
        return MOVED_NOTHING;
    }
    size_t most = gate_watch_blind(connection, flow);
    if (most > GATE_PIPE_BYTES)
        most = GATE_PIPE_BYTES;
    if (most > 0 && has_pipe(gate, flow))
        return fill(gate, connection, flow, from, most);
    give_pipe(gate, flow);
    return copy(gate, connection, flow, from, to);
}

/* The end of one direction, once nothing of it is left here. */
static void pass_end_on(struct gate_flow *flow, int to)
{
    if (!flow->has_ended || flow->in_pipe > 0 || flow->is_shut)
        return;
    (void)shutdown(to, SHUT_WR);
    flow->is_shut = true;
}

static bool is_done(const struct gate_flow *flow)
{
    return flow->has_ended && flow->in_pipe == 0;
}

void gate_relay_step(struct gate *gate, struct gate_connection *connection)
{
    int near = connection->near.fd;
    int far = connection->far.fd;

    for (int i = 0; i < ROUNDS; i++) {
        enum moved up = move(gate, connection, &connection->up, near, far);
        if (up == MOVED_OVER)
            return;
        enum moved down = move(gate, connection, &connection->down, far, near);
        if (down == MOVED_OVER)
            return;
        if ((connection->up.is_broken && connection->up.has_ended) ||
            (connection->down.is_broken && connection->down.has_ended)) {
            gate_connection_reset(gate, connection);
            return;
        }
        if (is_done(&connection->up) && is_done(&connection->down)) {
            gate_connection_close(gate, connection);
            return;
        }
        pass_end_on(&connection->up, far);
        pass_end_on(&connection->down, near);
        if (up == MOVED_NOTHING && down == MOVED_NOTHING)
            return;
    }
    loop_turn(&gate->loop, &connection->turn);
}

void gate_relay_begin(struct gate *gate, struct gate_connection *connection)
{
    gate_connection_enter(gate, connection, GATE_STAGE_RELAY);
    gate_relay_step(gate, connection);
}
