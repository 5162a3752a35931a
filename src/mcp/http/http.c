#include "http.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "base/fd.h"
#include "mcp/http_connection.h"
#include "mcp/http_guard.h"
#include "mcp/http_reader.h"

#define CONNECTIONS_MAX 128
#define STACK_BYTES     (256 * 1024)
#define LINGER_MS       1000

struct http {
    struct http_place place;
    int listen_fd;
    atomic_int n_connections;
};

struct visitor {
    struct http *http;
    int fd;
};

static void *serve_visitor(void *context)
{
    struct visitor *visitor = context;

    http_connection_serve(&visitor->http->place, visitor->fd);
    http_linger(visitor->fd, LINGER_MS);
    (void)close(visitor->fd);
    (void)atomic_fetch_sub(&visitor->http->n_connections, 1);
    free(visitor);
    return NULL;
}

static int start_thread(void *(*run)(void *), void *context)
{
    pthread_attr_t attributes;
    pthread_t thread;

    (void)pthread_attr_init(&attributes);
    (void)pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    (void)pthread_attr_setstacksize(&attributes, STACK_BYTES);
    int r = pthread_create(&thread, &attributes, run, context);
    (void)pthread_attr_destroy(&attributes);
    return r;
}

/* Takes the descriptor. */
static void welcome(struct http *http, int fd)
{
    struct visitor *visitor = malloc(sizeof *visitor);

    (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &(int){ 1 }, sizeof(int));
    fd_settle(&fd);
    if (visitor) {
        *visitor = (struct visitor){ http, fd };
        (void)atomic_fetch_add(&http->n_connections, 1);
        if (start_thread(serve_visitor, visitor) == 0)
            return;
        (void)atomic_fetch_sub(&http->n_connections, 1);
    }
    free(visitor);
    (void)close(fd);
}

static void *take_connections(void *context)
{
    struct http *http = context;

    for (;;) {
        int fd = accept4(http->listen_fd, NULL, NULL, SOCK_CLOEXEC);

        if (fd >= 0 && atomic_load(&http->n_connections) < CONNECTIONS_MAX) {
            welcome(http, fd);
        } else if (fd >= 0) {
            (void)close(fd);
        } else if (errno == EMFILE || errno == ENFILE || errno == ENOMEM || errno == ENOBUFS) {
            (void)poll(NULL, 0, 100); /* until somebody closes one */
        } else if (errno == EBADF || errno == EINVAL || errno == ENOTSOCK) {
            server_stop(http->place.server);
            return NULL;
        }
    }
}

static int listen_on_loopback(struct http *http, unsigned port, coop_error **err)
{
    struct sockaddr_in address = { .sin_family = AF_INET,
                                   .sin_port = htons((uint16_t)port),
                                   .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t size = sizeof address;

    http->listen_fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (http->listen_fd < 0)
        return fail(err, errno, "make a socket");
    (void)setsockopt(http->listen_fd, SOL_SOCKET, SO_REUSEADDR, &(int){ 1 }, sizeof(int));
    if (bind(http->listen_fd, (struct sockaddr *)&address, size) < 0 ||
        listen(http->listen_fd, 64) < 0 ||
        getsockname(http->listen_fd, (struct sockaddr *)&address, &size) < 0)
        return fail(err, errno, "listen on port %u of 127.0.0.1", port);
    http->place.port = ntohs(address.sin_port);
    return 0;
}

int http_start(struct server *server, struct toolset *toolset, struct http **out, coop_error **err)
{
    struct http *http = calloc(1, sizeof *http);

    if (!http)
        return fail_no_memory(err);
    http->place.server = server;
    http->place.sessions.first_toolset = toolset;
    (void)pthread_mutex_init(&http->place.sessions.lock, NULL);
    int r = http_token_get(server->options->token_file, &http->place.token, err);
    if (r == 0)
        r = listen_on_loopback(http, server->options->port, err);
    if (r < 0)
        return r;
    r = start_thread(take_connections, http);
    if (r != 0)
        return fail(err, r, "start a thread");
    (void)fprintf(stderr, "coop mcp: listening on http://127.0.0.1:%u" HTTP_PATH "\n",
                  http->place.port);
    if (http->place.token.is_made_up)
        (void)fprintf(stderr, "coop mcp: token %s\n", http->place.token.text);
    *out = http;
    return 0;
}

void http_end(struct http *http)
{
    (void)shutdown(http->listen_fd, SHUT_RDWR);
    http_sessions_end(&http->place.sessions);
}
