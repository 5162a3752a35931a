/*
 * net_server.c - the other end of net_client: one process, no more system calls than it takes
 *
 *   net_server ADDRESS PORT      a line on standard output says that it listens
 *
 * The first byte of a connection says what to do: 'e' gives the byte back and closes; 'k' gives it
 * back and stays until the client goes; 'd' and 'u' are followed by a number of bytes, which are sent,
 * or taken and then answered with one.
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

static char bytes[1 << 20];

static void die(const char *what)
{
    perror(what);
    exit(1);
}

static int listen_at(const char *address, const char *port)
{
    const int on = 1;
    struct sockaddr_in name = { .sin_family = AF_INET,
                                .sin_port = htons((uint16_t)strtoul(port, NULL, 10)) };
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    if (fd < 0 || inet_pton(AF_INET, address, &name.sin_addr) != 1)
        die("socket");
    (void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on); /* of those it accepts, too */
    if (bind(fd, (struct sockaddr *)&name, sizeof name) < 0 || listen(fd, 4096) < 0)
        die("listen");
    return fd;
}

static void send_bytes(int fd, uint64_t n)
{
    while (n > 0) {
        ssize_t r = send(fd, bytes, n < sizeof bytes ? (size_t)n : sizeof bytes, MSG_NOSIGNAL);

        if (r <= 0)
            return;
        n -= (uint64_t)r;
    }
}

static void take_bytes(int fd, uint64_t n)
{
    while (n > 0) {
        ssize_t r = recv(fd, bytes, n < sizeof bytes ? (size_t)n : sizeof bytes, 0);

        if (r <= 0)
            return;
        n -= (uint64_t)r;
    }
    (void)send(fd, "!", 1, MSG_NOSIGNAL);
}

/* True: it stays. */
static bool obey(int fd)
{
    char order = 0;
    uint64_t n = 0;

    if (recv(fd, &order, 1, 0) != 1)
        return false;
    if (order == 'e' || order == 'k')
        return send(fd, &order, 1, MSG_NOSIGNAL) == 1 && order == 'k';
    if (recv(fd, &n, sizeof n, MSG_WAITALL) != (ssize_t)sizeof n)
        return false;
    if (order == 'd')
        send_bytes(fd, n);
    else if (order == 'u')
        take_bytes(fd, n);
    return false;
}

static void serve(int epoll_fd, int listener)
{
    int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
    struct epoll_event gone = { .events = EPOLLRDHUP, .data.fd = fd };

    if (fd < 0)
        die("accept");
    if (obey(fd) && epoll_ctl(epoll_fd, EPOLL_CTL_ADD, fd, &gone) == 0)
        return;
    (void)close(fd);
}

int main(int argc, char **argv)
{
    if (argc != 3) {
        (void)fprintf(stderr, "usage: net_server ADDRESS PORT\n");
        return 2;
    }
    int listener = listen_at(argv[1], argv[2]);
    int epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    struct epoll_event event = { .events = EPOLLIN, .data.fd = listener };
    if (epoll_fd < 0 || epoll_ctl(epoll_fd, EPOLL_CTL_ADD, listener, &event) < 0)
        die("epoll");
    printf("ready\n");
    (void)fflush(stdout);
    while (epoll_wait(epoll_fd, &event, 1, -1) == 1) {
        if (event.data.fd == listener)
            serve(epoll_fd, listener);
        else
            (void)close(event.data.fd);
    }
    die("epoll_wait");
}
