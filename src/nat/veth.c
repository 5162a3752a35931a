/*
 * veth.c - root's way out: a pair of interfaces, one end in the box
 *
 * Both ends have the same hardware address and ask nobody for others: what one sends, the other
 * takes, whatever it is addressed to. So the host's end needs no address of its own, and a box needs
 * one address instead of a network. That is chosen at random from a range which the host has no
 * route to; it also is the interface's name, and since the kernel gives a name once, nobody else has
 * it. All of it goes with the box's namespace, however that ends.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <linux/veth.h>
#include <poll.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "nat/table.h"
#include "nat/uplink.h"
#include "net/inside/inside.h"
#include "net/wire/netlink_ask.h"
#include "net/wire/netlink_message.h"

#ifndef RTM_F_FIB_MATCH
#define RTM_F_FIB_MATCH 0x2000
#endif

#define INSIDE      "eth0"
#define PATIENCE_MS 5000
#define LOOK_MS     100 /* also where nobody tells */
#define TRIES       64
#define ANY_MTU     1500
#define LEAST_MTU   1280
#define HARDWARE    6
#define FORWARDING  "/proc/sys/net/ipv4/ip_forward"

/* Two bytes follow: of addresses that nobody has on the internet, and few have elsewhere. */
static const uint8_t ranges[][2] = { { 198, 19 }, { 100, 117 }, { 10, 219 }, { 172, 29 } };
static const uint8_t range6[16] = { 0xfd, 0x63, 0x6f, 0x6f, 0x70, 0x6e };
/* Some hosts of the internet: only asked after, never sent to. */
static const uint8_t outside4[4] = { 8, 8, 8, 8 };
static const uint8_t outside6[16] = { 0x26, 0x06, 0x47, [15] = 1 };

struct cable {
    char *name;
    uint32_t inside_index;
    uint32_t mtu;
    bool has_ipv6;
    uint16_t number;
    uint8_t address4[4], address6[16];
    uint8_t hardware[HARDWARE];
};

/* ---- what the host has */

struct way {
    bool is_there;
    uint8_t bits;
    uint32_t interface;
};

static void take_route(void *context, const struct nlmsghdr *answer)
{
    struct way *way = context;
    const struct rtmsg *route = NLMSG_DATA(answer);
    size_t n = 0;
    const void *interface = netlink_find(answer, sizeof *route, RTA_OIF, &n);

    if (answer->nlmsg_type != RTM_NEWROUTE || route->rtm_type == RTN_UNREACHABLE)
        return;
    way->is_there = true;
    way->bits = route->rtm_dst_len;
    if (interface && n == sizeof way->interface)
        memcpy(&way->interface, interface, sizeof way->interface);
}

/* Which of the host's routes an address takes. */
static struct way find_way(uint8_t family, const uint8_t *address)
{
    uint8_t n = family == AF_INET ? 4 : 16;
    const struct rtmsg header = { .rtm_family = family,
                                  .rtm_dst_len = (uint8_t)(8 * n),
                                  .rtm_flags = RTM_F_FIB_MATCH };
    auto_buffer struct buffer question = { 0 };
    struct way way = { .is_there = false };
    size_t at = netlink_begin(&question, RTM_GETROUTE, NLM_F_REQUEST | NLM_F_ACK);

    buffer_append(&question, &header, sizeof header);
    netlink_attribute(&question, RTA_DST, address, n);
    netlink_end(&question, at);
    (void)netlink_ask(NETLINK_ROUTE, &question, take_route, &way); /* an error: there is none */
    return way;
}

static bool is_on(const char *path)
{
    auto_close int fd = open(path, O_RDONLY | O_CLOEXEC);
    char value = '0';

    return fd >= 0 && read(fd, &value, 1) == 1 && value != '0';
}

static uint32_t mtu_of(uint32_t interface)
{
    auto_close int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    struct ifreq request = { .ifr_mtu = 0 };

    if (fd < 0 || interface == 0 || !if_indextoname(interface, request.ifr_name) ||
        ioctl(fd, SIOCGIFMTU, &request) < 0 || request.ifr_mtu < LEAST_MTU)
        return ANY_MTU;
    return request.ifr_mtu < ANY_MTU ? (uint32_t)request.ifr_mtu : ANY_MTU;
}

/* ---- the pair */

static void add_end(struct buffer *out, const struct cable *cable, const char *name)
{
    netlink_string(out, IFLA_IFNAME, name);
    netlink_attribute(out, IFLA_ADDRESS, cable->hardware, HARDWARE);
    netlink_attribute(out, IFLA_MTU, &cable->mtu, sizeof cable->mtu);
}

static int make_pair(const struct cable *cable, int network_fd)
{
    const struct ifinfomsg end = { .ifi_flags = IFF_NOARP, .ifi_change = IFF_NOARP };
    const uint32_t inside = (uint32_t)network_fd;
    auto_buffer struct buffer message = { 0 };
    size_t at =
        netlink_begin(&message, RTM_NEWLINK, NLM_F_REQUEST | NLM_F_CREATE | NLM_F_EXCL | NLM_F_ACK);

    buffer_append(&message, &end, sizeof end);
    add_end(&message, cable, cable->name);
    size_t information = netlink_nest(&message, IFLA_LINKINFO);
    netlink_string(&message, IFLA_INFO_KIND, "veth");
    size_t data = netlink_nest(&message, IFLA_INFO_DATA);
    size_t peer = netlink_nest(&message, VETH_INFO_PEER);
    buffer_append(&message, &end, sizeof end);
    add_end(&message, cable, INSIDE);
    netlink_attribute(&message, IFLA_NET_NS_FD, &inside, sizeof inside);
    netlink_unnest(&message, peer);
    netlink_unnest(&message, data);
    netlink_unnest(&message, information);
    netlink_end(&message, at);
    return netlink_ask(NETLINK_ROUTE, &message, NULL, NULL);
}

/* -EEXIST: somebody else has this number. */
static int claim(struct cable *cable, const struct nat_box *box, const uint8_t range[2])
{
    memcpy(cable->address4, range, 2);
    cable->address4[2] = (uint8_t)(cable->number >> 8);
    cable->address4[3] = (uint8_t)cable->number;
    memcpy(cable->address6, range6, sizeof range6);
    memcpy(cable->address6 + 14, cable->address4 + 2, 2);
    (void)snprintf(cable->name, IF_NAMESIZE, "%s%04x",
                   box->reaches_host ? NAT_TABLE_OPEN : NAT_TABLE_CLOSED, cable->number);
    return make_pair(cable, box->network_fd);
}

/* A range of which the host knows nothing; numbers of other boxes are no reason to leave it. */
static int choose_and_claim(struct cable *cable, const struct nat_box *box)
{
    size_t i = 0;
    int r = -EADDRINUSE;

    for (int tries = 0; tries < TRIES; tries++) {
        if (getrandom(&cable->number, sizeof cable->number, 0) != sizeof cable->number ||
            getrandom(cable->hardware, HARDWARE, 0) != HARDWARE)
            return -EIO;
        /* Both sorts of names share the addresses. */
        cable->number = (uint16_t)((cable->number & 0xfffe) | box->reaches_host);
        cable->hardware[0] = (uint8_t)((cable->hardware[0] & 0xfc) | 2); /* nobody's, one host's */
        uint8_t address[4] = { ranges[i][0], ranges[i][1], (uint8_t)(cable->number >> 8),
                               (uint8_t)cable->number };
        struct way way = find_way(AF_INET, address);
        if (way.is_there && way.bits > 0) {
            if (way.bits < 32 && ++i == COUNT(ranges))
                return -EADDRNOTAVAIL;
            continue;
        }
        r = claim(cable, box, ranges[i]);
        if (r != -EEXIST)
            return r;
    }
    return r;
}

/* ---- addresses and routes */

static void raise_end(struct buffer *out, uint32_t index)
{
    const struct ifinfomsg up = { .ifi_index = (int)index,
                                  .ifi_flags = IFF_UP,
                                  .ifi_change = IFF_UP };
    size_t at = netlink_begin(out, RTM_NEWLINK, NLM_F_REQUEST);

    buffer_append(out, &up, sizeof up);
    netlink_end(out, at);
}

static void add_address(struct buffer *out, uint8_t family, uint32_t index, const uint8_t *address)
{
    uint8_t n = family == AF_INET ? 4 : 16;
    const struct ifaddrmsg header = { .ifa_family = family,
                                      .ifa_prefixlen = (uint8_t)(8 * n),
                                      .ifa_flags = family == AF_INET6 ? IFA_F_NODAD : 0,
                                      .ifa_index = index };
    size_t at = netlink_begin(out, RTM_NEWADDR, NLM_F_REQUEST | NLM_F_CREATE);

    buffer_append(out, &header, sizeof header);
    netlink_attribute(out, IFA_LOCAL, address, n);
    netlink_attribute(out, IFA_ADDRESS, address, n);
    netlink_end(out, at);
}

/* address NULL: every one that no other route is for. */
static void add_route(struct buffer *out, uint8_t family, uint32_t index, const uint8_t *address)
{
    uint8_t n = family == AF_INET ? 4 : 16;
    const struct rtmsg header = { .rtm_family = family,
                                  .rtm_dst_len = address ? (uint8_t)(8 * n) : 0,
                                  .rtm_table = RT_TABLE_MAIN,
                                  .rtm_protocol = RTPROT_STATIC,
                                  .rtm_scope = family == AF_INET ? RT_SCOPE_LINK : 0,
                                  .rtm_type = RTN_UNICAST };
    size_t at = netlink_begin(out, RTM_NEWROUTE, NLM_F_REQUEST | NLM_F_CREATE);

    buffer_append(out, &header, sizeof header);
    if (address)
        netlink_attribute(out, RTA_DST, address, n);
    netlink_attribute(out, RTA_OIF, &index, sizeof index);
    netlink_end(out, at);
}

static int send_all(const struct buffer *messages)
{
    return messages->failed ? -ENOMEM : (int)inside_send_messages(NETLINK_ROUTE, messages);
}

static int route_outside(const struct cable *cable, uint32_t index)
{
    auto_buffer struct buffer messages = { 0 };

    raise_end(&messages, index);
    add_route(&messages, AF_INET, index, cable->address4);
    if (cable->has_ipv6)
        add_route(&messages, AF_INET6, index, cable->address6);
    return send_all(&messages);
}

static int route_inside(struct cable *cable)
{
    auto_buffer struct buffer messages = { 0 };

    cable->inside_index = if_nametoindex(INSIDE);
    raise_end(&messages, cable->inside_index);
    add_address(&messages, AF_INET, cable->inside_index, cable->address4);
    add_route(&messages, AF_INET, cable->inside_index, NULL);
    if (cable->has_ipv6) {
        add_address(&messages, AF_INET6, cable->inside_index, cable->address6);
        add_route(&messages, AF_INET6, cable->inside_index, NULL);
    }
    return send_all(&messages);
}

static int in_namespace(struct cable *cable, int network_fd)
{
    auto_close int own_fd = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);

    if (own_fd < 0 || setns(network_fd, CLONE_NEWNET) < 0)
        return -errno;
    int r = route_inside(cable);
    return setns(own_fd, CLONE_NEWNET) < 0 ? -errno : r;
}

/* ---- */

static int refuse_host(struct nat_words *words)
{
    return nat_words_set(words, ENETDOWN,
                         "run 'sysctl -w net.ipv4.ip_forward=1' (and put it into /etc/sysctl.d/), "
                         "or use --network gate",
                         "the network 'nat' needs a host that forwards packets, and this one does "
                         "not: net.ipv4.ip_forward is 0");
}

static int connect_all(struct nat_uplink *uplink, struct cable *cable, const struct nat_box *box,
                       const char **step)
{
    *step = "make a pair of interfaces";
    int r = choose_and_claim(cable, box);
    if (r < 0) {
        uplink->interface[0] = '\0'; /* the name is another's */
        return r;
    }
    uplink->index = if_nametoindex(cable->name);
    *step = "give the box an address";
    r = in_namespace(cable, box->network_fd);
    if (r == 0) {
        *step = "make a route to the box";
        r = route_outside(cable, uplink->index);
    }
    if (r == 0) {
        *step = "make the rules of nf_tables that translate addresses";
        r = nat_table_join(cable->name);
    }
    return r;
}

/* The namespace is there still. */
static void give_up(struct nat_uplink *uplink)
{
    const struct ifinfomsg header = { .ifi_family = AF_UNSPEC, .ifi_index = (int)uplink->index };
    auto_buffer struct buffer message = { 0 };
    size_t at = netlink_begin(&message, RTM_DELLINK, NLM_F_REQUEST | NLM_F_ACK);

    if (!uplink->interface[0])
        return;
    buffer_append(&message, &header, sizeof header);
    netlink_end(&message, at);
    (void)netlink_ask(NETLINK_ROUTE, &message, NULL, NULL);
    (void)nat_table_sweep(false);
    uplink->interface[0] = '\0';
}

int nat_veth_up(struct nat_uplink *uplink, const struct nat_box *box, struct nat_words *words)
{
    struct cable cable = { .name = uplink->interface };
    const char *step = NULL;

    if (!is_on(FORWARDING))
        return refuse_host(words);
    uplink->method = NAT_VETH;
    struct way way6 = find_way(AF_INET6, outside6);
    cable.has_ipv6 = way6.is_there && is_on("/proc/sys/net/ipv6/conf/all/forwarding");
    cable.mtu = mtu_of(find_way(AF_INET, outside4).interface);
    int r = connect_all(uplink, &cable, box, &step);
    if (r == 0)
        return 0;
    give_up(uplink);
    return nat_words_set(words, -r,
                         r == -EADDRNOTAVAIL ? "the host has routes to all of 198.19.0.0/16, "
                                               "100.117.0.0/16, 10.219.0.0/16 and 172.29.0.0/16"
                                             : "'coop doctor' says what is missing",
                         "%s: %s", step, strerror(-r));
}

/* All namespaces that end at one time are the same work to the kernel as one, and removing their
 * interfaces one by one is a thousand times as much. */
void nat_veth_down(struct nat_uplink *uplink)
{
    auto_close int changes_fd =
        socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_ROUTE);
    const struct sockaddr_nl links = { .nl_family = AF_NETLINK, .nl_groups = RTMGRP_LINK };
    int64_t until = clock_now_ms() + PATIENCE_MS;
    char bytes[4096];
    char name[IF_NAMESIZE];

    if (!uplink->interface[0])
        return;
    if (changes_fd >= 0)
        (void)bind(changes_fd, (const struct sockaddr *)&links, sizeof links);
    while (if_indextoname(uplink->index, name) && clock_now_ms() < until) {
        struct pollfd changes = { .fd = changes_fd, .events = POLLIN };

        (void)poll(&changes, 1, LOOK_MS);
        while (recv(changes_fd, bytes, sizeof bytes, MSG_DONTWAIT) > 0)
            ;
    }
    (void)nat_table_sweep(false);
    uplink->interface[0] = '\0';
}
