#include "nft_batch.h"

#include <arpa/inet.h>
#include <linux/netfilter.h>
#include <linux/netfilter/nf_conntrack_common.h>
#include <linux/netfilter/nf_tables.h>
#include <linux/netfilter/nfnetlink.h>
#include <linux/netlink.h>
#include <netinet/in.h>
#include <string.h>

#include "net/wire/netlink_message.h"

#define FLAGS_OFFSET 13 /* in a TCP header */
#define SYN          0x02
#define ACK          0x10

static size_t begin(struct buffer *batch, uint16_t type, uint16_t flags, uint8_t family,
                    uint16_t resource)
{
    const struct nfgenmsg header = { family, NFNETLINK_V0, htons(resource) };
    size_t at = netlink_begin(batch, type, NLM_F_REQUEST | flags);

    buffer_append(batch, &header, sizeof header);
    return at;
}

static size_t begin_object(struct buffer *batch, uint16_t message, uint16_t flags)
{
    return begin(batch, (uint16_t)(NFNL_SUBSYS_NFTABLES << 8 | message), NLM_F_CREATE | flags,
                 NFPROTO_INET, 0);
}

void nft_begin(struct buffer *batch)
{
    netlink_end(batch, begin(batch, NFNL_MSG_BATCH_BEGIN, 0, NFPROTO_UNSPEC, NFNL_SUBSYS_NFTABLES));
}

void nft_begin_at(struct buffer *batch, uint32_t generation)
{
    size_t at = begin(batch, NFNL_MSG_BATCH_BEGIN, 0, NFPROTO_UNSPEC, NFNL_SUBSYS_NFTABLES);

    netlink_be32(batch, NFNL_BATCH_GENID, generation);
    netlink_end(batch, at);
}

void nft_end(struct buffer *batch)
{
    netlink_end(batch, begin(batch, NFNL_MSG_BATCH_END, 0, NFPROTO_UNSPEC, NFNL_SUBSYS_NFTABLES));
}

static void name_table(struct buffer *batch, uint16_t message, uint16_t flags, const char *table)
{
    size_t at = begin_object(batch, message, flags);

    netlink_string(batch, NFTA_TABLE_NAME, table);
    netlink_end(batch, at);
}

void nft_table(struct buffer *batch, const char *table)
{
    name_table(batch, NFT_MSG_NEWTABLE, 0, table);
}

void nft_new_table(struct buffer *batch, const char *table)
{
    name_table(batch, NFT_MSG_NEWTABLE, NLM_F_EXCL, table);
}

void nft_delete_table(struct buffer *batch, const char *table)
{
    name_table(batch, NFT_MSG_DELTABLE, 0, table);
}

void nft_chain(struct buffer *batch, const char *table, const char *chain, const char *type,
               uint32_t hook, int32_t priority)
{
    size_t at = begin_object(batch, NFT_MSG_NEWCHAIN, 0);

    netlink_string(batch, NFTA_CHAIN_TABLE, table);
    netlink_string(batch, NFTA_CHAIN_NAME, chain);
    size_t nest = netlink_nest(batch, NFTA_CHAIN_HOOK);
    netlink_be32(batch, NFTA_HOOK_HOOKNUM, hook);
    netlink_be32(batch, NFTA_HOOK_PRIORITY, (uint32_t)priority);
    netlink_unnest(batch, nest);
    netlink_string(batch, NFTA_CHAIN_TYPE, type);
    netlink_end(batch, at);
}

static void name_chain(struct buffer *batch, uint16_t message, const char *table, const char *chain)
{
    size_t at = begin_object(batch, message, 0);

    netlink_string(batch, NFTA_CHAIN_TABLE, table);
    netlink_string(batch, NFTA_CHAIN_NAME, chain);
    netlink_end(batch, at);
}

void nft_plain_chain(struct buffer *batch, const char *table, const char *chain)
{
    name_chain(batch, NFT_MSG_NEWCHAIN, table, chain);
}

void nft_delete_chain(struct buffer *batch, const char *table, const char *chain)
{
    name_chain(batch, NFT_MSG_DELCHAIN, table, chain);
}

static struct nft_rule begin_rule(struct buffer *batch, uint16_t flags, const char *table,
                                  const char *chain)
{
    struct nft_rule rule = { .message = begin_object(batch, NFT_MSG_NEWRULE, flags) };

    netlink_string(batch, NFTA_RULE_TABLE, table);
    netlink_string(batch, NFTA_RULE_CHAIN, chain);
    rule.expressions = netlink_nest(batch, NFTA_RULE_EXPRESSIONS);
    return rule;
}

struct nft_rule nft_rule_begin(struct buffer *batch, const char *table, const char *chain)
{
    return begin_rule(batch, NLM_F_APPEND, table, chain);
}

struct nft_rule nft_rule_begin_first(struct buffer *batch, const char *table, const char *chain)
{
    return begin_rule(batch, 0, table, chain);
}

void nft_rule_end(struct buffer *batch, struct nft_rule rule)
{
    netlink_unnest(batch, rule.expressions);
    netlink_end(batch, rule.message);
}

/* ---- expressions: a name and its attributes */

struct expression {
    size_t element, data;
};

static struct expression expression_begin(struct buffer *batch, const char *name)
{
    struct expression e = { .element = netlink_nest(batch, NFTA_LIST_ELEM) };

    netlink_string(batch, NFTA_EXPR_NAME, name);
    e.data = netlink_nest(batch, NFTA_EXPR_DATA);
    return e;
}

static void expression_end(struct buffer *batch, struct expression e)
{
    netlink_unnest(batch, e.data);
    netlink_unnest(batch, e.element);
}

static void value(struct buffer *batch, uint16_t attribute, const void *bytes, size_t n)
{
    size_t nest = netlink_nest(batch, attribute);

    netlink_attribute(batch, NFTA_DATA_VALUE, bytes, n);
    netlink_unnest(batch, nest);
}

static void load_meta(struct buffer *batch, uint32_t key)
{
    struct expression e = expression_begin(batch, "meta");

    netlink_be32(batch, NFTA_META_DREG, NFT_REG_1);
    netlink_be32(batch, NFTA_META_KEY, key);
    expression_end(batch, e);
}

static void load_payload(struct buffer *batch, uint32_t base, uint32_t offset, uint32_t length)
{
    struct expression e = expression_begin(batch, "payload");

    netlink_be32(batch, NFTA_PAYLOAD_DREG, NFT_REG_1);
    netlink_be32(batch, NFTA_PAYLOAD_BASE, base);
    netlink_be32(batch, NFTA_PAYLOAD_OFFSET, offset);
    netlink_be32(batch, NFTA_PAYLOAD_LEN, length);
    expression_end(batch, e);
}

static void mask(struct buffer *batch, const void *bits, uint32_t n)
{
    static const uint8_t zeros[16];
    struct expression e = expression_begin(batch, "bitwise");

    netlink_be32(batch, NFTA_BITWISE_SREG, NFT_REG_1);
    netlink_be32(batch, NFTA_BITWISE_DREG, NFT_REG_1);
    netlink_be32(batch, NFTA_BITWISE_LEN, n);
    value(batch, NFTA_BITWISE_MASK, bits, n);
    value(batch, NFTA_BITWISE_XOR, zeros, n);
    expression_end(batch, e);
}

static void compare(struct buffer *batch, uint32_t how, const void *bytes, size_t n)
{
    struct expression e = expression_begin(batch, "cmp");

    netlink_be32(batch, NFTA_CMP_SREG, NFT_REG_1);
    netlink_be32(batch, NFTA_CMP_OP, how);
    value(batch, NFTA_CMP_DATA, bytes, n);
    expression_end(batch, e);
}

static void put_port(struct buffer *batch, uint16_t port)
{
    uint16_t big = htons(port);
    struct expression e = expression_begin(batch, "immediate");

    netlink_be32(batch, NFTA_IMMEDIATE_DREG, NFT_REG_1);
    value(batch, NFTA_IMMEDIATE_DATA, &big, sizeof big);
    expression_end(batch, e);
}

/* ---- tests */

void nft_is_family(struct buffer *batch, uint8_t family)
{
    load_meta(batch, NFT_META_NFPROTO);
    compare(batch, NFT_CMP_EQ, &family, 1);
}

void nft_is_protocol(struct buffer *batch, uint8_t protocol)
{
    load_meta(batch, NFT_META_L4PROTO);
    compare(batch, NFT_CMP_EQ, &protocol, 1);
}

void nft_is_to(struct buffer *batch, uint8_t family, const void *address, unsigned bits,
               bool is_not)
{
    uint32_t whole = family == NFPROTO_IPV4 ? 4 : 16;
    uint32_t n = bits == 0 ? 1 : bits < 8 * whole ? (bits + 7) / 8 : whole;
    uint8_t ones[16] = { 0 };
    uint8_t network[16];

    memcpy(network, address, n);
    for (unsigned i = 0; i < n; i++) {
        unsigned left = bits > 8 * i ? bits - 8 * i : 0;

        ones[i] = left >= 8 ? 0xff : (uint8_t)(0xff00 >> left);
        network[i] &= ones[i];
    }
    load_payload(batch, NFT_PAYLOAD_NETWORK_HEADER, family == NFPROTO_IPV4 ? 16 : 24, n);
    if (ones[n - 1] != 0xff)
        mask(batch, ones, n);
    compare(batch, is_not ? NFT_CMP_NEQ : NFT_CMP_EQ, network, n);
}

static void is_port(struct buffer *batch, uint32_t offset, uint16_t first, uint16_t last)
{
    uint16_t low = htons(first);
    uint16_t high = htons(last);

    load_payload(batch, NFT_PAYLOAD_TRANSPORT_HEADER, offset, sizeof low);
    if (first == last) {
        compare(batch, NFT_CMP_EQ, &low, sizeof low);
        return;
    }
    compare(batch, NFT_CMP_GTE, &low, sizeof low);
    compare(batch, NFT_CMP_LTE, &high, sizeof high);
}

void nft_is_from_port(struct buffer *batch, uint16_t first, uint16_t last)
{
    is_port(batch, 0, first, last);
}

void nft_is_to_port(struct buffer *batch, uint16_t first, uint16_t last)
{
    is_port(batch, 2, first, last);
}

void nft_has_options(struct buffer *batch)
{
    const uint8_t words = 0x0f;
    const uint8_t least = 5;

    nft_is_family(batch, NFPROTO_IPV4);
    load_payload(batch, NFT_PAYLOAD_NETWORK_HEADER, 0, 1);
    mask(batch, &words, 1);
    compare(batch, NFT_CMP_NEQ, &least, 1);
}

static void is_interface(struct buffer *batch, uint32_t key, const char *interfaces)
{
    load_meta(batch, key);
    compare(batch, NFT_CMP_EQ, interfaces, strlen(interfaces));
}

void nft_is_into(struct buffer *batch, const char *interfaces)
{
    is_interface(batch, NFT_META_OIFNAME, interfaces);
}

void nft_is_out_of(struct buffer *batch, const char *interfaces)
{
    is_interface(batch, NFT_META_IIFNAME, interfaces);
}

void nft_is_by(struct buffer *batch, uint32_t interface)
{
    load_meta(batch, NFT_META_OIF);
    compare(batch, NFT_CMP_EQ, &interface, sizeof interface);
}

void nft_is_icmp(struct buffer *batch, uint8_t first, uint8_t last)
{
    load_payload(batch, NFT_PAYLOAD_TRANSPORT_HEADER, 0, 1);
    compare(batch, NFT_CMP_GTE, &first, 1);
    compare(batch, NFT_CMP_LTE, &last, 1);
}

void nft_is_answer(struct buffer *batch)
{
    const uint32_t known = NF_CT_STATE_BIT(IP_CT_ESTABLISHED) | NF_CT_STATE_BIT(IP_CT_RELATED);
    const uint32_t none = 0;
    struct expression e = expression_begin(batch, "ct");

    netlink_be32(batch, NFTA_CT_DREG, NFT_REG_1);
    netlink_be32(batch, NFTA_CT_KEY, NFT_CT_STATE);
    expression_end(batch, e);
    mask(batch, &known, sizeof known);
    compare(batch, NFT_CMP_NEQ, &none, sizeof none);
}

void nft_is_first(struct buffer *batch, bool is_not)
{
    const uint8_t both = SYN | ACK;
    const uint8_t syn = SYN;

    load_payload(batch, NFT_PAYLOAD_TRANSPORT_HEADER, FLAGS_OFFSET, 1);
    mask(batch, &both, 1);
    compare(batch, is_not ? NFT_CMP_NEQ : NFT_CMP_EQ, &syn, 1);
}

void nft_limit(struct buffer *batch, uint64_t per_second, uint32_t burst)
{
    struct expression e = expression_begin(batch, "limit");

    netlink_be64(batch, NFTA_LIMIT_RATE, per_second);
    netlink_be64(batch, NFTA_LIMIT_UNIT, 1);
    netlink_be32(batch, NFTA_LIMIT_BURST, burst);
    netlink_be32(batch, NFTA_LIMIT_TYPE, NFT_LIMIT_PKTS);
    expression_end(batch, e);
}

/* ---- what is done */

void nft_tproxy(struct buffer *batch, uint8_t family, uint16_t port)
{
    put_port(batch, port);
    struct expression e = expression_begin(batch, "tproxy");

    netlink_be32(batch, NFTA_TPROXY_FAMILY, family);
    netlink_be32(batch, NFTA_TPROXY_REG_PORT, NFT_REG_1);
    expression_end(batch, e);
    nft_accept(batch);
}

void nft_log(struct buffer *batch, uint16_t group, uint32_t n_bytes)
{
    struct expression e = expression_begin(batch, "log");

    netlink_be16(batch, NFTA_LOG_GROUP, group);
    netlink_be32(batch, NFTA_LOG_SNAPLEN, n_bytes);
    netlink_be16(batch, NFTA_LOG_QTHRESHOLD, 1);
    expression_end(batch, e);
}

static void decide(struct buffer *batch, int32_t code, const char *chain)
{
    struct expression e = expression_begin(batch, "immediate");

    netlink_be32(batch, NFTA_IMMEDIATE_DREG, NFT_REG_VERDICT);
    size_t data = netlink_nest(batch, NFTA_IMMEDIATE_DATA);
    size_t verdict = netlink_nest(batch, NFTA_DATA_VERDICT);
    netlink_be32(batch, NFTA_VERDICT_CODE, (uint32_t)code);
    if (chain)
        netlink_string(batch, NFTA_VERDICT_CHAIN, chain);
    netlink_unnest(batch, verdict);
    netlink_unnest(batch, data);
    expression_end(batch, e);
}

void nft_accept(struct buffer *batch)
{
    decide(batch, NF_ACCEPT, NULL);
}

void nft_drop(struct buffer *batch)
{
    decide(batch, NF_DROP, NULL);
}

void nft_jump(struct buffer *batch, const char *chain)
{
    decide(batch, NFT_JUMP, chain);
}

void nft_masquerade(struct buffer *batch)
{
    expression_end(batch, expression_begin(batch, "masq"));
}

static void reject(struct buffer *batch, uint32_t type, uint8_t code)
{
    struct expression e = expression_begin(batch, "reject");

    netlink_be32(batch, NFTA_REJECT_TYPE, type);
    netlink_attribute(batch, NFTA_REJECT_ICMP_CODE, &code, 1);
    expression_end(batch, e);
}

void nft_reset(struct buffer *batch)
{
    reject(batch, NFT_REJECT_TCP_RST, 0);
}

void nft_reject(struct buffer *batch)
{
    reject(batch, NFT_REJECT_ICMPX_UNREACH, NFT_REJECT_ICMPX_ADMIN_PROHIBITED);
}
