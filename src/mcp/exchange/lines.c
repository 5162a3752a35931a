/*
 * lines.c - messages as lines on standard output
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/uio.h>
#include <unistd.h>

#include "mcp/exchange/exchange.h"

#define WIDE_BYTES (256 * 1024)

struct line_writer {
    struct exchange exchange;
    int fd; /* borrowed */
    pthread_mutex_t lock;
    bool is_broken, is_wide;
    void (*on_broken)(void *context);
    void *context;
};

/* The message and its newline in one call where that goes: a reader wakes once. */
static bool write_line(int fd, const char *bytes, size_t n)
{
    size_t done = 0;

    while (done <= n) {
        struct iovec parts[] = { { (char *)bytes + done, n - done }, { (char *)"\n", 1 } };
        ssize_t r = writev(fd, parts, 2);

        if (r < 0 && errno == EAGAIN) { /* somebody made it non-blocking: wait ourselves */
            struct pollfd room = { .fd = fd, .events = POLLOUT };

            (void)poll(&room, 1, -1);
            continue;
        }
        if (r < 0 && errno != EINTR)
            return false;
        if (r > 0)
            done += (size_t)r;
    }
    return true;
}

/* A large message goes through a large pipe with fewer turns. What is no pipe stays as it is. */
static void widen(struct line_writer *writer, size_t n)
{
    if (writer->is_wide || n < WIDE_BYTES)
        return;
    writer->is_wide = true;
    (void)fcntl(writer->fd, F_SETPIPE_SZ, WIDE_BYTES);
}

/* A short message, and room for it: poll() promises that a page goes into a pipe. */
static bool would_wait(int fd, size_t n)
{
    struct pollfd room = { .fd = fd, .events = POLLOUT };

    return n >= PIPE_BUF || poll(&room, 1, 0) != 1;
}

static void line_send(struct exchange *exchange, enum exchange_kind kind, const char *bytes,
                      size_t n)
{
    struct line_writer *writer = (struct line_writer *)exchange;

    if (kind == EXCHANGE_BEAT) {
        if (pthread_mutex_trylock(&writer->lock) != 0)
            return;
        if (would_wait(writer->fd, n)) {
            (void)pthread_mutex_unlock(&writer->lock);
            return;
        }
    } else {
        (void)pthread_mutex_lock(&writer->lock);
    }
    widen(writer, n);
    if (!writer->is_broken && !write_line(writer->fd, bytes, n)) {
        writer->is_broken = true;
        writer->on_broken(writer->context);
    }
    (void)pthread_mutex_unlock(&writer->lock);
}

static void line_free(struct exchange *exchange)
{
    struct line_writer *writer = (struct line_writer *)exchange;

    (void)pthread_mutex_destroy(&writer->lock);
    free(writer);
}

struct exchange *exchange_lines_new(int fd, void (*on_broken)(void *context), void *context)
{
    static const struct exchange_type type = { line_send, NULL, line_free };
    struct line_writer *writer = calloc(1, sizeof *writer);

    if (!writer)
        return NULL;
    exchange_init(&writer->exchange, &type);
    writer->fd = fd;
    writer->on_broken = on_broken;
    writer->context = context;
    (void)pthread_mutex_init(&writer->lock, NULL);
    return &writer->exchange;
}
