#include "reader.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "mcp/http/exchange.h"

#define KEPT_BYTES (1024 * 1024)

static uint64_t now_ms(void)
{
    return clock_now_ns() / 1000000;
}

/* False: the other side is gone or too slow, or the server ends. */
static bool read_some(struct http_reader *reader, uint64_t deadline_ms)
{
    uint64_t now = now_ms();
    struct pollfd fds[] = { { .fd = reader->fd, .events = POLLIN },
                            { .fd = reader->stop_fd, .events = POLLIN } };

    if (now >= deadline_ms || poll(fds, COUNT(fds), (int)(deadline_ms - now)) <= 0 ||
        fds[1].revents || !buffer_reserve(&reader->in, 16384))
        return false;
    ssize_t n = recv(reader->fd, reader->in.data + reader->in.length, 16384, 0);
    if (n <= 0)
        return n < 0 && errno == EINTR;
    reader->in.length += (size_t)n;
    return true;
}

static void consume(struct http_reader *reader, size_t n)
{
    reader->in.length -= n;
    if (reader->in.length == 0 && reader->in.capacity > KEPT_BYTES)
        buffer_done(&reader->in);
    else if (reader->in.length > 0)
        memmove(reader->in.data, reader->in.data + n, reader->in.length);
}

ssize_t http_read_head(struct http_reader *reader, char out[HTTP_HEAD_MAX])
{
    uint64_t deadline = now_ms() + reader->patience.idle_ms;
    bool has_begun = reader->in.length > 0;

    for (;;) {
        size_t n = http_head_length(reader->in.data, reader->in.length);

        if (n > HTTP_HEAD_MAX || (n == 0 && reader->in.length > HTTP_HEAD_MAX))
            return -1;
        if (n > 0) {
            memcpy(out, reader->in.data, n);
            consume(reader, n);
            return (ssize_t)n;
        }
        if (!has_begun && reader->in.length > 0) {
            deadline = now_ms() + reader->patience.head_ms;
            has_begun = true;
        }
        if (!read_some(reader, deadline))
            return 0;
    }
}

static bool continue_if_asked(struct http_reader *reader, const struct http_head *head)
{
    static const char go_on[] = "HTTP/1.1 100 Continue\r\n\r\n";

    return !head->expects_continue || reader->in.length > 0 ||
           http_write_all(reader->fd, go_on, sizeof go_on - 1);
}

static int read_chunks(struct http_reader *reader, struct buffer *body)
{
    struct http_chunks chunks = { 0 };
    uint64_t deadline = now_ms() + reader->patience.body_ms;

    for (;;) {
        size_t taken = 0;
        int r = http_chunks_take(&chunks, reader->in.data, reader->in.length, &taken, body,
                                 reader->limit);

        if (r > 1)
            return r;
        consume(reader, taken);
        if (r == 1)
            return 0;
        if (!read_some(reader, deadline))
            return -1;
    }
}

int http_read_body(struct http_reader *reader, const struct http_head *head, struct buffer *body)
{
    uint64_t deadline = now_ms() + reader->patience.body_ms;

    if (head->length > reader->limit)
        return 413;
    if (!continue_if_asked(reader, head))
        return -1;
    if (head->is_chunked)
        return read_chunks(reader, body);
    while (reader->in.length < head->length)
        if (!read_some(reader, deadline))
            return -1;
    buffer_append(body, reader->in.data, (size_t)head->length);
    consume(reader, (size_t)head->length);
    return body->failed ? -1 : 0;
}

void http_linger(int fd, unsigned ms)
{
    char ignored[4096];
    uint64_t deadline = now_ms() + ms;
    struct pollfd input = { .fd = fd, .events = POLLIN };

    for (uint64_t now = now_ms(); now < deadline; now = now_ms())
        if (poll(&input, 1, (int)(deadline - now)) <= 0 ||
            recv(fd, ignored, sizeof ignored, MSG_DONTWAIT) <= 0)
            return;
}
