/*
 * dns_message.c - what a box asks, and the answers it gets
 *
 * The longest answer: 12 bytes of header, 259 of question, 28 of address, 11 of EDNS. That is less
 * than the 512 that every client takes, so nothing is ever cut short.
 */
#include "net/wire/dns_message.h"

#include <string.h>

#include "net/wire/dns_wire.h"

#define FLAG_ANSWER    0x8000
#define OPCODE_MASK    0x7800
#define FLAG_TRUNCATED 0x0200
#define FLAG_RECURSE   0x0100
#define FLAG_CAN       0x0080
#define FLAG_UNCHECKED 0x0010

/* The question's name. 0: well-formed; *is_host: and such as hosts have. */
static int parse_name(const uint8_t *packet, size_t n, size_t *at, struct dns_query *out,
                      bool *is_host)
{
    char text[DNS_WIRE_NAME];
    size_t length = 0;
    size_t i = *at;
    size_t normal = 0;
    bool is_text = true;

    for (;;) {
        if (i >= n || packet[i] > 63) /* a pointer has the two highest bits */
            return -1;
        size_t part = packet[i++];
        if (part == 0)
            break;
        if (part > n - i || i + part - *at > DNS_WIRE_NAME - 1)
            return -1;
        if (length > 0)
            text[length++] = '.';
        is_text = is_text && !memchr(packet + i, '.', part);
        memcpy(text + length, packet + i, part);
        length += part;
        i += part;
    }
    *at = i;
    *is_host = is_text && length > 0 && text[length - 1] != '.' &&
               !host_name_normalise(text, length, out->name, &normal);
    out->name_length = (uint8_t)(*is_host ? normal : 0);
    out->name[out->name_length] = '\0';
    return 0;
}

/* The one further record that there may be. */
static enum dns_rcode parse_edns(const uint8_t *record, size_t n, struct dns_query *out)
{
    if (n < DNS_EDNS_BYTES || record[0] != 0 || dns_get16(record + 1) != DNS_TYPE_OPT)
        return DNS_FORMERR;
    if (dns_get16(record + 9) != n - DNS_EDNS_BYTES)
        return DNS_FORMERR;
    out->has_edns = true;
    if (dns_get16(record + 3) > out->udp_size)
        out->udp_size = dns_get16(record + 3);
    return record[6] != 0 ? DNS_BADVERS : DNS_NOERROR;
}

enum dns_rcode dns_query_parse(const uint8_t *packet, size_t n, struct dns_query *out)
{
    size_t at = DNS_HEADER_BYTES;
    bool is_host = false;

    *out = (struct dns_query){ .packet = packet, .udp_size = 512 };
    if (n < DNS_HEADER_BYTES)
        return DNS_DROP;
    out->id = dns_get16(packet);
    out->flags = dns_get16(packet + 2);
    if (out->flags & FLAG_ANSWER)
        return DNS_DROP;
    if (out->flags & OPCODE_MASK)
        return DNS_NOTIMP;
    if (out->flags & FLAG_TRUNCATED || dns_get16(packet + 4) != 1 || dns_get16(packet + 6) != 0 ||
        dns_get16(packet + 8) != 0 || dns_get16(packet + 10) > 1)
        return DNS_FORMERR;
    if (parse_name(packet, n, &at, out, &is_host) < 0 || n - at < 4)
        return DNS_FORMERR;
    uint16_t class = dns_get16(packet + at + 2);
    out->type = dns_get16(packet + at);
    at += 4;
    out->question_bytes = (uint16_t)(at - DNS_HEADER_BYTES);
    enum dns_rcode rcode = DNS_NOERROR;
    if (dns_get16(packet + 10) == 1)
        rcode = parse_edns(packet + at, n - at, out);
    else if (at != n)
        rcode = DNS_FORMERR;
    if (rcode == DNS_NOERROR && class != DNS_CLASS_IN)
        rcode = DNS_REFUSED;
    return rcode == DNS_NOERROR && !is_host ? DNS_NXDOMAIN : rcode;
}

static bool is_asked_for(const struct dns_query *query, const uint8_t *address)
{
    return (query->type == DNS_TYPE_A && address_is_v4(address)) ||
           (query->type == DNS_TYPE_AAAA && !address_is_v4(address));
}

/* The name is that of the question: a pointer to it. */
static uint8_t *put_address(uint8_t *to, const uint8_t *address, uint32_t ttl)
{
    bool is_v4 = address_is_v4(address);
    size_t n = is_v4 ? 4 : ADDRESS_BYTES;

    to = dns_put16(to, 0xC000 | DNS_HEADER_BYTES);
    to = dns_put16(to, is_v4 ? DNS_TYPE_A : DNS_TYPE_AAAA);
    to = dns_put16(to, DNS_CLASS_IN);
    to = dns_put16(to, (uint16_t)(ttl >> 16));
    to = dns_put16(to, (uint16_t)ttl);
    to = dns_put16(to, (uint16_t)n);
    memcpy(to, address + ADDRESS_BYTES - n, n);
    return to + n;
}

size_t dns_answer(const struct dns_query *query, enum dns_rcode rcode,
                  const uint8_t address[ADDRESS_BYTES], uint32_t ttl, uint8_t out[DNS_ANSWER_MAX])
{
    bool has_address = rcode == DNS_NOERROR && address && query->question_bytes > 0 &&
                       is_asked_for(query, address);
    uint16_t kept = query->flags & (OPCODE_MASK | FLAG_RECURSE | FLAG_UNCHECKED);
    uint8_t *to = out;

    to = dns_put16(to, query->id);
    to = dns_put16(to, (uint16_t)(kept | FLAG_ANSWER | FLAG_CAN | (rcode & 0xF)));
    to = dns_put16(to, query->question_bytes > 0);
    to = dns_put16(to, has_address);
    to = dns_put16(to, 0);
    to = dns_put16(to, query->has_edns);
    memcpy(to, query->packet + DNS_HEADER_BYTES, query->question_bytes);
    to += query->question_bytes;
    if (has_address)
        to = put_address(to, address, ttl);
    if (query->has_edns)
        to = dns_put_edns(to, DNS_ANSWER_MAX, (uint8_t)(rcode >> 4));
    return (size_t)(to - out);
}
