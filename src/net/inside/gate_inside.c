#include "gate_inside.h"

#include <errno.h>
#include <linux/netlink.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include "net/gate_protocol.h"
#include "net/inside/inside.h"
#include "sys/raw.h"

#ifndef IPV6_FREEBIND
#define IPV6_FREEBIND 78
#endif
#ifndef IPV6_TRANSPARENT
#define IPV6_TRANSPARENT 75
#endif

#define DNS_PORT 53
#define BACKLOG  4096
#define MAX_FDS  (GATE_INSIDE_MAX_PORTS + 2 * GATE_INSIDE_MAX_REACH + GATE_INSIDE_MAX_UDP + 5)

/* What the kernel was asked for, and what came of it. */
struct making {
    const struct gate_inside *inside;
    struct gate_sockets sockets;
    bool has_ipv6_sockets;
    long log_fd; /* made the tables; kept where they log */
    int fds[MAX_FDS];
    size_t n;
};

static long make_routes(struct making *making)
{
    const struct gate_inside *inside = making->inside;
    long fd = inside_open(NETLINK_ROUTE);

    if (fd < 0)
        return fd;
    long r = inside_send(fd, &inside->link);
    if (r < 0)
        r = inside_send(fd, &inside->plain_link);
    if (r == 0)
        r = inside_send(fd, &inside->routes4);
    if (r == 0)
        making->sockets.has_ipv6 = inside_send(fd, &inside->routes6) == 0;
    (void)raw(SYS_close, fd);
    return r;
}

/* Of tables that can refuse, that lead to the gate, or none: the best that the kernel has. */
static long make_tables(struct making *making)
{
    const struct gate_inside *inside = making->inside;
    long fd = inside_open(NETLINK_NETFILTER);

    making->log_fd = fd;
    making->sockets.method = GATE_TPROXY;
    if (fd >= 0 && inside_send(fd, &inside->tables) == 0) {
        making->sockets.has_log = 1;
        return 0;
    }
    if (fd >= 0 && inside_send(fd, &inside->fallback) == 0)
        return 0;
    making->sockets.method = GATE_LISTENERS;
    return inside->needs_any_port || inside->n_ports == 0 ? -EPROTONOSUPPORT : 0;
}

static void keep(struct making *making, long fd)
{
    making->fds[making->n++] = (int)fd;
}

static long set_option(long fd, int level, int option)
{
    const int on = 1;

    return raw(SYS_setsockopt, fd, level, option, &on, sizeof on);
}

static long bind_any(const struct making *making, long fd, uint16_t port)
{
    const struct sockaddr_in6 any6 = { .sin6_family = AF_INET6, .sin6_port = htons(port) };
    const struct sockaddr_in any4 = { .sin_family = AF_INET, .sin_port = htons(port) };

    return making->has_ipv6_sockets ? raw(SYS_bind, fd, &any6, sizeof any6)
                                    : raw(SYS_bind, fd, &any4, sizeof any4);
}

/* One socket for both families, where the kernel has both; IPv4 addresses are mapped ones then. */
static long new_socket(struct making *making, int type)
{
    const int off = 0;
    long fd = raw(SYS_socket, AF_INET6, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

    making->has_ipv6_sockets = fd >= 0;
    if (fd < 0)
        fd = raw(SYS_socket, AF_INET, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (making->has_ipv6_sockets)
        (void)raw(SYS_setsockopt, fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off);
    return fd;
}

static long make_listener(struct making *making, uint16_t port, bool is_transparent)
{
    long fd = new_socket(making, SOCK_STREAM);

    if (fd < 0)
        return fd;
    keep(making, fd);
    making->sockets.n_listeners++;
    long r = is_transparent ? set_option(fd, SOL_IP, IP_TRANSPARENT) : 0;
    if (r == 0)
        r = bind_any(making, fd, port);
    return r < 0 ? r : raw(SYS_listen, fd, BACKLOG);
}

static long make_listeners(struct making *making)
{
    long r = 0;

    if (making->sockets.method != GATE_LISTENERS)
        return make_listener(making, GATE_INSIDE_PORT, true);
    for (size_t i = 0; r == 0 && i < making->inside->n_ports; i++)
        r = make_listener(making, making->inside->ports[i], false);
    return r;
}

/* Answers must leave from the address that was asked, whichever it was. */
static long make_datagrams(struct making *making, uint16_t port)
{
    long fd = new_socket(making, SOCK_DGRAM);

    if (fd < 0)
        return fd;
    keep(making, fd);
    long r = making->has_ipv6_sockets ? set_option(fd, IPPROTO_IPV6, IPV6_RECVPKTINFO)
                                      : set_option(fd, SOL_IP, IP_PKTINFO);
    if (r == 0 && making->has_ipv6_sockets)
        r = set_option(fd, IPPROTO_IPV6, IPV6_FREEBIND);
    return r < 0 ? r : bind_any(making, fd, port);
}

static long make_udp(struct making *making)
{
    long r = 0;

    for (size_t i = 0; r == 0 && i < making->inside->n_udp; i++) {
        r = make_datagrams(making, making->inside->udp[i]);
        making->sockets.n_udp++;
    }
    return r;
}

/* Without it all is refused the same, but not told. */
static void make_log(struct making *making)
{
    if (inside_begin_log(making->log_fd, GATE_INSIDE_LOG) < 0) {
        making->sockets.has_log = 0;
        return;
    }
    keep(making, making->log_fd);
    making->log_fd = -1;
}

static long bind_own(long fd, int family, uint16_t port)
{
    const struct sockaddr_in6 own6 = { .sin6_family = AF_INET6,
                                       .sin6_port = htons(port),
                                       .sin6_addr = IN6ADDR_LOOPBACK_INIT };
    const struct sockaddr_in own4 = { .sin_family = AF_INET,
                                      .sin_port = htons(port),
                                      .sin_addr = { htonl(INADDR_LOOPBACK) } };

    return family == AF_INET6 ? raw(SYS_bind, fd, &own6, sizeof own6)
                              : raw(SYS_bind, fd, &own4, sizeof own4);
}

/* A listener of the box's own loopback. */
static long make_own(struct making *making, int family, uint16_t port)
{
    long fd = raw(SYS_socket, family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

    if (fd < 0)
        return fd;
    keep(making, fd);
    long r = bind_own(fd, family, port);
    return r < 0 ? r : raw(SYS_listen, fd, BACKLOG);
}

static long make_reach(struct making *making)
{
    const struct gate_inside *inside = making->inside;
    long r = 0;

    for (size_t i = 0; r == 0 && i < inside->n_reach; i++) {
        r = make_own(making, AF_INET, inside->reach[i]);
        making->sockets.n_reach++;
        if (r == 0 && making->sockets.has_ipv6) {
            r = make_own(making, AF_INET6, inside->reach[i]);
            making->sockets.n_reach++;
        }
    }
    return r;
}

/* One that connects and one that listens: from these the gate makes as many more as it needs. */
static long make_publish(struct making *making)
{
    long fd = raw(SYS_socket, AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

    if (fd < 0)
        return fd;
    keep(making, fd);
    making->sockets.has_publish = 1;
    return make_own(making, AF_INET, 0);
}

static long make_sockets(struct making *making)
{
    long r = make_listeners(making);

    if (r == 0)
        r = make_datagrams(making, DNS_PORT);
    if (r == 0 && making->sockets.has_log)
        make_log(making);
    if (r == 0 && making->inside->has_proxy) {
        r = make_own(making, AF_INET, GATE_INSIDE_PROXY);
        making->sockets.has_proxy = 1;
    }
    if (r == 0 && making->inside->has_publish)
        r = make_publish(making);
    if (r == 0)
        r = make_reach(making);
    return r < 0 ? r : make_udp(making);
}

long gate_inside_make(const struct gate_inside *inside, int socket_fd)
{
    struct making making = { .inside = inside,
                             .sockets = { .magic = GATE_SOCKETS_MAGIC },
                             .log_fd = -1 };
    long r = make_routes(&making);

    if (r == 0)
        r = make_tables(&making);
    if (r == 0)
        r = make_sockets(&making);
    if (r == 0)
        r = inside_send_fds(socket_fd, &making.sockets, sizeof making.sockets, making.fds,
                            making.n);
    for (size_t i = 0; i < making.n; i++)
        (void)raw(SYS_close, making.fds[i]);
    if (making.log_fd >= 0)
        (void)raw(SYS_close, making.log_fd);
    return r;
}
