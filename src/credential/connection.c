#include "connection.h"

#include <errno.h>
#include <openssl/err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/secret_memory.h"
#include "credential/answer.h"
#include "credential/tls.h"
#include "net/wire/http_stream.h"

#define EVERYTHING       (EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET)
#define CONNECTIONS_MOST 256
#define BUFFER_BYTES     (32 * 1024)
#define ROUNDS           32 /* of one connection, then others are served */
#define DRAINED_MOST     (1024 * 1024)

enum stage { STATE_HEAD, STATE_HANDSHAKE, STATE_RELAY, STATE_LINGER };

/* Bytes on their way. */
struct piece {
    char *bytes;
    size_t at, n;
};

struct credential_connection {
    struct loop_dead dead;
    struct loop_source near, far;
    struct loop_timer timer;
    struct loop_task turn;
    struct credential_connection *previous, *next;
    struct credential_server *server;
    const struct credential *credential;
    SSL *ssl;
    struct http_stream stream; /* of what the box sends */
    struct piece head;         /* with the secret: secret memory */
    struct piece up, down;
    struct buffer answer; /* the head of the host's answer, as the box gets it */
    size_t answer_at;
    enum stage stage;
    bool is_near_readable, is_near_writable;
    bool is_up_waiting, is_down_waiting; /* for the far socket */
    bool is_asking;                      /* for another protocol */
    bool has_answer;                     /* the head of the last one has come */
    bool is_framed;
    bool has_up_ended, has_down_ended;
    unsigned n_drained;
};

enum moved { MOVED, MOVED_NOTHING, MOVED_OVER }; /* the last: the connection is gone */

/* ---- life */

static void end(struct credential_connection *connection)
{
    struct credential_server *server = connection->server;

    loop_stop(&connection->timer);
    loop_no_turn(&connection->turn);
    SSL_free(connection->ssl);
    secret_free(connection->head.bytes);
    free(connection->up.bytes);
    free(connection->down.bytes);
    buffer_done(&connection->answer);
    loop_close(&connection->near);
    loop_close(&connection->far);
    if (connection->previous)
        connection->previous->next = connection->next;
    else
        server->connections = connection->next;
    if (connection->next)
        connection->next->previous = connection->previous;
    server->n_connections--;
    loop_free(&server->loop, &connection->dead);
}

static void reset_fd(int fd)
{
    const struct linger now = { .l_onoff = 1 };

    if (fd >= 0)
        (void)setsockopt(fd, SOL_SOCKET, SO_LINGER, &now, sizeof now);
}

static enum moved break_off(struct credential_connection *connection)
{
    reset_fd(connection->near.fd);
    reset_fd(connection->far.fd);
    end(connection);
    return MOVED_OVER;
}

static void is_late(struct gate *gate, struct loop_timer *timer)
{
    (void)gate;
    (void)break_off(LOOP_CONTAINER(timer, struct credential_connection, timer));
}

static void enter(struct credential_connection *connection, enum stage stage)
{
    static const enum loop_delay delays[] = {
        [STATE_HEAD] = LOOP_DELAY_HEAD,
        [STATE_HANDSHAKE] = LOOP_DELAY_DIAL,
        [STATE_RELAY] = LOOP_N_DELAYS,
        [STATE_LINGER] = LOOP_DELAY_LINGER,
    };

    loop_stop(&connection->timer);
    connection->stage = stage;
    connection->timer.fire = is_late;
    if (delays[stage] != LOOP_N_DELAYS)
        loop_set(&connection->server->loop, &connection->timer, delays[stage]);
}

static bool is_waiting(void)
{
    return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR;
}

/* ---- the last words */

/* A socket that is closed with something unread in it sends a reset, and the end may be lost. */
static void step_linger(struct credential_connection *connection)
{
    while (connection->is_near_readable) {
        ssize_t n = recv(connection->near.fd, NULL, DRAINED_MOST, MSG_TRUNC | MSG_DONTWAIT);

        if (n < 0 && is_waiting()) {
            connection->is_near_readable = false;
            return;
        }
        connection->n_drained += n > 0 ? (unsigned)n : 0;
        if (n > 0 && connection->n_drained < DRAINED_MOST)
            continue;
        end(connection);
        return;
    }
}

static enum moved linger(struct credential_connection *connection)
{
    (void)shutdown(connection->near.fd, SHUT_WR);
    if (connection->stage == STATE_RELAY)
        (void)SSL_shutdown(connection->ssl);
    loop_close(&connection->far);
    enter(connection, STATE_LINGER);
    connection->is_near_readable = true;
    step_linger(connection);
    return MOVED_OVER;
}

/* An answer of our own. */
static enum moved refuse(struct credential_connection *connection, const char *status,
                         const char *why)
{
    char text[1024];
    int n = snprintf(text, sizeof text,
                     "HTTP/1.1 %s\r\nContent-Type: text/plain\r\nContent-Length: %zu\r\n"
                     "Connection: close\r\n\r\ncoop: %s\n",
                     status, strlen("coop: ") + strlen(why) + 1, why);

    credential_server_tell(connection->server, connection->credential, why);
    (void)send(connection->near.fd, text, (size_t)n, MSG_NOSIGNAL | MSG_DONTWAIT);
    return linger(connection);
}

/* ---- the request's head */

static bool write_head(struct credential_connection *connection, const struct http_request *request)
{
    const struct credential_route *route = &connection->credential->route;

    connection->head.bytes = secret_new(credential_request_room(route));
    if (connection->head.bytes)
        connection->head.n = credential_request_write(route, connection->server->scratch, request,
                                                      connection->head.bytes);
    return connection->head.bytes;
}

static void step_handshake(struct credential_connection *connection);

static void begin_handshake(struct credential_connection *connection)
{
    connection->ssl = credential_tls_new(connection->credential, connection->far.fd);
    if (!connection->ssl) {
        (void)break_off(connection);
        return;
    }
    enter(connection, STATE_HANDSHAKE);
    step_handshake(connection);
}

static void step_head(struct credential_connection *connection)
{
    char *bytes = connection->server->scratch;
    struct http_request request;
    size_t n_passed = 0;

    if (!connection->is_near_readable)
        return;
    ssize_t n = recv(connection->near.fd, bytes, HTTP_REQUEST_MAX, MSG_PEEK | MSG_DONTWAIT);
    if (n < 0 && is_waiting())
        n = 0;
    else if (n <= 0) {
        (void)break_off(connection);
        return;
    }
    switch (http_stream_take(&connection->stream, bytes, (size_t)n, &n_passed, &request)) {
    case HTTP_STREAM_MORE:
        connection->is_near_readable = false;
        return;
    case HTTP_STREAM_HEAD:
        break;
    case HTTP_STREAM_PASS:
    case HTTP_STREAM_ASKED:
    case HTTP_STREAM_BAD:
        (void)refuse(connection, "400 Bad Request", connection->stream.why);
        return;
    }
    const char *why = credential_request_refuse(&request);
    if (why) {
        (void)refuse(connection, "405 Method Not Allowed", why);
        return;
    }
    connection->is_asking = request.is_upgrade;
    if (!write_head(connection, &request)) {
        (void)break_off(connection);
        return;
    }
    (void)recv(connection->near.fd, NULL, n_passed, MSG_TRUNC | MSG_DONTWAIT);
    begin_handshake(connection);
}

/* ---- the handshake */

static enum moved step_relay_once(struct credential_connection *connection);
static void step_relay(struct credential_connection *connection);

static void step_handshake(struct credential_connection *connection)
{
    char why[512];

    ERR_clear_error();
    int r = SSL_connect(connection->ssl);
    if (r == 1) {
        enter(connection, STATE_RELAY);
        connection->is_up_waiting = connection->is_down_waiting = false;
        step_relay(connection);
        return;
    }
    if (credential_tls_result(connection->ssl, r) == CREDENTIAL_TLS_WAIT)
        return;
    credential_tls_explain(connection->ssl, why, sizeof why);
    (void)refuse(connection, "502 Bad Gateway", why);
}

/* ---- from the box to the host */

static enum moved write_piece(struct credential_connection *connection, struct piece *piece)
{
    ERR_clear_error();
    int r = SSL_write(connection->ssl, piece->bytes + piece->at, (int)(piece->n - piece->at));

    if (r > 0) {
        piece->at += (size_t)r;
        return MOVED;
    }
    if (credential_tls_result(connection->ssl, r) != CREDENTIAL_TLS_WAIT) {
        /* It may have answered before it hung up. */
        connection->has_up_ended = true;
        piece->at = piece->n;
        return MOVED;
    }
    connection->is_up_waiting = true;
    return MOVED_NOTHING;
}

/* The next of what the box sends, as far as it belongs to its request. */
static enum moved read_near(struct credential_connection *connection)
{
    struct piece *up = &connection->up;
    uint64_t body = http_stream_body(&connection->stream);
    size_t size = body > 0 && body < BUFFER_BYTES ? (size_t)body : BUFFER_BYTES;
    ssize_t n = recv(connection->near.fd, up->bytes, size, MSG_DONTWAIT | (body ? 0 : MSG_PEEK));

    if (n < 0 && is_waiting()) {
        connection->is_near_readable = false;
        return MOVED_NOTHING;
    }
    if (n == 0 && body == UINT64_MAX) { /* another protocol: it ends in each direction by itself */
        connection->has_up_ended = true;
        (void)SSL_shutdown(connection->ssl);
        (void)shutdown(connection->far.fd, SHUT_WR);
        return MOVED;
    }
    if (n <= 0) /* in the middle of its request */
        return break_off(connection);
    size_t n_passed = (size_t)n;
    if (body > 0) {
        http_stream_skip(&connection->stream, (uint64_t)n);
    } else {
        struct http_request request;
        enum http_stream_step step =
            http_stream_take(&connection->stream, up->bytes, (size_t)n, &n_passed, &request);

        if (step == HTTP_STREAM_ASKED)
            return MOVED_NOTHING; /* the answer will tell */
        if (step != HTTP_STREAM_PASS) {
            credential_server_tell(connection->server, connection->credential,
                                   connection->stream.why ? connection->stream.why
                                                          : "the request cannot be read");
            return break_off(connection);
        }
        (void)recv(connection->near.fd, NULL, n_passed, MSG_TRUNC | MSG_DONTWAIT);
    }
    up->at = 0;
    up->n = n_passed;
    return MOVED;
}

static enum moved move_up(struct credential_connection *connection)
{
    if (connection->has_up_ended || connection->is_up_waiting)
        return MOVED_NOTHING;
    if (connection->head.at < connection->head.n)
        return write_piece(connection, &connection->head);
    if (connection->head.bytes) {
        secret_free(connection->head.bytes);
        connection->head.bytes = NULL;
    }
    if (connection->up.at < connection->up.n)
        return write_piece(connection, &connection->up);
    if (http_stream_is_idle(&connection->stream)) {
        connection->has_up_ended = true;
        return MOVED_NOTHING;
    }
    return connection->is_near_readable ? read_near(connection) : MOVED_NOTHING;
}

/* ---- from the host to the box */

static enum moved send_near(struct credential_connection *connection, const char *bytes, size_t *at,
                            size_t n)
{
    ssize_t sent = send(connection->near.fd, bytes + *at, n - *at, MSG_NOSIGNAL | MSG_DONTWAIT);

    if (sent < 0 && is_waiting()) {
        connection->is_near_writable = false;
        return MOVED_NOTHING;
    }
    if (sent < 0)
        return break_off(connection);
    *at += (size_t)sent;
    return MOVED;
}

/* What the head means for what the box may send next. False: the connection cannot go on. */
static bool take_answer(struct credential_connection *connection,
                        const struct credential_answer *answer)
{
    if (credential_answer_is_interim(answer))
        return true;
    connection->has_answer = true;
    connection->is_framed = answer->is_framed;
    if (answer->status != 101) {
        http_stream_answered(&connection->stream, false);
        return true;
    }
    if (!connection->is_asking)
        return false;
    http_stream_answered(&connection->stream, true);
    connection->is_near_readable = true;
    return http_stream_body(&connection->stream) == UINT64_MAX;
}

/* Heads stand at the front of the buffer, and there may be several. */
static enum moved read_heads(struct credential_connection *connection)
{
    struct piece *down = &connection->down;
    struct credential_answer answer;

    while (!connection->has_answer) {
        down->bytes[down->n] = '\0';
        enum http_state state = credential_answer_parse(down->bytes, down->n, &answer);
        if (state == HTTP_MORE)
            return MOVED;
        if (state == HTTP_BAD)
            return refuse(connection, "502 Bad Gateway", "the host's answer is no HTTP/1");
        credential_answer_write(down->bytes, &answer, connection->credential->redact,
                                &connection->answer);
        if (connection->answer.failed || !take_answer(connection, &answer))
            return break_off(connection);
        down->n -= answer.length;
        memmove(down->bytes, down->bytes + answer.length, down->n);
    }
    down->at = 0;
    return MOVED;
}

static enum moved end_down(struct credential_connection *connection, bool is_cut_off)
{
    connection->has_down_ended = true;
    if (!connection->has_answer)
        return refuse(connection, "502 Bad Gateway", "the host has hung up without an answer");
    /* The box could not tell that something is missing. */
    return is_cut_off && !connection->is_framed ? break_off(connection) : MOVED;
}

static enum moved read_far(struct credential_connection *connection)
{
    struct piece *down = &connection->down;
    size_t n = connection->has_answer ? 0 : down->n;
    size_t size = connection->has_answer ? BUFFER_BYTES : CREDENTIAL_ANSWER_MAX;

    ERR_clear_error();
    int r = SSL_read(connection->ssl, down->bytes + n, (int)(size - n));
    if (r > 0) {
        down->n = n + (size_t)r;
        down->at = connection->has_answer ? 0 : down->n;
        return connection->has_answer ? MOVED : read_heads(connection);
    }
    switch (credential_tls_result(connection->ssl, r)) {
    case CREDENTIAL_TLS_WAIT:
        connection->is_down_waiting = true;
        return MOVED_NOTHING;
    case CREDENTIAL_TLS_END:
        return end_down(connection, false);
    case CREDENTIAL_TLS_CUT_OFF:
        return end_down(connection, true);
    case CREDENTIAL_TLS_FAILED:
        break;
    }
    return connection->has_answer ? break_off(connection) : end_down(connection, true);
}

static enum moved move_down(struct credential_connection *connection)
{
    struct piece *down = &connection->down;

    if (!connection->is_near_writable)
        return MOVED_NOTHING;
    if (connection->answer_at < connection->answer.length) {
        enum moved moved = send_near(connection, connection->answer.data, &connection->answer_at,
                                     connection->answer.length);

        if (moved != MOVED_OVER && connection->answer_at == connection->answer.length) {
            buffer_done(&connection->answer);
            connection->answer_at = 0;
        }
        return moved;
    }
    if (connection->has_answer && down->at < down->n)
        return send_near(connection, down->bytes, &down->at, down->n);
    if (connection->has_down_ended)
        return linger(connection);
    return connection->is_down_waiting ? MOVED_NOTHING : read_far(connection);
}

/* ---- both ways */

static enum moved step_relay_once(struct credential_connection *connection)
{
    enum moved up = move_up(connection);

    if (up == MOVED_OVER)
        return up;
    enum moved down = move_down(connection);
    return down == MOVED_NOTHING ? up : down;
}

static void step_relay(struct credential_connection *connection)
{
    for (int i = 0; i < ROUNDS; i++) {
        enum moved moved = step_relay_once(connection);

        if (moved != MOVED)
            return;
    }
    loop_turn(&connection->server->loop, &connection->turn);
}

static void step(struct credential_connection *connection)
{
    switch (connection->stage) {
    case STATE_HEAD:
        step_head(connection);
        break;
    case STATE_HANDSHAKE:
        step_handshake(connection);
        break;
    case STATE_RELAY:
        step_relay(connection);
        break;
    case STATE_LINGER:
        step_linger(connection);
        break;
    }
}

/* ---- what happens to sockets */

static void near_happened(struct gate *gate, struct loop_source *source, uint32_t events)
{
    struct credential_connection *connection =
        LOOP_CONTAINER(source, struct credential_connection, near);

    (void)gate;
    if (events & (EPOLLHUP | EPOLLERR) && connection->stage != STATE_LINGER) {
        (void)break_off(connection); /* nobody waits for an answer any more */
        return;
    }
    connection->is_near_readable |= (events & ~(uint32_t)EPOLLOUT) != 0;
    connection->is_near_writable |= (events & EPOLLOUT) != 0;
    step(connection);
}

/* What TLS waits for, in either direction, may be either. */
static void far_happened(struct gate *gate, struct loop_source *source, uint32_t events)
{
    struct credential_connection *connection =
        LOOP_CONTAINER(source, struct credential_connection, far);

    (void)gate;
    (void)events;
    connection->is_up_waiting = connection->is_down_waiting = false;
    if (connection->stage == STATE_HANDSHAKE || connection->stage == STATE_RELAY)
        step(connection);
}

static void took_turn(struct gate *gate, struct loop_task *turn)
{
    (void)gate;
    step(LOOP_CONTAINER(turn, struct credential_connection, turn));
}

/* ---- */

static struct credential_connection *new_connection(struct credential_server *server)
{
    struct credential_connection *connection = calloc(1, sizeof *connection);

    if (!connection)
        return NULL;
    connection->up.bytes = malloc(BUFFER_BYTES);
    connection->down.bytes = malloc(CREDENTIAL_ANSWER_MAX + 1);
    if (!connection->up.bytes || !connection->down.bytes) {
        free(connection->up.bytes);
        free(connection->down.bytes);
        free(connection);
        return NULL;
    }
    connection->server = server;
    connection->next = server->connections;
    if (connection->next)
        connection->next->previous = connection;
    server->connections = connection;
    server->n_connections++;
    return connection;
}

void credential_connection_begin(struct credential_server *server,
                                 const struct credential *credential, int near_fd, int far_fd)
{
    bool is_full = server->n_connections >= CONNECTIONS_MOST;
    struct credential_connection *connection = is_full ? NULL : new_connection(server);

    if (!connection) {
        reset_fd(near_fd);
        reset_fd(far_fd);
        (void)close(near_fd);
        (void)close(far_fd);
        if (is_full)
            credential_server_tell(server, credential, "more requests at once than are served");
        return;
    }
    connection->credential = credential;
    connection->near = (struct loop_source){ .happened = near_happened, .fd = near_fd };
    connection->far = (struct loop_source){ .happened = far_happened, .fd = far_fd };
    connection->turn.take = took_turn;
    if (loop_add(&server->loop, &connection->near, EVERYTHING) < 0 ||
        loop_add(&server->loop, &connection->far, EVERYTHING) < 0) {
        (void)break_off(connection);
        return;
    }
    enter(connection, STATE_HEAD);
}

void credential_connection_end_all(struct credential_server *server,
                                   const struct credential *credential)
{
    struct credential_connection *next;

    for (struct credential_connection *at = server->connections; at; at = next) {
        next = at->next;
        if (at->credential == credential)
            (void)break_off(at);
    }
}
