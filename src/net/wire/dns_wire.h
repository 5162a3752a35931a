/*
 * dns_wire.h - how numbers and records lie in packets of the name service (RFC 1035, RFC 6891)
 */
#pragma once

#include <stdint.h>
#include <string.h>

#define DNS_HEADER_BYTES 12
#define DNS_WIRE_NAME    255 /* the most that a name takes, with the empty part at its end */
#define DNS_EDNS_BYTES   11  /* without options */
#define DNS_TYPE_OPT     41
#define DNS_CLASS_IN     1

static inline uint16_t dns_get16(const uint8_t *from)
{
    return (uint16_t)(from[0] << 8 | from[1]);
}

/* Returns where the next one goes. */
static inline uint8_t *dns_put16(uint8_t *to, uint16_t value)
{
    to[0] = (uint8_t)(value >> 8);
    to[1] = (uint8_t)value;
    return to + 2;
}

/* The pseudo-record: the root's name, how much fits, the upper bits of the rcode, version 0. */
static inline uint8_t *dns_put_edns(uint8_t *to, uint16_t udp_size, uint8_t upper_rcode)
{
    memset(to, 0, DNS_EDNS_BYTES);
    (void)dns_put16(to + 1, DNS_TYPE_OPT);
    (void)dns_put16(to + 3, udp_size);
    to[5] = upper_rcode;
    return to + DNS_EDNS_BYTES;
}
