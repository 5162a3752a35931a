/* In a network namespace of its own, as root or anybody. */
#include "net/inside/gate_inside.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/netfilter/nfnetlink.h>
#include <linux/netlink.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "net/gate_protocol.h"
#include "test/namespace.h"

/* What arrived, in the order of gate_protocol.h. */
static struct gate_sockets sockets;
static int fds[64];
static size_t n_fds;

static void take_sockets(int fd)
{
    char space[CMSG_SPACE(sizeof fds)];
    struct iovec io = { &sockets, sizeof sockets };
    struct msghdr header = {
        .msg_iov = &io, .msg_iovlen = 1, .msg_control = space, .msg_controllen = sizeof space
    };

    CHECK(recvmsg(fd, &header, MSG_CMSG_CLOEXEC) == sizeof sockets);
    struct cmsghdr *control = CMSG_FIRSTHDR(&header);
    CHECK(control && control->cmsg_type == SCM_RIGHTS);
    n_fds = (control->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    memcpy(fds, CMSG_DATA(control), n_fds * sizeof(int));
}

/* 0, or the errno of connect(). */
static int try_connect(int family, const char *address, uint16_t port)
{
    struct sockaddr_in6 to6 = { .sin6_family = AF_INET6, .sin6_port = htons(port) };
    struct sockaddr_in to4 = { .sin_family = AF_INET, .sin_port = htons(port) };
    int fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int r;

    CHECK(fd >= 0);
    if (family == AF_INET6) {
        CHECK(inet_pton(family, address, &to6.sin6_addr) == 1);
        r = connect(fd, (struct sockaddr *)&to6, sizeof to6);
    } else {
        CHECK(inet_pton(family, address, &to4.sin_addr) == 1);
        r = connect(fd, (struct sockaddr *)&to4, sizeof to4);
    }
    int error = r < 0 ? errno : 0;
    (void)close(fd);
    return error;
}

/* The listener sees the very address and port that were asked for. */
static void check_arrives(int family, const char *address, uint16_t port)
{
    struct sockaddr_in6 name = { 0 };
    socklen_t n = sizeof name;
    char text[INET6_ADDRSTRLEN];
    char expected[64];

    CHECK(try_connect(family, address, port) == 0);
    int fd = accept4(fds[0], NULL, NULL, SOCK_CLOEXEC);
    CHECK(fd >= 0);
    CHECK(getsockname(fd, (struct sockaddr *)&name, &n) == 0);
    CHECK(name.sin6_family == AF_INET6 && ntohs(name.sin6_port) == port);
    CHECK(inet_ntop(AF_INET6, &name.sin6_addr, text, sizeof text));
    (void)snprintf(expected, sizeof expected, "%s%s", family == AF_INET ? "::ffff:" : "", address);
    CHECK_STR(text, expected);
    (void)close(fd);
}

static void check_datagram_arrives(const char *address, uint16_t port, int which)
{
    struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons(port) };
    char bytes[16];
    char space[256];
    struct iovec io = { bytes, sizeof bytes };
    struct sockaddr_in6 from;
    struct msghdr header = { .msg_name = &from,
                             .msg_namelen = sizeof from,
                             .msg_iov = &io,
                             .msg_iovlen = 1,
                             .msg_control = space,
                             .msg_controllen = sizeof space };
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    struct pollfd answer = { .fd = fd, .events = POLLIN };

    CHECK(fd >= 0 && inet_pton(AF_INET, address, &to.sin_addr) == 1);
    CHECK(connect(fd, (struct sockaddr *)&to, sizeof to) == 0 && send(fd, "who?", 4, 0) == 4);
    CHECK(recvmsg(fds[which], &header, 0) == 4 && memcmp(bytes, "who?", 4) == 0);
    /* Sent back from where it was sent to, the answer finds a client that is connected to there. */
    io.iov_len = 4;
    struct cmsghdr *control = CMSG_FIRSTHDR(&header);
    CHECK(control && control->cmsg_level == IPPROTO_IPV6 && control->cmsg_type == IPV6_PKTINFO);
    ((struct in6_pktinfo *)(void *)CMSG_DATA(control))->ipi6_ifindex = 0;
    CHECK(sendmsg(fds[which], &header, 0) == 4);
    CHECK(poll(&answer, 1, 5000) == 1 && recv(fd, bytes, sizeof bytes, 0) == 4);
    (void)close(fd);
}

/* One packet of a refused connection: its destination lies in the copy of the packet. */
static void check_logged(const char *address)
{
    struct pollfd log = { .fd = fds[2], .events = POLLIN };
    unsigned char bytes[4096];
    struct in_addr wanted;

    CHECK(poll(&log, 1, 5000) == 1);
    ssize_t n = recv(fds[2], bytes, sizeof bytes, 0);
    CHECK(n > 0 && inet_pton(AF_INET, address, &wanted) == 1);
    CHECK(memmem(bytes, (size_t)n, &wanted, sizeof wanted));
}

static void check_udp_refused(const char *address)
{
    struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons(443) };
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

    CHECK(fd >= 0 && inet_pton(AF_INET, address, &to.sin_addr) == 1);
    CHECK(sendto(fd, "quic", 4, 0, (struct sockaddr *)&to, sizeof to) < 0 && errno == EPERM);
    (void)close(fd);
}

static const struct gate_network networks[] = {
    { .address = { 192, 0, 2, 0 }, .bits = 24 },
};

static void make_prepared(const struct gate_inside *inside)
{
    int pair[2];

    CHECK(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) == 0);
    long r = gate_inside_make(inside, pair[1]);
    if (r < 0)
        printf("# gate_inside_make: %s\n", strerror((int)-r));
    CHECK(r == 0);
    take_sockets(pair[0]);
}

static void make_inside(struct gate_inside *inside)
{
    CHECK(gate_inside_prepare(inside, networks, 1) == 0);
    make_prepared(inside);
}

static void everything(void)
{
    struct gate_inside inside = { .needs_any_port = true };

    make_inside(&inside);
    CHECK(sockets.magic == GATE_SOCKETS_MAGIC && sockets.method == GATE_TPROXY);
    CHECK(sockets.n_listeners == 1 && sockets.has_log && n_fds == 3);
    check_arrives(AF_INET, "198.18.1.7", 443);
    check_arrives(AF_INET, "198.18.1.7", 65000);
    check_arrives(AF_INET, "192.0.2.9", 22);
    check_arrives(AF_INET, "8.8.8.8", 53);
    if (sockets.has_ipv6)
        check_arrives(AF_INET6, "fd63:6f6f:7000::107", 80);
    check_datagram_arrives("8.8.8.8", 53, 1);
    check_datagram_arrives("198.18.0.53", 53, 1);
    CHECK(try_connect(AF_INET, "203.0.113.77", 443) == ECONNREFUSED);
    check_logged("203.0.113.77");
    CHECK(try_connect(AF_INET, "169.254.169.254", 80) == ECONNREFUSED);
    check_logged("169.254.169.254");
    if (sockets.has_ipv6)
        CHECK(try_connect(AF_INET6, "2001:db8::1", 443) == ECONNREFUSED);
    CHECK(try_connect(AF_INET, "127.0.0.1", 443) == ECONNREFUSED); /* nobody's but the box's own */
    check_udp_refused("203.0.113.78");
}

TEST(every_address_leads_to_the_gate_or_nowhere)
{
    in_namespace(everything);
}

static void with_all_sockets(void)
{
    struct gate_inside inside = { .reach = { 5432, 3000 },
                                  .n_reach = 2,
                                  .udp = { 123, 514 },
                                  .n_udp = 2,
                                  .has_publish = true,
                                  .has_proxy = true };

    make_inside(&inside);
    size_t per_port = sockets.has_ipv6 ? 2 : 1;
    CHECK(sockets.has_proxy && sockets.has_publish && sockets.n_reach == 2 * per_port);
    CHECK(n_fds == 6 + 2 * per_port + 2);
    CHECK(try_connect(AF_INET, "127.0.0.1", GATE_INSIDE_PROXY) == 0);
    CHECK(try_connect(AF_INET, "127.0.0.1", 5432) == 0);
    CHECK(accept4(fds[6], NULL, NULL, SOCK_CLOEXEC) >= 0);
    CHECK(sockets.n_udp == 2);
    check_datagram_arrives("8.8.8.8", 123, (int)n_fds - 2);
    check_datagram_arrives("192.0.2.1", 514, (int)n_fds - 1);
    check_udp_refused("8.8.8.8");
}

TEST(sockets_for_all_that_is_asked_for)
{
    in_namespace(with_all_sockets);
}

/* The size is the last thing that the message says. */
static void with_no_large_packets(void)
{
    struct gate_inside inside = { .needs_any_port = true };
    const uint32_t too_large = UINT32_MAX;

    CHECK(gate_inside_prepare(&inside, networks, 1) == 0);
    memcpy(inside.link.data + inside.link.length - sizeof too_large, &too_large, sizeof too_large);
    make_prepared(&inside);
    check_arrives(AF_INET, "198.18.1.7", 443);
}

TEST(a_kernel_that_takes_no_large_packets_takes_others)
{
    in_namespace(with_no_large_packets);
}
