#include "wait.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "net/gate_protocol.h"
#include "net/inside/inside.h"
#include "test/check.h"

static int pair[2];
static int pipes[2][2];

static void send_two(const void *bytes, size_t n)
{
    const int fds[] = { pipes[0][0], pipes[1][0] };

    CHECK(inside_send_fds(pair[0], bytes, n, fds, 2) == 0);
}

/* How many descriptors come with the next message. */
static size_t receive(void)
{
    char byte = 0;
    struct iovec io = { &byte, 1 };
    union {
        char space[CMSG_SPACE(2 * sizeof(int))];
        struct cmsghdr header;
    } control;
    struct msghdr header = { .msg_iov = &io,
                             .msg_iovlen = 1,
                             .msg_control = control.space,
                             .msg_controllen = sizeof control.space };

    CHECK(recvmsg(pair[1], &header, MSG_DONTWAIT) == 1);
    const struct cmsghdr *rights = CMSG_FIRSTHDR(&header);
    return rights ? (rights->cmsg_len - CMSG_LEN(0)) / sizeof(int) : 0;
}

static void prepare(void)
{
    CHECK(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) == 0);
    CHECK(pipe2(pipes[0], O_CLOEXEC) == 0 && pipe2(pipes[1], O_CLOEXEC) == 0);
}

TEST(is_over_when_the_first_is_used_and_leaves_them_to_the_reader)
{
    struct network_wait wait;

    prepare();
    send_two("x", 1);
    CHECK(network_wait_begin(&wait, pair[1]) == 0);
    CHECK(wait.n == 2);
    CHECK(!network_wait_is_over(&wait));
    CHECK(write(pipes[1][1], "x", 1) == 1);
    CHECK(network_wait_is_over(&wait));
    int fd = wait.fds[0];
    network_wait_end(&wait);
    CHECK(fcntl(fd, F_GETFD) < 0 && errno == EBADF);
    CHECK(!network_wait_is_over(&wait));
    CHECK(network_wait_take_log(&wait) == -1);
    network_wait_end(&wait); /* once more is fine */
    CHECK(receive() == 2);
}

TEST(there_is_nothing_to_wait_for_without_sockets)
{
    struct network_wait wait;

    prepare();
    CHECK(network_wait_begin(&wait, pair[1]) == -EAGAIN);
    CHECK(send(pair[0], "x", 1, 0) == 1);
    CHECK(network_wait_begin(&wait, pair[1]) == -EBADMSG);
    CHECK(wait.epoll_fd == -1 && wait.n == 0);
    CHECK(receive() == 0);
}

static bool is_same(int a, int b)
{
    struct stat first;
    struct stat second;

    return fstat(a, &first) == 0 && fstat(b, &second) == 0 && first.st_ino == second.st_ino;
}

TEST(the_log_stays_with_who_takes_it)
{
    /* The listeners and the socket for DNS come before it. */
    const struct gate_sockets sockets = { .magic = GATE_SOCKETS_MAGIC, .has_log = 1 };
    const struct gate_sockets none = { .magic = GATE_SOCKETS_MAGIC };
    struct network_wait wait;

    prepare();
    send_two(&sockets, sizeof sockets);
    CHECK(network_wait_begin(&wait, pair[1]) == 0);
    int fd = network_wait_take_log(&wait);
    CHECK(fd >= 0 && is_same(fd, pipes[1][0]));
    CHECK(network_wait_take_log(&wait) == -1);
    network_wait_end(&wait);
    CHECK(is_same(fd, pipes[1][0]));
    (void)close(fd);
    prepare();
    send_two(&none, sizeof none);
    CHECK(network_wait_begin(&wait, pair[1]) == 0 && network_wait_take_log(&wait) == -1);
    network_wait_end(&wait);
}
