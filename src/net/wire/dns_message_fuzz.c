/*
 * dns_message_fuzz.c - any bytes as a packet, on both sides
 *
 * Rules: each query that is not dropped gets an answer of its own id, which repeats its question;
 * an answer of ours is one that our own reader understands; replies give at most so many addresses.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "net/wire/dns_message.h"

#define REQUIRE(condition) \
    do {                   \
        if (!(condition))  \
            abort();       \
    } while (0)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const uint8_t v4[ADDRESS_BYTES] = { [10] = 0xFF, 0xFF, 198, 18, 1, 7 };
static const uint8_t v6[ADDRESS_BYTES] = { 0xFD, 0x63, [15] = 7 };

/* The name of a query, asked by us and answered by us. */
static void go_round(const struct dns_query *query, bool is_v4)
{
    const uint16_t type = is_v4 ? DNS_TYPE_A : DNS_TYPE_AAAA;
    uint8_t question[DNS_QUESTION_MAX];
    uint8_t answer[DNS_ANSWER_MAX];
    struct dns_query again;
    struct dns_reply reply;
    size_t n =
        dns_question_build(question, query->id, query->name, type, (const uint8_t *)query->name);

    REQUIRE(n > 0 && n <= sizeof question);
    REQUIRE(dns_query_parse(question, n, &again) == DNS_NOERROR);
    REQUIRE(strcmp(again.name, query->name) == 0 && again.type == type && again.has_edns);
    size_t n_answer = dns_answer(&again, DNS_NOERROR, is_v4 ? v4 : v6, 60, answer);
    REQUIRE(dns_reply_parse(answer, n_answer, question, n, &reply) == DNS_REPLY_OK);
    REQUIRE(reply.n_addresses == 1 && reply.ttl == 60);
    REQUIRE(memcmp(reply.addresses[0], is_v4 ? v4 : v6, ADDRESS_BYTES) == 0);
    n_answer = dns_answer(&again, DNS_NXDOMAIN, NULL, 60, answer);
    REQUIRE(dns_reply_parse(answer, n_answer, question, n, &reply) == DNS_REPLY_OK);
    REQUIRE(reply.n_addresses == 0 && reply.rcode == DNS_NXDOMAIN);
}

static void fuzz_query(const uint8_t *data, size_t size)
{
    struct dns_query query;
    uint8_t answer[DNS_ANSWER_MAX];
    enum dns_rcode rcode = dns_query_parse(data, size, &query);

    if (rcode == DNS_DROP)
        return;
    REQUIRE((rcode == DNS_NOERROR) == (query.name_length > 0) || rcode != DNS_NOERROR);
    REQUIRE(strlen(query.name) == query.name_length && query.udp_size >= 512);
    size_t n = dns_answer(&query, rcode, query.type == DNS_TYPE_A ? v4 : v6, 60, answer);
    REQUIRE(n >= 12 && n <= sizeof answer && memcmp(answer, data, 2) == 0 && answer[2] & 0x80);
    REQUIRE(memcmp(answer + 12, data + 12, query.question_bytes) == 0);
    if (rcode != DNS_NOERROR)
        return;
    go_round(&query, true);
    go_round(&query, false);
}

static void fuzz_reply(const uint8_t *data, size_t size)
{
    uint8_t question[DNS_QUESTION_MAX];
    size_t n_question = dns_question_build(question, 0x6162, "a.b.org", DNS_TYPE_A, NULL);
    size_t head = n_question - 11;
    uint8_t *packet = malloc(head + size);
    struct dns_reply reply;

    REQUIRE(n_question > 0);
    (void)dns_reply_parse(data, size, question, n_question, &reply);
    if (!packet || size == 0) {
        free(packet);
        return;
    }
    memcpy(packet, question, head);
    packet[2] = 0x81;
    packet[7] = data[0];
    memcpy(packet + head, data + 1, size - 1);
    enum dns_reply_verdict verdict =
        dns_reply_parse(packet, head + size - 1, question, n_question, &reply);
    REQUIRE(verdict != DNS_REPLY_OTHER && reply.n_addresses <= DNS_ADDRESSES_MAX);
    REQUIRE(verdict == DNS_REPLY_OK || reply.n_addresses == 0);
    for (size_t i = 0; i < reply.n_addresses; i++)
        REQUIRE(address_is_v4(reply.addresses[i]));
    free(packet);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_query(data, size);
    fuzz_reply(data, size);
    return 0;
}
