#include "table.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/netfilter.h>
#include <linux/netfilter/nf_tables.h>
#include <linux/netfilter/nfnetlink.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/buffer.h"
#include "net/inside/inside.h"
#include "net/wire/netlink_ask.h"
#include "net/wire/netlink_message.h"
#include "net/wire/nft_batch.h"

#ifndef ERESTART
#define ERESTART 85
#endif

#define TABLE      "coop_nat"
#define MARK       "box-" /* and the interface */
#define TRIES      1000   /* each time somebody else was quicker */
#define SOURCE_NAT 100
#define NAME_BYTES (sizeof MARK + IF_NAMESIZE)

static const char *const prefixes[] = { NAT_TABLE_CLOSED, NAT_TABLE_OPEN };

static int send_batch(struct buffer *batch)
{
    return batch->failed ? -ENOMEM : (int)inside_send_messages(NETLINK_NETFILTER, batch);
}

static void name_mark(char out[NAME_BYTES], const char *interface)
{
    (void)snprintf(out, NAME_BYTES, MARK "%.*s", IF_NAMESIZE - 1, interface);
}

/* ---- the rules */

/* The host itself is not there for them. */
static void refuse_input(struct buffer *batch)
{
    nft_chain(batch, TABLE, "input", "filter", NF_INET_LOCAL_IN, 0);
    struct nft_rule rule = nft_rule_begin(batch, TABLE, "input");
    nft_is_out_of(batch, NAT_TABLE_CLOSED);
    nft_reject(batch);
    nft_rule_end(batch, rule);
}

/* Nobody begins to talk to them, neither a neighbour of the host nor another box. */
static void refuse_visitors(struct buffer *batch)
{
    nft_chain(batch, TABLE, "visitors", "filter", NF_INET_POST_ROUTING, 0);
    for (size_t i = 0; i < 2; i++) {
        struct nft_rule rule = nft_rule_begin(batch, TABLE, "visitors");
        nft_is_into(batch, prefixes[i]);
        nft_is_answer(batch);
        nft_accept(batch);
        nft_rule_end(batch, rule);
        rule = nft_rule_begin(batch, TABLE, "visitors");
        nft_is_into(batch, prefixes[i]);
        nft_drop(batch);
        nft_rule_end(batch, rule);
    }
}

/* Whatever source they claim. Interfaces that a packet came by are known there since Linux 5.7. */
static void translate(struct buffer *batch)
{
    nft_chain(batch, TABLE, "translate", "nat", NF_INET_POST_ROUTING, SOURCE_NAT);
    for (size_t i = 0; i < 2; i++) {
        struct nft_rule rule = nft_rule_begin(batch, TABLE, "translate");

        nft_is_out_of(batch, prefixes[i]);
        nft_masquerade(batch);
        nft_rule_end(batch, rule);
    }
}

static int add_table(const char *mark)
{
    auto_buffer struct buffer batch = { 0 };

    nft_begin(&batch);
    nft_new_table(&batch, TABLE);
    refuse_input(&batch);
    refuse_visitors(&batch);
    translate(&batch);
    nft_plain_chain(&batch, TABLE, mark);
    nft_end(&batch);
    return send_batch(&batch);
}

static int change_mark(const char *mark,
                       void (*change)(struct buffer *, const char *, const char *))
{
    auto_buffer struct buffer batch = { 0 };

    nft_begin(&batch);
    change(&batch, TABLE, mark);
    nft_end(&batch);
    return send_batch(&batch);
}

/* ---- who is there */

struct marks {
    size_t n_alive;
    struct buffer dead; /* their names, each with its NUL */
};

static void take_chain(void *context, const struct nlmsghdr *answer)
{
    struct marks *marks = context;
    size_t n_table = 0;
    size_t n_name = 0;
    const char *table = netlink_find(answer, sizeof(struct nfgenmsg), NFTA_CHAIN_TABLE, &n_table);
    const char *name = netlink_find(answer, sizeof(struct nfgenmsg), NFTA_CHAIN_NAME, &n_name);

    if (!table || !name || n_table != sizeof TABLE || memcmp(table, TABLE, sizeof TABLE) != 0 ||
        n_name <= sizeof MARK || strncmp(name, MARK, sizeof MARK - 1) != 0 || name[n_name - 1])
        return;
    if (if_nametoindex(name + sizeof MARK - 1) > 0)
        marks->n_alive++;
    else
        buffer_append(&marks->dead, name, n_name);
}

static void take_generation(void *context, const struct nlmsghdr *answer)
{
    uint32_t *generation = context;
    uint32_t big;
    size_t n = 0;
    const void *bytes = netlink_find(answer, sizeof(struct nfgenmsg), NFTA_GEN_ID, &n);

    if (!bytes || n != sizeof big)
        return;
    memcpy(&big, bytes, sizeof big);
    *generation = ntohl(big);
}

static int ask(uint16_t message, uint16_t flags, uint8_t family,
               void (*each)(void *context, const struct nlmsghdr *answer), void *context)
{
    const struct nfgenmsg header = { .nfgen_family = family, .version = NFNETLINK_V0 };
    auto_buffer struct buffer question = { 0 };
    size_t at = netlink_begin(&question, (uint16_t)(NFNL_SUBSYS_NFTABLES << 8 | message),
                              NLM_F_REQUEST | flags);

    buffer_append(&question, &header, sizeof header);
    netlink_end(&question, at);
    return netlink_ask(NETLINK_NETFILTER, &question, each, context);
}

static bool is_there(void)
{
    const struct nfgenmsg header = { .nfgen_family = NFPROTO_INET, .version = NFNETLINK_V0 };
    auto_buffer struct buffer question = { 0 };
    size_t at = netlink_begin(&question, NFNL_SUBSYS_NFTABLES << 8 | NFT_MSG_GETTABLE,
                              NLM_F_REQUEST | NLM_F_ACK);

    buffer_append(&question, &header, sizeof header);
    netlink_string(&question, NFTA_TABLE_NAME, TABLE);
    netlink_end(&question, at);
    return netlink_ask(NETLINK_NETFILTER, &question, NULL, NULL) == 0;
}

/* Nothing goes if somebody has come, or come back, since all was looked at. */
static int remove_unneeded(const struct marks *marks, uint32_t generation)
{
    auto_buffer struct buffer batch = { 0 };
    int n = 0;

    nft_begin_at(&batch, generation);
    for (size_t at = 0, step = 0; at < marks->dead.length; at += step, n++) {
        step = strlen(marks->dead.data + at) + 1;
        nft_delete_chain(&batch, TABLE, marks->dead.data + at);
    }
    if (marks->n_alive == 0) {
        nft_delete_table(&batch, TABLE);
        n++;
    }
    nft_end(&batch);
    int r = send_batch(&batch);
    return r == -ENOENT ? 0 : r < 0 ? r : n; /* without a table there is nothing to remove */
}

/* -ERESTART: somebody changed something meanwhile. */
static int sweep_once(size_t *out_alive)
{
    struct marks marks = { .n_alive = 0 };
    uint32_t generation = 0;
    int r = ask(NFT_MSG_GETGEN, NLM_F_ACK, NFPROTO_UNSPEC, take_generation, &generation);

    if (r == 0)
        r = ask(NFT_MSG_GETCHAIN, NLM_F_DUMP, NFPROTO_INET, take_chain, &marks);
    if (r == 0 && marks.dead.failed)
        r = -ENOMEM;
    if (r == 0 && (marks.n_alive == 0 || marks.dead.length > 0))
        r = remove_unneeded(&marks, generation);
    *out_alive = marks.n_alive;
    buffer_done(&marks.dead);
    return r;
}

int nat_table_join(const char *interface)
{
    char mark[NAME_BYTES];
    int r = -EAGAIN;

    name_mark(mark, interface);
    for (int i = 0; i < TRIES; i++) {
        /* Looked at first: orders that fail take the kernel longer than those that do not. */
        r = is_there() ? change_mark(mark, nft_plain_chain) : -ENOENT;
        if (r != -ENOENT)
            return r;
        r = add_table(mark);
        if (r != -EEXIST)
            return r;
    }
    return r;
}

int nat_table_sweep(bool is_thorough)
{
    size_t n_alive = 0;
    int r = -ERESTART;

    for (int i = 0; i < TRIES && (r == -ERESTART || r == -EINTR); i++) {
        r = sweep_once(&n_alive);
        if (r == -ERESTART && n_alive > 0 && !is_thorough)
            return 0;
    }
    return r;
}
