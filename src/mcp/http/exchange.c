#include "exchange.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"

#define PATIENCE_MS 30000 /* for a client that does not read */
#define BEAT_MAX    4096

struct http_exchange {
    struct exchange exchange;
    pthread_mutex_t lock;
    int fd; /* -1: closed */
    int done_fd;
    enum http_sort sort;
    bool keeps_alive, is_broken;
    bool has_head; /* something was sent */
    char *fields;
};

bool http_write_all(int fd, const char *bytes, size_t n)
{
    uint64_t end_ms = clock_now_ns() / 1000000 + PATIENCE_MS;

    while (n > 0) {
        ssize_t sent = send(fd, bytes, n, MSG_NOSIGNAL | MSG_DONTWAIT);

        if (sent > 0) {
            bytes += sent;
            n -= (size_t)sent;
            continue;
        }
        if (sent < 0 && errno == EINTR)
            continue;
        uint64_t now_ms = clock_now_ns() / 1000000;
        struct pollfd room = { .fd = fd, .events = POLLOUT };
        if (errno != EAGAIN || now_ms >= end_ms || poll(&room, 1, (int)(end_ms - now_ms)) == 0)
            return false;
    }
    return true;
}

static bool put(struct http_exchange *http, const struct buffer *text)
{
    if (!http->is_broken)
        http->is_broken =
            text->failed || http->fd < 0 || !http_write_all(http->fd, text->data, text->length);
    return !http->is_broken;
}

static bool put_stream_head(struct http_exchange *http)
{
    auto_buffer struct buffer text = { 0 };

    if (http->has_head)
        return !http->is_broken;
    http->has_head = true;
    buffer_printf(&text,
                  "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
                  "Cache-Control: no-cache, no-transform\r\nConnection: close\r\n%s\r\n",
                  http->fields);
    return put(http, &text);
}

static void put_event(struct http_exchange *http, const char *bytes, size_t n)
{
    auto_buffer struct buffer text = { 0 };

    buffer_append_string(&text, "event: message\ndata: ");
    buffer_append(&text, bytes, n);
    buffer_append_string(&text, "\n\n");
    (void)(put_stream_head(http) && put(http, &text));
}

static void put_document(struct http_exchange *http, const char *bytes, size_t n)
{
    auto_buffer struct buffer text = { 0 };

    http->has_head = true;
    buffer_printf(&text,
                  "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %zu\r\n"
                  "Connection: %s\r\n%s\r\n",
                  n, http->keeps_alive ? "keep-alive" : "close", http->fields);
    buffer_append(&text, bytes, n);
    (void)put(http, &text);
}

static void settle(struct http_exchange *http)
{
    if (http->done_fd >= 0)
        (void)!write(http->done_fd, &(uint64_t){ 1 }, sizeof(uint64_t));
}

/* Whether it goes at once. */
static bool has_room(const struct http_exchange *http, size_t n)
{
    struct pollfd room = { .fd = http->fd, .events = POLLOUT };

    return n < BEAT_MAX && http->fd >= 0 && poll(&room, 1, 0) == 1;
}

static void http_send(struct exchange *exchange, enum exchange_kind kind, const char *bytes,
                      size_t n)
{
    struct http_exchange *http = (struct http_exchange *)exchange;

    if (kind != EXCHANGE_REPLY && http->sort == HTTP_JSON)
        return;
    if (kind != EXCHANGE_BEAT)
        (void)pthread_mutex_lock(&http->lock);
    else if (pthread_mutex_trylock(&http->lock) != 0)
        return;
    if (http->sort == HTTP_JSON)
        put_document(http, bytes, n);
    else if (kind != EXCHANGE_BEAT || has_room(http, n))
        put_event(http, bytes, n);
    if (kind == EXCHANGE_REPLY || http->is_broken)
        settle(http);
    (void)pthread_mutex_unlock(&http->lock);
}

static void http_forgo(struct exchange *exchange)
{
    struct http_exchange *http = (struct http_exchange *)exchange;

    (void)pthread_mutex_lock(&http->lock);
    settle(http);
    (void)pthread_mutex_unlock(&http->lock);
}

static void http_free(struct exchange *exchange)
{
    struct http_exchange *http = (struct http_exchange *)exchange;

    (void)pthread_mutex_destroy(&http->lock);
    free(http->fields);
    free(http);
}

struct exchange *http_exchange_new(int fd, enum http_sort sort, const char *fields,
                                   bool keeps_alive, int done_fd)
{
    static const struct exchange_type type = { http_send, http_forgo, http_free };
    struct http_exchange *http = calloc(1, sizeof *http);
    char *copy = strdup(fields);

    if (!http || !copy) {
        free(http);
        free(copy);
        return NULL;
    }
    exchange_init(&http->exchange, &type);
    (void)pthread_mutex_init(&http->lock, NULL);
    http->fd = fd;
    http->done_fd = done_fd;
    http->sort = sort;
    http->fields = copy;
    http->keeps_alive = keeps_alive;
    return &http->exchange;
}

bool http_exchange_open(struct exchange *exchange)
{
    struct http_exchange *http = (struct http_exchange *)exchange;

    (void)pthread_mutex_lock(&http->lock);
    bool is_open = put_stream_head(http);
    (void)pthread_mutex_unlock(&http->lock);
    return is_open;
}

bool http_exchange_keep_alive(struct exchange *exchange)
{
    struct http_exchange *http = (struct http_exchange *)exchange;
    static const char comment[] = ": still here\n\n";
    const struct buffer text = { (char *)comment, sizeof comment - 1, sizeof comment, false };

    (void)pthread_mutex_lock(&http->lock);
    bool is_there = put(http, &text);
    (void)pthread_mutex_unlock(&http->lock);
    return is_there;
}

bool http_exchange_close(struct exchange *exchange)
{
    struct http_exchange *http = (struct http_exchange *)exchange;
    auto_buffer struct buffer text = { 0 };

    (void)pthread_mutex_lock(&http->lock);
    if (!http->has_head) {
        buffer_printf(&text,
                      "HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\nConnection: %s\r\n%s\r\n",
                      http->keeps_alive ? "keep-alive" : "close", http->fields);
        (void)put(http, &text);
    }
    bool can_go_on = !http->is_broken && http->sort == HTTP_JSON && http->keeps_alive;
    http->fd = -1;
    http->done_fd = -1;
    http->is_broken = true;
    (void)pthread_mutex_unlock(&http->lock);
    return can_go_on;
}
