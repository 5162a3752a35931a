/*
 * dns_reply.c - what the host's servers are asked, and what they reply
 *
 * A server is not trusted with more than its answer: a reply is read in time that its size bounds,
 * whatever its pointers say. Names are compared in the form of the wire, lower case.
 */
#include <string.h>

#include "base/cleanup.h"
#include "net/wire/dns_message.h"
#include "net/wire/dns_wire.h"

#define RECORDS_MAX  256
#define ALIASES_MAX  8
#define POINTERS_MAX 32

size_t dns_question_build(uint8_t out[DNS_QUESTION_MAX], uint16_t id, const char *name,
                          uint16_t type, const uint8_t case_bits[DNS_CASE_BYTES])
{
    char normal[HOST_NAME_SIZE];
    size_t n = 0;

    if (host_name_normalise(name, strlen(name), normal, &n))
        return 0;
    uint8_t *to = dns_put16(out, id);
    to = dns_put16(to, 0x0100); /* recursion desired */
    to = dns_put16(to, 1);
    to = dns_put16(to, 0);
    to = dns_put16(to, 0);
    to = dns_put16(to, 1);
    for (size_t i = 0; i <= n; i++) {
        size_t part = strcspn(normal + i, ".");

        *to++ = (uint8_t)part;
        for (size_t end = i + part; i < end; i++) {
            bool is_letter = normal[i] >= 'a' && normal[i] <= 'z';
            bool is_upper = is_letter && case_bits && (case_bits[i / 8] >> i % 8 & 1);

            *to++ = (uint8_t)(is_upper ? normal[i] & ~0x20 : normal[i]);
        }
    }
    *to++ = 0;
    to = dns_put16(to, type);
    to = dns_put16(to, DNS_CLASS_IN);
    to = dns_put_edns(to, DNS_REPLY_UDP, 0);
    return (size_t)(to - out);
}

/* ---- reading */

struct wire_name {
    uint8_t length;
    uint8_t bytes[DNS_WIRE_NAME];
};

static uint8_t lower(uint8_t c)
{
    return c >= 'A' && c <= 'Z' ? c | 0x20 : c;
}

/*
 * The name at *at, which is then behind it. -1: it does not end, or not within the packet. A
 * pointer leads backwards only, and not often: so it ends.
 */
static int read_name(const uint8_t *packet, size_t n, size_t *at, struct wire_name *out)
{
    size_t i = *at;
    size_t length = 0;
    unsigned n_pointers = 0;

    for (;;) {
        if (i >= n)
            return -1;
        size_t part = packet[i];

        if (part >= 0xC0) {
            size_t to = n - i >= 2 ? (part & 0x3F) << 8 | packet[i + 1] : n;

            if (n_pointers++ == 0)
                *at = i + 2;
            if (to >= i || n_pointers > POINTERS_MAX)
                return -1;
            i = to;
            continue;
        }
        if (part > 63 || part + 1 > n - i || length + part + 1 > DNS_WIRE_NAME)
            return -1;
        for (size_t j = 0; j <= part; j++)
            out->bytes[length++] = j == 0 ? (uint8_t)part : lower(packet[i + j]);
        i += part + 1;
        if (part == 0)
            break;
    }
    if (n_pointers == 0)
        *at = i;
    out->length = (uint8_t)length;
    return 0;
}

static bool same_name(const struct wire_name *a, const struct wire_name *b)
{
    return a->length == b->length && memcmp(a->bytes, b->bytes, a->length) == 0;
}

struct record {
    struct wire_name name;
    uint16_t type;
    uint16_t class;
    uint32_t ttl;
    size_t data; /* where it begins */
    uint16_t data_length;
};

static int read_record(const uint8_t *packet, size_t n, size_t *at, struct record *out)
{
    if (read_name(packet, n, at, &out->name) < 0 || *at > n || n - *at < 10)
        return -1;
    const uint8_t *fixed = packet + *at;
    out->type = dns_get16(fixed);
    out->class = dns_get16(fixed + 2);
    out->ttl = (uint32_t)dns_get16(fixed + 4) << 16 | dns_get16(fixed + 6);
    if (out->ttl > INT32_MAX)
        out->ttl = 0; /* RFC 2181, section 8 */
    out->data_length = dns_get16(fixed + 8);
    out->data = *at + 10;
    if (out->data_length > n - out->data)
        return -1;
    *at = out->data + out->data_length;
    return 0;
}

/* The records of a packet that were found to be readable. */
struct answers {
    const uint8_t *packet;
    size_t n;
    size_t first;
    unsigned n_records;
};

static int take_address(const struct answers *answers, const struct record *record,
                        struct dns_reply *out)
{
    const uint8_t *data = answers->packet + record->data;

    if (record->data_length != (record->type == DNS_TYPE_A ? 4 : ADDRESS_BYTES))
        return -1;
    if (out->n_addresses == DNS_ADDRESSES_MAX)
        return 0;
    uint8_t *to = out->addresses[out->n_addresses++];
    if (record->type == DNS_TYPE_A)
        address_from_v4(data, to);
    else
        memcpy(to, data, ADDRESS_BYTES);
    return 0;
}

/*
 * All that stands there of one name: its addresses are taken, and what it is an alias of is left in
 * *name. 1: there is one; 0: no.
 */
static int take_name(const struct answers *answers, uint16_t type, struct wire_name *name,
                     uint32_t *ttl, struct dns_reply *out)
{
    struct wire_name alias = { 0 };
    size_t at = answers->first;

    for (unsigned i = 0; i < answers->n_records; i++) {
        struct record record;

        if (read_record(answers->packet, answers->n, &at, &record) < 0)
            return -1;
        if (record.class != DNS_CLASS_IN || !same_name(&record.name, name))
            continue;
        if (record.type != type && record.type != DNS_TYPE_CNAME)
            continue;
        if (record.ttl < *ttl)
            *ttl = record.ttl;
        if (record.type == type && take_address(answers, &record, out) < 0)
            return -1;
        size_t data = record.data;
        if (record.type == DNS_TYPE_CNAME && alias.length == 0 &&
            (read_name(answers->packet, answers->n, &data, &alias) < 0 ||
             data != record.data + record.data_length))
            return -1;
    }
    if (out->n_addresses > 0 || alias.length == 0)
        return 0;
    *name = alias;
    return 1;
}

enum dns_reply_verdict dns_reply_parse(const uint8_t *packet, size_t n, const uint8_t *question,
                                       size_t n_question, struct dns_reply *out)
{
    size_t behind = n_question - DNS_EDNS_BYTES; /* what the question is followed by */
    struct answers answers = { packet, n, behind, 0 };
    struct wire_name name;
    size_t at = DNS_HEADER_BYTES;
    uint32_t ttl = INT32_MAX;

    *out = (struct dns_reply){ 0 };
    if (n < DNS_HEADER_BYTES || memcmp(packet, question, 2) != 0 || !(packet[2] & 0x80))
        return DNS_REPLY_OTHER;
    out->rcode = (enum dns_rcode)(packet[3] & 0xF);
    /* Servers that understand nothing may repeat nothing: the id alone is then little to go by, and
     * the reply says little. */
    if (out->rcode != DNS_NOERROR && dns_get16(packet + 4) == 0 && n == DNS_HEADER_BYTES)
        return DNS_REPLY_OK;
    if (dns_get16(packet + 4) != 1 || n < behind ||
        memcmp(packet + DNS_HEADER_BYTES, question + DNS_HEADER_BYTES, behind - DNS_HEADER_BYTES) !=
            0)
        return DNS_REPLY_OTHER;
    if (packet[2] & 0x78)
        return DNS_REPLY_BAD;
    out->is_truncated = packet[2] & 0x02;
    if (out->is_truncated || out->rcode != DNS_NOERROR)
        return DNS_REPLY_OK;
    answers.n_records = dns_get16(packet + 6);
    if (answers.n_records > RECORDS_MAX || read_name(packet, n, &at, &name) < 0)
        return DNS_REPLY_BAD;
    uint16_t type = dns_get16(question + behind - 4);
    int more = 1;
    for (unsigned i = 0; more > 0 && i <= ALIASES_MAX; i++)
        more = take_name(&answers, type, &name, &ttl, out);
    if (more != 0)
        out->n_addresses = 0; /* half of it is not what the name's owner said */
    out->ttl = out->n_addresses > 0 ? ttl : 0;
    return more == 0 ? DNS_REPLY_OK : DNS_REPLY_BAD;
}
