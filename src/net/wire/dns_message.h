/*
 * dns_message.h - packets of the name service, on both sides
 *
 * Towards a box: a query is read strictly and answered from what the gate knows.
 *
 *   rcode = dns_query_parse(packet, n, &query)      DNS_DROP: say nothing; not 0: answer with it
 *   n = dns_answer(&query, rcode, address, ttl, out)
 *
 * Towards the host's servers:
 *
 *   n = dns_question_build(out, id, name, DNS_TYPE_A, case_bits)
 *   verdict = dns_reply_parse(packet, n, question, n_question, &reply)
 *
 * Over TCP each has its length in two bytes before it; that is the caller's. Pure; nothing
 * allocates.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/host/host_name.h"

#define DNS_TYPE_A     1
#define DNS_TYPE_CNAME 5
#define DNS_TYPE_AAAA  28

#define DNS_ANSWER_MAX   512 /* no answer of ours is longer */
#define DNS_QUESTION_MAX 288
#define DNS_REPLY_UDP    1232 /* what a question of ours says it can take by UDP */

enum dns_rcode {
    DNS_DROP = -1, /* no query at all: an answer would answer an answer */
    DNS_NOERROR = 0,
    DNS_FORMERR = 1,
    DNS_SERVFAIL = 2,
    DNS_NXDOMAIN = 3,
    DNS_NOTIMP = 4,
    DNS_REFUSED = 5,
    DNS_BADVERS = 16 /* EDNS of another version */
};

/* ---- a box asks */

struct dns_query {
    const uint8_t *packet; /* borrowed: its question is copied into the answer as it was written */
    uint16_t question_bytes; /* behind the header; 0: could not be read, the answer has none */
    uint16_t flags;
    uint16_t id;
    uint16_t type;
    uint16_t udp_size; /* at least 512 */
    bool has_edns;
    uint8_t name_length;
    char name[HOST_NAME_SIZE]; /* lower case, without the dot at its end */
};

/*
 * DNS_NOERROR: a question for a name of the internet, all of *out is set; type may be any.
 * DNS_NXDOMAIN: well-formed, but no host has such a name (other characters than letters, digits,
 * '-', '_'; the root; a number at its end); name is "". DNS_REFUSED: another class. Else dns_answer
 * with it still works. n is the packet's size, of up to 64 KiB.
 */
enum dns_rcode dns_query_parse(const uint8_t *packet, size_t n, struct dns_query *out);

/*
 * The answer's length. The address (borrowed, NULL for none) is given if it is of the type that was
 * asked for: one of IPv4, kept as ::ffff:a.b.c.d, for A, any other for AAAA. Otherwise, and for
 * other types, there is no data, which with DNS_NOERROR says that the name exists.
 */
size_t dns_answer(const struct dns_query *query, enum dns_rcode rcode,
                  const uint8_t address[ADDRESS_BYTES], uint32_t ttl, uint8_t out[DNS_ANSWER_MAX]);

/* ---- the host's servers are asked */

#define DNS_CASE_BYTES 32

/*
 * The question's length, 0 if the name is none. The name is in normal form. case_bits (may be NULL)
 * are random bits that choose the case of each letter: a forged reply must guess them. Servers that
 * do not repeat the case exist: ask such a one again without.
 */
size_t dns_question_build(uint8_t out[DNS_QUESTION_MAX], uint16_t id, const char *name,
                          uint16_t type, const uint8_t case_bits[DNS_CASE_BYTES]);

#define DNS_ADDRESSES_MAX 16

struct dns_reply {
    enum dns_rcode rcode;
    bool is_truncated; /* ask again by TCP; there are no addresses then */
    uint32_t ttl; /* the smallest on the way to the addresses, seconds; 0 where there are none */
    size_t n_addresses; /* of the type asked for; further ones are left out */
    uint8_t addresses[DNS_ADDRESSES_MAX][ADDRESS_BYTES];
};

enum dns_reply_verdict {
    DNS_REPLY_OK,    /* also where the rcode is an error */
    DNS_REPLY_OTHER, /* not the reply to this question: go on waiting */
    DNS_REPLY_BAD    /* it is, but cannot be read */
};

/*
 * The question is what dns_question_build has made. Its id and its bytes, case included, must stand
 * in the reply. Follows at most 8 aliases, in whatever order they stand, among at most 256 records.
 */
enum dns_reply_verdict dns_reply_parse(const uint8_t *packet, size_t n, const uint8_t *question,
                                       size_t n_question, struct dns_reply *out);
