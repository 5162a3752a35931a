/*
 * nft_batch.h - rules for nf_tables, spoken to the kernel without a library
 *
 *   size_t at = nft_begin(&batch);
 *   nft_table(&batch, "coop");
 *   nft_chain(&batch, "coop", "out", NF_INET_LOCAL_OUT, 0);
 *   struct nft_rule rule = nft_rule_begin(&batch, "coop", "out");
 *   nft_is_protocol(&batch, IPPROTO_TCP);
 *   nft_accept(&batch);
 *   nft_rule_end(&batch, rule);
 *   nft_end(&batch);
 *
 * All of a batch comes to be, or nothing. Each test of a rule that fails ends the rule.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/buffer.h"

struct nft_rule {
    size_t message, expressions;
};

void nft_begin(struct buffer *batch);
/* The same, but nothing of it comes to be if the rules of the namespace are not those of that
 * generation any more: -ERESTART. */
void nft_begin_at(struct buffer *batch, uint32_t generation);
void nft_end(struct buffer *batch);
/* Of the family inet: both kinds of packets. */
void nft_table(struct buffer *batch, const char *table);
void nft_new_table(struct buffer *batch, const char *table); /* -EEXIST: it is there already */
void nft_delete_table(struct buffer *batch, const char *table);
void nft_chain(struct buffer *batch, const char *table, const char *chain, const char *type,
               uint32_t hook, int32_t priority);
/* One that packets come to by nft_jump() only. */
void nft_plain_chain(struct buffer *batch, const char *table, const char *chain);
void nft_delete_chain(struct buffer *batch, const char *table, const char *chain);
struct nft_rule nft_rule_begin(struct buffer *batch, const char *table, const char *chain);
/* Before all that the chain has. */
struct nft_rule nft_rule_begin_first(struct buffer *batch, const char *table, const char *chain);
void nft_rule_end(struct buffer *batch, struct nft_rule rule);

/* Tests. */
void nft_is_family(struct buffer *batch, uint8_t family);     /* NFPROTO_IPV4, NFPROTO_IPV6 */
void nft_is_protocol(struct buffer *batch, uint8_t protocol); /* IPPROTO_TCP, IPPROTO_UDP */
/* The destination, of the family that was tested: its first `bits` are those of address, or not. */
void nft_is_to(struct buffer *batch, uint8_t family, const void *address, unsigned bits,
               bool is_not);
void nft_is_to_port(struct buffer *batch, uint16_t first, uint16_t last);
void nft_is_from_port(struct buffer *batch, uint16_t first, uint16_t last);
void nft_has_options(struct buffer *batch); /* an IPv4 packet that says more than where it goes */
/* Which names of interfaces begin with that. */
void nft_is_into(struct buffer *batch, const char *interfaces);
void nft_is_out_of(struct buffer *batch, const char *interfaces);
void nft_is_by(struct buffer *batch, uint32_t interface); /* leaves by that one, by its index */
void nft_is_icmp(struct buffer *batch, uint8_t first, uint8_t last); /* types */
void nft_is_answer(struct buffer *batch); /* of a connection that is known, or related to one */
void nft_is_first(struct buffer *batch, bool is_not); /* of a TCP connection: SYN, no ACK */
void nft_limit(struct buffer *batch, uint64_t per_second, uint32_t burst);

/* What is done. */
void nft_tproxy(struct buffer *batch, uint8_t family, uint16_t port); /* and accepted */
void nft_log(struct buffer *batch, uint16_t group, uint32_t n_bytes);
void nft_accept(struct buffer *batch);
void nft_drop(struct buffer *batch);
void nft_jump(struct buffer *batch, const char *chain);
void nft_masquerade(struct buffer *batch);
void nft_reset(struct buffer *batch);  /* a TCP connection */
void nft_reject(struct buffer *batch); /* with an answer: prohibited */
