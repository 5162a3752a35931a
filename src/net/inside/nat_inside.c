#include "nat_inside.h"

#include <errno.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include "net/inside/inside.h"
#include "net/nat_protocol.h"
#include "sys/raw.h"

#define DNS_PORT    53
#define BACKLOG     64
#define MAX_FDS     6
#define PATIENCE_MS 20000 /* coop-nat gives up sooner, and says why */

struct making {
    struct nat_sockets sockets;
    int fds[MAX_FDS]; /* the first two are the caller's */
    size_t n;
};

static long make_tables(const struct nat_inside *inside, struct making *making)
{
    long r = inside_send_messages(NETLINK_NETFILTER, &inside->tables);

    making->sockets.has_log = r == 0;
    if (r == 0)
        return 0;
    return inside_send_messages(NETLINK_NETFILTER, &inside->fallback) < 0 ? -EPROTONOSUPPORT : 0;
}

static long keep(struct making *making, long fd)
{
    if (fd >= 0)
        making->fds[making->n++] = (int)fd;
    return fd;
}

/* Hears when the way out is there. */
static long make_listener(struct making *making)
{
    const struct sockaddr_nl groups = { .nl_family = AF_NETLINK,
                                        .nl_groups = RTMGRP_IPV4_ROUTE | RTMGRP_IPV6_ROUTE };
    long fd = keep(making, raw(SYS_socket, AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK,
                               NETLINK_ROUTE));

    return fd < 0 ? fd : raw(SYS_bind, fd, &groups, sizeof groups);
}

static long make_resolver(struct making *making, int type)
{
    const struct sockaddr_in own = { .sin_family = AF_INET,
                                     .sin_port = htons(DNS_PORT),
                                     .sin_addr = { htonl(0x7f000035) } };
    long fd = keep(making, raw(SYS_socket, AF_INET, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    long r = fd < 0 ? fd : raw(SYS_bind, fd, &own, sizeof own);

    return r == 0 && type == SOCK_STREAM ? raw(SYS_listen, fd, BACKLOG) : r;
}

static long make_sockets(struct making *making)
{
    long r = make_listener(making);

    if (r == 0)
        r = make_resolver(making, SOCK_DGRAM);
    if (r == 0)
        r = make_resolver(making, SOCK_STREAM);
    /* Without it all is refused the same, but not told. */
    if (r == 0 && making->sockets.has_log)
        making->sockets.has_log = keep(making, inside_open_log(NAT_INSIDE_LOG)) >= 0;
    return r;
}

static long take_answer(int socket_fd, uint32_t *out_method)
{
    struct {
        uint32_t magic;
        int32_t error;
        uint32_t method;
    } answer; /* the words are not for us */
    struct pollfd waiting = { .fd = socket_fd, .events = POLLIN };
    struct timespec patience = { .tv_sec = PATIENCE_MS / 1000 };
    long r = raw(SYS_ppoll, &waiting, 1, &patience, NULL, 0);

    if (r <= 0)
        return r < 0 ? r : -ETIMEDOUT;
    r = raw(SYS_recvfrom, socket_fd, &answer, sizeof answer, MSG_DONTWAIT | MSG_PEEK, NULL, 0);
    if (r < 0)
        return r == -ECONNRESET ? -EPIPE : r;
    if (r != sizeof answer || answer.magic != NAT_SOCKETS_MAGIC)
        return r == 0 ? -EPIPE : -EPROTO;
    if (answer.error)
        return -answer.error;
    *out_method = answer.method;
    r = raw(SYS_recvfrom, socket_fd, &answer, sizeof answer, MSG_DONTWAIT, NULL, 0);
    return r < 0 ? r : 0;
}

long nat_inside_make(const struct nat_inside *inside, int socket_fd, int network_fd, int user_fd,
                     uint32_t *out_method)
{
    struct making making = { .sockets = { .magic = NAT_SOCKETS_MAGIC },
                             .fds = { network_fd, user_fd },
                             .n = 2 };
    long r = make_tables(inside, &making);

    if (r == 0)
        r = make_sockets(&making);
    if (r == 0)
        r = inside_send_fds(socket_fd, &making.sockets, sizeof making.sockets, making.fds,
                            making.n);
    for (size_t i = 2; i < making.n; i++)
        (void)raw(SYS_close, making.fds[i]);
    return r < 0 ? r : take_answer(socket_fd, out_method);
}
