#include "http.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "base/fd.h"
#include "mcp/http/authorize.h"
#include "mcp/http/connection.h"
#include "mcp/http/reader.h"

#define STACK_BYTES        (256 * 1024)
#define LINGER_MS          1000
#define LINGER_STRANGER_MS 100

struct http {
    struct http_place place;
    int listen_fd;
};

struct visit {
    struct http *http;
    struct visitor *visitor;
    int fd;
};

static void *serve_visit(void *context)
{
    struct visit *visit = context;
    struct visitors *visitors = &visit->http->place.visitors;

    http_connection_serve(&visit->http->place, visit->visitor, visit->fd);
    bool is_known = visitor_release(visitors, visit->visitor);
    http_linger(visit->fd, is_known ? LINGER_MS : LINGER_STRANGER_MS);
    visitors_leave(visitors, visit->visitor);
    (void)close(visit->fd);
    free(visit);
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
    struct visit *visit = malloc(sizeof *visit);

    (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &(int){ 1 }, sizeof(int));
    fd_settle(&fd);
    struct visitor *visitor = visit ? visitors_enter(&http->place.visitors, fd) : NULL;
    if (visitor) {
        *visit = (struct visit){ http, visitor, fd };
        if (start_thread(serve_visit, visit) == 0)
            return;
        visitors_leave(&http->place.visitors, visitor);
    }
    free(visit);
    (void)close(fd);
}

static void *take_connections(void *context)
{
    struct http *http = context;

    for (;;) {
        int fd = accept4(http->listen_fd, NULL, NULL, SOCK_CLOEXEC);

        if (fd >= 0) {
            welcome(http, fd);
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
        listen(http->listen_fd, 256) < 0 ||
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
    visitors_init(&http->place.visitors);
    int r = http_token_get(server->options->token_file, &http->place.token, err);
    if (r == 0)
        r = listen_on_loopback(http, server->options->port, err);
    if (r < 0)
        return r;
    r = start_thread(take_connections, http);
    if (r != 0)
        return fail(err, r, "start a thread");
    *out = http;
    return 0;
}

void http_announce(const struct http *http)
{
    (void)fprintf(stderr, "coop mcp: listening on http://127.0.0.1:%u" HTTP_PATH "\n",
                  http->place.port);
    if (http->place.token.is_made_up)
        (void)fprintf(stderr, "coop mcp: token %s\n", http->place.token.text);
}

void http_end(struct http *http)
{
    (void)shutdown(http->listen_fd, SHUT_RDWR);
    http_sessions_end(&http->place.sessions);
}
