/*
 * address_class.c - the tables of IANA's special-purpose registries, as far as they matter here
 *
 * Of IPv6 only 2000::/3 is given out to hosts of the internet, so there what is not in that block
 * is reserved without a row of its own.
 */
#include "base/host/address_class.h"

#include <arpa/inet.h>
#include <string.h>
#include <sys/socket.h>

#include "base/cleanup.h"

struct range {
    uint8_t bytes[ADDRESS_BYTES];
    uint8_t bits;
    uint8_t class;
};

#define V4_BYTES(a, b, c, d)                                 \
    {                                                        \
        0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF, a, b, c, d \
    }
#define V4(a, b, c, d, n) .bytes = V4_BYTES(a, b, c, d), .bits = 96 + (n)

/* Of Amazon and most others; Amazon's containers and pods; Azure; Alibaba; Oracle; Scaleway;
 * Tencent; Google by IPv6. */
static const uint8_t metadata[][ADDRESS_BYTES] = {
    V4_BYTES(169, 254, 169, 254),
    V4_BYTES(169, 254, 169, 253),
    V4_BYTES(169, 254, 170, 2),
    V4_BYTES(169, 254, 170, 23),
    V4_BYTES(168, 63, 129, 16),
    V4_BYTES(100, 100, 100, 200),
    V4_BYTES(192, 0, 0, 192),
    V4_BYTES(169, 254, 42, 42),
    V4_BYTES(169, 254, 0, 23),
    { 0xFD, 0, 0x0E, 0xC2, [14] = 0x02, 0x54 },
    { 0xFD, 0, 0x0E, 0xC2, [14] = 0x02, 0x53 },
    { 0xFD, 0, 0x0E, 0xC2, [15] = 0x23 },
    { 0xFD, 0x20, 0, 0xCE, [14] = 0x02, 0x54 },
    { 0xFD, 0, 0, 0x42, [15] = 0x42 },
};

/* The first that fits. */
static const struct range v4_ranges[] = {
    { V4(0, 0, 0, 0, 32), .class = ADDRESS_UNSPECIFIED },
    { V4(0, 0, 0, 0, 8), .class = ADDRESS_RESERVED },
    { V4(10, 0, 0, 0, 8), .class = ADDRESS_PRIVATE },
    { V4(100, 64, 0, 0, 10), .class = ADDRESS_RESERVED }, /* behind a provider's translation */
    { V4(127, 0, 0, 0, 8), .class = ADDRESS_LOOPBACK },
    { V4(169, 254, 0, 0, 16), .class = ADDRESS_LINK_LOCAL },
    { V4(172, 16, 0, 0, 12), .class = ADDRESS_PRIVATE },
    { V4(192, 0, 0, 0, 24), .class = ADDRESS_RESERVED },
    { V4(192, 0, 2, 0, 24), .class = ADDRESS_RESERVED }, /* documents */
    { V4(192, 88, 99, 0, 24), .class = ADDRESS_RESERVED },
    { V4(192, 168, 0, 0, 16), .class = ADDRESS_PRIVATE },
    { V4(198, 18, 0, 0, 15), .class = ADDRESS_RESERVED }, /* the gate's own */
    { V4(198, 51, 100, 0, 24), .class = ADDRESS_RESERVED },
    { V4(203, 0, 113, 0, 24), .class = ADDRESS_RESERVED },
    { V4(224, 0, 0, 0, 4), .class = ADDRESS_MULTICAST },
    { V4(240, 0, 0, 0, 4), .class = ADDRESS_RESERVED },
};

static const struct range v6_ranges[] = {
    { .bytes = { 0 }, .bits = 128, .class = ADDRESS_UNSPECIFIED },
    { .bytes = { [15] = 1 }, .bits = 128, .class = ADDRESS_LOOPBACK },
    { .bytes = { 0xFC }, .bits = 7, .class = ADDRESS_PRIVATE },
    { .bytes = { 0xFE, 0x80 }, .bits = 10, .class = ADDRESS_LINK_LOCAL },
    { .bytes = { 0xFE, 0xC0 }, .bits = 10, .class = ADDRESS_PRIVATE },
    { .bytes = { 0xFF }, .bits = 8, .class = ADDRESS_MULTICAST },
    { .bytes = { 0x20, 0x01 }, .bits = 23, .class = ADDRESS_RESERVED }, /* protocols */
    { .bytes = { 0x20, 0x02 },
      .bits = 16,
      .class = ADDRESS_RESERVED }, /* each is what it carries */
    { .bytes = { 0x20, 0x01, 0x0D, 0xB8 }, .bits = 32, .class = ADDRESS_RESERVED }, /* documents */
    { .bytes = { 0x3F, 0xFF }, .bits = 20, .class = ADDRESS_RESERVED },             /* the same */
    { .bytes = { 0x20 }, .bits = 3, .class = ADDRESS_PUBLIC },
};

static const uint8_t v4_prefix[12] = { [10] = 0xFF, 0xFF };
static const uint8_t nat64_prefix[12] = { 0, 0x64, 0xFF, 0x9B };

bool address_is_v4(const uint8_t address[ADDRESS_BYTES])
{
    return memcmp(address, v4_prefix, sizeof v4_prefix) == 0;
}

void address_from_v4(const uint8_t v4[4], uint8_t out[ADDRESS_BYTES])
{
    memcpy(out, v4_prefix, sizeof v4_prefix);
    memcpy(out + 12, v4, 4);
}

bool address_is_within(const uint8_t address[ADDRESS_BYTES], const uint8_t range[ADDRESS_BYTES],
                       unsigned bits)
{
    unsigned whole = bits / 8;

    if (memcmp(address, range, whole) != 0)
        return false;
    return bits % 8 == 0 || (address[whole] ^ range[whole]) >> (8 - bits % 8) == 0;
}

static bool is_teredo(const uint8_t address[ADDRESS_BYTES])
{
    return address[0] == 0x20 && address[1] == 0x01 && address[2] == 0 && address[3] == 0;
}

bool address_embedded_v4(const uint8_t address[ADDRESS_BYTES], uint8_t out[ADDRESS_BYTES])
{
    if (memcmp(address, nat64_prefix, sizeof nat64_prefix) == 0) {
        address_from_v4(address + 12, out);
        return true;
    }
    if (address[0] == 0x20 && address[1] == 0x02) {
        address_from_v4(address + 2, out);
        return true;
    }
    if (!is_teredo(address))
        return false;
    const uint8_t client[4] = { (uint8_t)~address[12], (uint8_t)~address[13], (uint8_t)~address[14],
                                (uint8_t)~address[15] };
    address_from_v4(client, out);
    return true;
}

static enum address_class look_up(const uint8_t address[ADDRESS_BYTES], const struct range *ranges,
                                  size_t n, enum address_class otherwise)
{
    for (size_t i = 0; i < n; i++)
        if (address_is_within(address, ranges[i].bytes, ranges[i].bits))
            return (enum address_class)ranges[i].class;
    return otherwise;
}

/* Of an address that carries no other one. */
static enum address_class plain_class(const uint8_t address[ADDRESS_BYTES])
{
    for (size_t i = 0; i < COUNT(metadata); i++)
        if (memcmp(address, metadata[i], ADDRESS_BYTES) == 0)
            return ADDRESS_METADATA;
    if (address_is_v4(address))
        return look_up(address, v4_ranges, COUNT(v4_ranges), ADDRESS_PUBLIC);
    return look_up(address, v6_ranges, COUNT(v6_ranges), ADDRESS_RESERVED);
}

enum address_class address_class(const uint8_t address[ADDRESS_BYTES])
{
    uint8_t carried[ADDRESS_BYTES];

    if (!address_embedded_v4(address, carried))
        return plain_class(address);
    enum address_class class = plain_class(carried);
    if (class != ADDRESS_PUBLIC || !is_teredo(address))
        return class;
    address_from_v4(address + 4, carried); /* its server */
    return plain_class(carried);
}

bool address_range_is_public(const uint8_t range[ADDRESS_BYTES], unsigned bits)
{
    bool is_v4 = bits >= 96 && address_is_v4(range);
    const struct range *ranges = is_v4 ? v4_ranges : v6_ranges;
    size_t n = is_v4 ? COUNT(v4_ranges) : COUNT(v6_ranges);
    uint8_t carried[ADDRESS_BYTES];

    if (address_class(range) != ADDRESS_PUBLIC)
        return false;
    if (bits == 8 * ADDRESS_BYTES)
        return true;
    if (address_embedded_v4(range, carried))
        return false;
    for (size_t i = 0; i < n; i++)
        if (ranges[i].class != ADDRESS_PUBLIC && ranges[i].bits >= bits &&
            address_is_within(ranges[i].bytes, range, bits))
            return false;
    for (size_t i = 0; i < COUNT(metadata); i++)
        if (address_is_within(metadata[i], range, bits))
            return false;
    return true;
}

bool address_is_special(const uint8_t address[ADDRESS_BYTES])
{
    uint8_t carried[ADDRESS_BYTES];

    return plain_class(address) != ADDRESS_PUBLIC || address_embedded_v4(address, carried);
}

const char *address_special_name(const uint8_t address[ADDRESS_BYTES])
{
    uint8_t carried[ADDRESS_BYTES];

    return address_embedded_v4(address, carried) ? "it carries another address"
                                                 : address_class_name(plain_class(address));
}

void address_each_special(void (*each)(void *context, const uint8_t range[ADDRESS_BYTES],
                                       unsigned bits, enum address_class class),
                          void *context)
{
    static const struct range others[] = { { .bytes = { 0 }, .bits = 3 },
                                           { .bytes = { 0x40 }, .bits = 2 },
                                           { .bytes = { 0x80 }, .bits = 1 } };

    for (size_t i = 0; i < COUNT(metadata); i++)
        each(context, metadata[i], 8 * ADDRESS_BYTES, ADDRESS_METADATA);
    for (size_t i = 0; i < COUNT(v4_ranges); i++)
        each(context, v4_ranges[i].bytes, v4_ranges[i].bits,
             (enum address_class)v4_ranges[i].class);
    for (size_t i = 0; i < COUNT(v6_ranges); i++)
        if (v6_ranges[i].bytes[0] >> 5 == 1 && v6_ranges[i].class != ADDRESS_PUBLIC)
            each(context, v6_ranges[i].bytes, v6_ranges[i].bits,
                 (enum address_class)v6_ranges[i].class);
    for (size_t i = 0; i < COUNT(others); i++)
        each(context, others[i].bytes, others[i].bits, ADDRESS_RESERVED);
}

const char *address_class_name(enum address_class class)
{
    static const char *const names[] = {
        [ADDRESS_PUBLIC] = "public",         [ADDRESS_UNSPECIFIED] = "unspecified",
        [ADDRESS_LOOPBACK] = "loopback",     [ADDRESS_PRIVATE] = "private",
        [ADDRESS_LINK_LOCAL] = "link-local", [ADDRESS_METADATA] = "metadata",
        [ADDRESS_MULTICAST] = "multicast",   [ADDRESS_RESERVED] = "reserved",
    };

    return names[class];
}

bool address_parse(const char *text, size_t n, uint8_t out[ADDRESS_BYTES])
{
    char copy[INET6_ADDRSTRLEN];
    uint8_t bytes[ADDRESS_BYTES];

    if (n == 0 || n >= sizeof copy || memchr(text, '\0', n))
        return false;
    memcpy(copy, text, n);
    copy[n] = '\0';
    if (inet_pton(AF_INET, copy, bytes) == 1) {
        address_from_v4(bytes, out);
        return true;
    }
    if (inet_pton(AF_INET6, copy, bytes) != 1)
        return false;
    memcpy(out, bytes, sizeof bytes);
    return true;
}

size_t address_format(const uint8_t address[ADDRESS_BYTES], char out[ADDRESS_TEXT_MAX])
{
    bool is_v4 = address_is_v4(address);

    if (!inet_ntop(is_v4 ? AF_INET : AF_INET6, address + (is_v4 ? 12 : 0), out, ADDRESS_TEXT_MAX))
        out[0] = '\0'; /* there is room for each */
    return strlen(out);
}
