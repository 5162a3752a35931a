/*
 * gate_inside_prepare.c - the messages that make a network namespace lead to the gate
 */
#include <arpa/inet.h>
#include <errno.h>
#include <linux/if.h>
#include <linux/netfilter.h>
#include <linux/rtnetlink.h>
#include <netinet/in.h>
#include <string.h>

#include "net/inside/gate_inside.h"
#include "net/wire/netlink_message.h"
#include "net/wire/nft_batch.h"

#define TABLE      "coop"
#define LOOPBACK   1 /* the index of lo in every namespace */
#define LOG_BYTES  64
#define DNS_PORT   53
#define LOG_RATE   100 /* a second */
#define BEFORE_ALL (-150)
#define MOSTLY     4096 /* bytes, of all rules where the policy adds none */

/* What a program sends goes to the gate in packets of up to this size: the fewer there are, the more
 * passes. It is what the kernel allows a loopback; over IPv6 it would take another header. */
#define WIDE_PACKET            (8 * 65535)
#define LINK_GSO_IPV4_MAX_SIZE 63 /* IFLA_, which older headers lack: Linux 6.3 */

static const struct gate_network own[] = {
    { .address = { 127 }, .bits = 8 },
    { .address = { [15] = 1 }, .bits = 128, .is_ipv6 = true },
};
/* What names are given: gate/names.h. */
static const struct gate_network synthetic[] = {
    { .address = { 198, 18 }, .bits = 15 },
    { .address = { 0xfd, 0x63, 0x6f, 0x6f, 0x70, 0x00 }, .bits = 48, .is_ipv6 = true },
};

static struct gate_network network_of(const struct host_rule *rule)
{
    static const uint8_t mapped[12] = { [10] = 0xff, 0xff };
    struct gate_network network = { .bits = rule->bits, .is_ipv6 = true };

    memcpy(network.address, rule->address, sizeof network.address);
    if (rule->bits >= 96 && memcmp(rule->address, mapped, sizeof mapped) == 0) {
        memcpy(network.address, rule->address + 12, 4);
        network.bits = (uint8_t)(rule->bits - 96);
        network.is_ipv6 = false;
    }
    return network;
}

size_t gate_inside_networks(const struct host_rule *rule, struct gate_network out[2])
{
    if (rule->kind == HOST_RULE_ADDRESS) {
        *out = network_of(rule);
        return 1;
    }
    if (rule->kind != HOST_RULE_ANY)
        return 0;
    out[0] = (struct gate_network){ .bits = 0 };
    out[1] = (struct gate_network){ .bits = 0, .is_ipv6 = true };
    return 2;
}

static uint8_t family_of(const struct gate_network *network)
{
    return network->is_ipv6 ? NFPROTO_IPV6 : NFPROTO_IPV4;
}

/* With or without larger packets: kernels before 6.3 do not look at that, and one with a lower limit
 * refuses all of the message. */
static void raise_link(struct buffer *out, bool is_wide)
{
    const struct ifinfomsg link = { .ifi_index = LOOPBACK,
                                    .ifi_flags = IFF_UP,
                                    .ifi_change = IFF_UP };
    const uint32_t most = WIDE_PACKET;
    size_t at = netlink_begin(out, RTM_NEWLINK, NLM_F_REQUEST);

    buffer_append(out, &link, sizeof link);
    if (is_wide)
        netlink_attribute(out, LINK_GSO_IPV4_MAX_SIZE, &most, sizeof most);
    netlink_end(out, at);
}

/* Every address is ours. Reno, because others pace themselves also where there is no distance. */
static void add_route(struct buffer *out, uint8_t family)
{
    const struct rtmsg route = { .rtm_family = family,
                                 .rtm_table = RT_TABLE_LOCAL,
                                 .rtm_type = RTN_LOCAL,
                                 .rtm_scope = RT_SCOPE_HOST,
                                 .rtm_protocol = RTPROT_STATIC };
    const uint32_t index = LOOPBACK;
    size_t at = netlink_begin(out, RTM_NEWROUTE, NLM_F_REQUEST | NLM_F_CREATE);

    buffer_append(out, &route, sizeof route);
    netlink_attribute(out, RTA_OIF, &index, sizeof index);
    size_t metrics = netlink_nest(out, RTA_METRICS);
    netlink_string(out, RTAX_CC_ALGO, "reno");
    netlink_unnest(out, metrics);
    netlink_end(out, at);
}

static void let_pass(struct buffer *batch, const char *chain, const struct gate_network *networks,
                     size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct nft_rule rule = nft_rule_begin(batch, TABLE, chain);

        nft_is_family(batch, family_of(&networks[i]));
        nft_is_to(batch, family_of(&networks[i]), networks[i].address, networks[i].bits, false);
        nft_accept(batch);
        nft_rule_end(batch, rule);
    }
}

/* What leaves comes in again through the loopback, and there the first packet is turned over. */
static void intercept(struct buffer *batch)
{
    nft_chain(batch, TABLE, "in", "filter", NF_INET_PRE_ROUTING, BEFORE_ALL);
    let_pass(batch, "in", own, 2);
    struct nft_rule rule = nft_rule_begin(batch, TABLE, "in");
    nft_is_protocol(batch, IPPROTO_TCP);
    nft_is_first(batch, false);
    nft_tproxy(batch, NFPROTO_UNSPEC, GATE_INSIDE_PORT); /* of either family */
    nft_rule_end(batch, rule);
}

static void log_others(struct buffer *batch, uint8_t protocol)
{
    struct nft_rule rule = nft_rule_begin(batch, TABLE, "out");

    nft_is_protocol(batch, protocol);
    nft_limit(batch, LOG_RATE, LOG_RATE);
    nft_log(batch, GATE_INSIDE_LOG, LOG_BYTES);
    nft_rule_end(batch, rule);
}

static void refuse_rest(struct buffer *batch, uint8_t protocol, void (*refuse)(struct buffer *))
{
    struct nft_rule rule = nft_rule_begin(batch, TABLE, "out");

    nft_is_protocol(batch, protocol);
    refuse(batch);
    nft_rule_end(batch, rule);
}

static void pass_port(struct buffer *batch, uint16_t port,
                      void (*is_port)(struct buffer *, uint16_t, uint16_t))
{
    struct nft_rule rule = nft_rule_begin(batch, TABLE, "out");

    nft_is_protocol(batch, IPPROTO_UDP);
    is_port(batch, port, port);
    nft_accept(batch);
    nft_rule_end(batch, rule);
}

/* To a port of the gate, which decides; and what it answers, which comes from there. */
static void pass_datagrams(struct buffer *batch, uint16_t port)
{
    pass_port(batch, port, nft_is_to_port);
    pass_port(batch, port, nft_is_from_port);
}

/* DNS asks whichever server a program believes in, by UDP or TCP: of other protocols nothing is
 * refused anyway. */
static void pass_dns(struct buffer *batch)
{
    struct nft_rule rule = nft_rule_begin(batch, TABLE, "out");

    nft_is_to_port(batch, DNS_PORT, DNS_PORT);
    nft_accept(batch);
    nft_rule_end(batch, rule);
    pass_port(batch, DNS_PORT, nft_is_from_port);
}

/* What does not open a connection: most packets by far, so they come first. */
static void pass_further(struct buffer *batch)
{
    struct nft_rule rule = nft_rule_begin(batch, TABLE, "out");

    nft_is_protocol(batch, IPPROTO_TCP);
    nft_is_first(batch, true);
    nft_accept(batch);
    nft_rule_end(batch, rule);
}

/*
 * An address that no rule names fails in connect() itself. Source and destination are the same on
 * such a route, so the reset meets these rules as well: what does not open a connection passes.
 * The kernel finds each expression by a search, at more than a microsecond: few of them.
 */
static void refuse_others(struct gate_inside *inside, const struct gate_network *networks, size_t n)
{
    struct buffer *batch = &inside->tables;

    nft_chain(batch, TABLE, "out", "filter", NF_INET_LOCAL_OUT, 0);
    pass_further(batch);
    let_pass(batch, "out", own, 2);
    pass_dns(batch);
    for (size_t i = 0; i < inside->n_udp; i++)
        pass_datagrams(batch, inside->udp[i]);
    /* Nobody takes any other, also not for a host that a rule allows. */
    log_others(batch, IPPROTO_UDP);
    let_pass(batch, "out", synthetic, 2);
    let_pass(batch, "out", networks, n);
    log_others(batch, IPPROTO_TCP);
    refuse_rest(batch, IPPROTO_TCP, nft_reset);
    refuse_rest(batch, IPPROTO_UDP, nft_reject);
}

int gate_inside_prepare(struct gate_inside *inside, const struct gate_network *networks,
                        size_t n_networks)
{
    raise_link(&inside->link, true);
    raise_link(&inside->plain_link, false);
    add_route(&inside->routes4, AF_INET);
    add_route(&inside->routes6, AF_INET6);
    (void)buffer_reserve(&inside->tables, MOSTLY); /* or it is said below */
    nft_begin(&inside->tables);
    nft_table(&inside->tables, TABLE);
    intercept(&inside->tables);
    buffer_append(&inside->fallback, inside->tables.data, inside->tables.length);
    nft_end(&inside->fallback);
    refuse_others(inside, networks, n_networks);
    nft_end(&inside->tables);
    return inside->link.failed || inside->plain_link.failed || inside->routes4.failed ||
                   inside->routes6.failed || inside->tables.failed || inside->fallback.failed
               ? -ENOMEM
               : 0;
}

/* Before all others: which rule refuses what is left is not to be known here. */
int gate_inside_open(struct buffer *batch, const struct gate_network *networks, size_t n)
{
    nft_begin(batch);
    for (size_t i = 0; i < n; i++) {
        struct nft_rule rule = nft_rule_begin_first(batch, TABLE, "out");

        nft_is_protocol(batch,
                        IPPROTO_TCP); /* as for those before it, datagrams are another matter */
        nft_is_family(batch, family_of(&networks[i]));
        nft_is_to(batch, family_of(&networks[i]), networks[i].address, networks[i].bits, false);
        nft_accept(batch);
        nft_rule_end(batch, rule);
    }
    nft_end(batch);
    return batch->failed ? -ENOMEM : 0;
}

void gate_inside_done(struct gate_inside *inside)
{
    buffer_done(&inside->link);
    buffer_done(&inside->plain_link);
    buffer_done(&inside->routes4);
    buffer_done(&inside->routes6);
    buffer_done(&inside->tables);
    buffer_done(&inside->fallback);
}
