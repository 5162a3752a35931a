/* worlds: user */
#include "reader.h"

#include <pthread.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "test/check.h"

#define LONG_MS  600000 /* longer than a test may take: nothing here may wait for it */
#define SHORT_MS 50
#define FAR      0x40000000 /* bytes that nobody ever sends */

/* Somebody who sends `begin`, and then a byte now and then, for as long as anybody listens. */
struct dripper {
    int fd;
    const char *begin;
    pthread_t thread;
};

static void *drip(void *context)
{
    const struct dripper *dripper = context;
    const struct timespec pause = { .tv_nsec = 1000000 };

    (void)send(dripper->fd, dripper->begin, strlen(dripper->begin), MSG_NOSIGNAL);
    while (send(dripper->fd, "a", 1, MSG_NOSIGNAL) == 1)
        (void)nanosleep(&pause, NULL);
    return NULL;
}

static int fds[2];

static void dripper_start(struct dripper *dripper, const char *begin)
{
    CHECK(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) == 0);
    *dripper = (struct dripper){ .fd = fds[1], .begin = begin };
    CHECK(pthread_create(&dripper->thread, NULL, drip, dripper) == 0);
}

static void dripper_end(struct dripper *dripper)
{
    (void)close(fds[0]);
    CHECK(pthread_join(dripper->thread, NULL) == 0);
    (void)close(fds[1]);
}

static struct http_reader reader_of(struct http_patience patience, int stop_fd)
{
    return (
        struct http_reader){ .fd = fds[0], .stop_fd = stop_fd, .limit = FAR, .patience = patience };
}

TEST(a_head_that_comes_byte_by_byte_is_not_waited_for)
{
    struct dripper dripper;
    char text[HTTP_HEAD_MAX];
    auto_close int stop_fd = eventfd(0, EFD_CLOEXEC);

    dripper_start(&dripper, "GET /mcp HTTP/1.1\r\n");
    struct http_reader reader =
        reader_of((struct http_patience){ LONG_MS, SHORT_MS, LONG_MS }, stop_fd);
    CHECK(http_read_head(&reader, text) == 0);
    CHECK(reader.in.length > 0); /* it was there, and too slow */
    buffer_done(&reader.in);
    dripper_end(&dripper);
}

TEST(nor_is_one_that_does_not_begin)
{
    char text[HTTP_HEAD_MAX];
    auto_close int stop_fd = eventfd(0, EFD_CLOEXEC);

    CHECK(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) == 0);
    struct http_reader reader =
        reader_of((struct http_patience){ SHORT_MS, LONG_MS, LONG_MS }, stop_fd);
    CHECK(http_read_head(&reader, text) == 0);
    (void)close(fds[0]);
    (void)close(fds[1]);
}

static void read_slow_body(const char *begin, const struct http_head *head)
{
    struct dripper dripper;
    auto_buffer struct buffer body = { 0 };
    auto_close int stop_fd = eventfd(0, EFD_CLOEXEC);

    dripper_start(&dripper, begin);
    struct http_reader reader =
        reader_of((struct http_patience){ LONG_MS, LONG_MS, SHORT_MS }, stop_fd);
    CHECK(http_read_body(&reader, head, &body) == -1);
    buffer_done(&reader.in);
    dripper_end(&dripper);
}

TEST(nor_is_a_body)
{
    const struct http_head head = { .length = FAR };

    read_slow_body("{", &head);
}

TEST(nor_is_a_body_in_chunks)
{
    const struct http_head head = { .is_chunked = true };

    read_slow_body("40000000\r\n", &head);
}

TEST(whoever_goes_on_sending_after_the_end_is_left)
{
    struct dripper dripper;

    dripper_start(&dripper, "");
    http_linger(fds[0], SHORT_MS);
    dripper_end(&dripper);
}

TEST(the_end_of_the_server_is_waited_for_by_nobody)
{
    char text[HTTP_HEAD_MAX];
    auto_close int stop_fd = eventfd(1, EFD_CLOEXEC);

    CHECK(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) == 0);
    struct http_reader reader =
        reader_of((struct http_patience){ LONG_MS, LONG_MS, LONG_MS }, stop_fd);
    CHECK(http_read_head(&reader, text) == 0);
    (void)close(fds[0]);
    (void)close(fds[1]);
}
