/*
 * nat_inside_prepare.c - the messages that make a network namespace refuse what is not the internet
 *
 * One chain for what leaves, and in this order: what stays inside; what has a route of its own; what
 * belongs to a connection that was let through; what is denied; single addresses that are allowed, because no wider rule opens
 * one where a cloud hands out secrets; those; what else is allowed; the host; whatever is not of
 * the internet. The rest may go.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <linux/netfilter.h>
#include <netinet/in.h>
#include <string.h>

#include "net/inside/nat_inside.h"
#include "net/wire/nft_batch.h"

#define TABLE     "coop"
#define OUT       "out"
#define REFUSE    "refuse"
#define LOOPBACK  1 /* the index of lo in every namespace */
#define LOG_BYTES 64
#define LOG_RATE  100    /* a second */
#define MOST      200000 /* bytes that a socket of netlink takes at once */

/* What the neighbours of an IPv6 host must hear of it: listeners, routers, neighbours. */
static const uint8_t neighbourhood[][2] = { { 131, 137 }, { 143, 143 } };

static const uint8_t transports[] = { IPPROTO_TCP, IPPROTO_UDP };

/* A range as packets have it: the bytes of their family. */
struct destination {
    uint8_t family;
    uint8_t address[ADDRESS_BYTES];
    unsigned bits;
};

static struct destination destination_of(const uint8_t range[ADDRESS_BYTES], unsigned bits)
{
    struct destination to = { .family = NFPROTO_IPV6, .bits = bits };

    memcpy(to.address, range, sizeof to.address);
    if (bits >= 96 && address_is_v4(range)) {
        to.family = NFPROTO_IPV4;
        memcpy(to.address, range + 12, 4);
        to.bits = bits - 96;
    }
    return to;
}

static void is_to(struct buffer *batch, const struct destination *to)
{
    nft_is_family(batch, to->family);
    if (to->bits > 0)
        nft_is_to(batch, to->family, to->address, to->bits, false);
}

static void decide(struct buffer *batch, bool is_denied)
{
    if (is_denied)
        nft_jump(batch, REFUSE);
    else
        nft_accept(batch);
}

static void refuse_range(void *context, const uint8_t range[ADDRESS_BYTES], unsigned bits)
{
    struct buffer *batch = context;
    struct destination to = destination_of(range, bits);
    struct nft_rule rule = nft_rule_begin(batch, TABLE, OUT);

    is_to(batch, &to);
    nft_jump(batch, REFUSE);
    nft_rule_end(batch, rule);
}

static void refuse_secrets(void *context, const uint8_t range[ADDRESS_BYTES], unsigned bits,
                           enum address_class class)
{
    if (class == ADDRESS_METADATA)
        refuse_range(context, range, bits);
}

static void refuse_special(void *context, const uint8_t range[ADDRESS_BYTES], unsigned bits,
                           enum address_class class)
{
    if (class != ADDRESS_METADATA)
        refuse_range(context, range, bits);
}

/* ---- rules of the policy */

static bool has_ports(const struct host_rule *rule)
{
    return rule->first_port > 0 || rule->last_port < 65535;
}

static void add_transport(struct buffer *batch, const struct nat_rule *what,
                          const struct destination *to, uint8_t protocol)
{
    struct nft_rule rule = nft_rule_begin(batch, TABLE, OUT);

    is_to(batch, to);
    nft_is_protocol(batch, protocol);
    if (has_ports(what->rule))
        nft_is_to_port(batch, what->rule->first_port, what->rule->last_port);
    decide(batch, what->is_denied);
    nft_rule_end(batch, rule);
}

/* What is denied is so for both transports, and without ports for whatever else there is. */
static void add_destination(struct buffer *batch, const struct nat_rule *what,
                            const struct destination *to)
{
    if (what->is_denied && !has_ports(what->rule)) {
        struct nft_rule rule = nft_rule_begin(batch, TABLE, OUT);

        is_to(batch, to);
        nft_jump(batch, REFUSE);
        nft_rule_end(batch, rule);
        return;
    }
    for (size_t i = 0; i < sizeof transports; i++) {
        bool is_udp = transports[i] == IPPROTO_UDP;

        if (what->is_denied || is_udp == what->rule->is_udp)
            add_transport(batch, what, to, transports[i]);
    }
}

static void add_rule(struct buffer *batch, const struct nat_rule *what)
{
    static const uint8_t mapped[ADDRESS_BYTES] = { [10] = 0xff, 0xff };
    const struct host_rule *rule = what->rule;
    struct destination all[] = { { .family = NFPROTO_IPV4 }, { .family = NFPROTO_IPV6 } };
    bool is_any = rule->kind == HOST_RULE_ANY;

    if (rule->kind != HOST_RULE_ADDRESS && !is_any)
        return;
    /* A range that holds all of IPv4 is one of both families. */
    if (is_any || (rule->bits < 96 && address_is_within(mapped, rule->address, rule->bits)))
        add_destination(batch, what, &all[0]);
    if (!is_any)
        all[1] = destination_of(rule->address, rule->bits);
    add_destination(batch, what, &all[1]);
}

static bool is_single(const struct nat_rule *what)
{
    return what->rule->kind == HOST_RULE_ADDRESS && what->rule->bits == 8 * ADDRESS_BYTES;
}

/* ---- the chains */

static void let_neighbours_hear(struct buffer *batch)
{
    for (size_t i = 0; i < sizeof neighbourhood / sizeof *neighbourhood; i++) {
        struct nft_rule rule = nft_rule_begin(batch, TABLE, OUT);

        nft_is_family(batch, NFPROTO_IPV6);
        nft_is_protocol(batch, IPPROTO_ICMPV6);
        nft_is_icmp(batch, neighbourhood[i][0], neighbourhood[i][1]);
        nft_accept(batch);
        nft_rule_end(batch, rule);
    }
}

static void let_pass_what_is_known(struct buffer *batch)
{
    struct nft_rule rule = nft_rule_begin(batch, TABLE, OUT);

    nft_is_by(batch, LOOPBACK);
    nft_accept(batch);
    nft_rule_end(batch, rule);
    /* Anybody may name a first stop and hide where a packet goes on to. */
    rule = nft_rule_begin(batch, TABLE, OUT);
    nft_has_options(batch);
    nft_jump(batch, REFUSE);
    nft_rule_end(batch, rule);
    rule = nft_rule_begin(batch, TABLE, OUT);
    nft_is_protocol(batch, IPPROTO_TCP);
    nft_is_first(batch, true);
    nft_accept(batch);
    nft_rule_end(batch, rule);
    let_neighbours_hear(batch);
}

static void log_transport(struct buffer *batch, uint8_t protocol)
{
    struct nft_rule rule = nft_rule_begin(batch, TABLE, REFUSE);

    nft_is_protocol(batch, protocol);
    nft_limit(batch, LOG_RATE, LOG_RATE);
    nft_log(batch, NAT_INSIDE_LOG, LOG_BYTES);
    nft_rule_end(batch, rule);
}

/* connect() and sendto() fail at once. */
static void refuse_loudly(struct buffer *batch)
{
    nft_plain_chain(batch, TABLE, REFUSE);
    for (size_t i = 0; i < sizeof transports; i++)
        log_transport(batch, transports[i]);
    struct nft_rule rule = nft_rule_begin(batch, TABLE, REFUSE);
    nft_is_protocol(batch, IPPROTO_TCP);
    nft_reset(batch);
    nft_rule_end(batch, rule);
    rule = nft_rule_begin(batch, TABLE, REFUSE);
    nft_reject(batch);
    nft_rule_end(batch, rule);
}

static void refuse_silently(struct buffer *batch)
{
    nft_plain_chain(batch, TABLE, REFUSE);
    struct nft_rule rule = nft_rule_begin(batch, TABLE, REFUSE);
    nft_drop(batch);
    nft_rule_end(batch, rule);
}

static void decide_all(struct buffer *batch, const struct nat_rule *rules, size_t n_rules,
                       const uint8_t (*own)[ADDRESS_BYTES], size_t n_own)
{
    nft_chain(batch, TABLE, OUT, "filter", NF_INET_LOCAL_OUT, 0);
    let_pass_what_is_known(batch);
    for (size_t i = 0; i < n_rules; i++)
        if (rules[i].is_denied)
            add_rule(batch, &rules[i]);
    for (size_t i = 0; i < n_rules; i++)
        if (!rules[i].is_denied && is_single(&rules[i]))
            add_rule(batch, &rules[i]);
    address_each_special(refuse_secrets, batch);
    for (size_t i = 0; i < n_rules; i++)
        if (!rules[i].is_denied && !is_single(&rules[i]))
            add_rule(batch, &rules[i]);
    for (size_t i = 0; i < n_own; i++)
        refuse_range(batch, own[i], 8 * ADDRESS_BYTES);
    address_each_special(refuse_special, batch);
}

int nat_inside_prepare(struct nat_inside *inside, const struct nat_rule *rules, size_t n_rules,
                       const uint8_t (*own)[ADDRESS_BYTES], size_t n_own)
{
    struct buffer *const batches[] = { &inside->tables, &inside->fallback };

    for (size_t i = 0; i < 2; i++) {
        nft_begin(batches[i]);
        nft_table(batches[i], TABLE);
        if (i == 0)
            refuse_loudly(batches[i]);
        else
            refuse_silently(batches[i]);
        decide_all(batches[i], rules, n_rules, own, n_own);
        nft_end(batches[i]);
        if (batches[i]->failed)
            return -ENOMEM;
        if (batches[i]->length > MOST)
            return -E2BIG;
    }
    return 0;
}

void nat_inside_done(struct nat_inside *inside)
{
    buffer_done(&inside->tables);
    buffer_done(&inside->fallback);
}
