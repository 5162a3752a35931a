#include "network_wait.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "test/check.h"

static int pair[2];
static int pipes[2][2];

static void send_two(void)
{
    char byte = 'x';
    struct iovec io = { &byte, 1 };
    union {
        char space[CMSG_SPACE(2 * sizeof(int))];
        struct cmsghdr header;
    } control = { .header = { .cmsg_len = CMSG_LEN(2 * sizeof(int)),
                              .cmsg_level = SOL_SOCKET,
                              .cmsg_type = SCM_RIGHTS } };
    struct msghdr header = { .msg_iov = &io,
                             .msg_iovlen = 1,
                             .msg_control = control.space,
                             .msg_controllen = sizeof control.space };
    const int fds[] = { pipes[0][0], pipes[1][0] };

    memcpy(CMSG_DATA(&control.header), fds, sizeof fds);
    CHECK(sendmsg(pair[0], &header, 0) == 1);
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
    send_two();
    CHECK(network_wait_begin(&wait, pair[1]) == 0);
    CHECK(wait.n == 2);
    CHECK(!network_wait_is_over(&wait));
    CHECK(write(pipes[1][1], "x", 1) == 1);
    CHECK(network_wait_is_over(&wait));
    int fd = wait.fds[0];
    network_wait_end(&wait);
    CHECK(fcntl(fd, F_GETFD) < 0 && errno == EBADF);
    CHECK(!network_wait_is_over(&wait));
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
