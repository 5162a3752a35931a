/*
 * address_class.h - addresses of the internet, and which of them only look like it
 *
 * An address is 16 bytes, as IPv6 has them; one of IPv4 is kept as ::ffff:a.b.c.d, so that both
 * spellings of it are the same bytes. Pure; nothing allocates.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ADDRESS_BYTES    16
#define ADDRESS_TEXT_MAX 46 /* with its NUL */

enum address_class {
    ADDRESS_PUBLIC,
    ADDRESS_UNSPECIFIED, /* 0.0.0.0, :: */
    ADDRESS_LOOPBACK,
    ADDRESS_PRIVATE, /* RFC 1918, fc00::/7 and the older fec0::/10 */
    ADDRESS_LINK_LOCAL,
    ADDRESS_METADATA, /* where clouds hand out a machine's secrets, whatever range it is in */
    ADDRESS_MULTICAST,
    ADDRESS_RESERVED /* all else that leads to no host of the internet */
};

/*
 * Addresses that carry one of IPv4 (64:ff9b::/96, 6to4, Teredo) are what the carried one is: each
 * of the two that a Teredo address carries must be public.
 */
enum address_class address_class(const uint8_t address[ADDRESS_BYTES]);

/* Whether every address with these first bits is known to be public. What lies behind the bits is
 * 0. */
bool address_range_is_public(const uint8_t range[ADDRESS_BYTES], unsigned bits);

/* Whether it is not of the internet, or carries another address, whatever that is: tunnels end
 * where nobody has looked. */
bool address_is_special(const uint8_t address[ADDRESS_BYTES]);

/* Of such an address: "private", "loopback" ... or that it carries another one. */
const char *address_special_name(const uint8_t address[ADDRESS_BYTES]);

/* Ranges that hold all of these and no others: those of IPv4 have 96 bits or more. Such with secrets
 * first, one by one: ADDRESS_METADATA. */
void address_each_special(void (*each)(void *context, const uint8_t range[ADDRESS_BYTES],
                                       unsigned bits, enum address_class class),
                          void *context);

/* "public", "loopback", "link-local" ... */
const char *address_class_name(enum address_class class);

/* Whether it is one of IPv4, kept as ::ffff:a.b.c.d. */
bool address_is_v4(const uint8_t address[ADDRESS_BYTES]);

/* a.b.c.d or any form of IPv6, without brackets and zone; *out is untouched where it is none.
 * Short, octal, hexadecimal forms of IPv4 are none. n: without a NUL, which need not be there. */
bool address_parse(const char *text, size_t n, uint8_t out[ADDRESS_BYTES]);

/* Returns the length. IPv4 as a.b.c.d. */
size_t address_format(const uint8_t address[ADDRESS_BYTES], char out[ADDRESS_TEXT_MAX]);

/* From what accept4, getsockname and the like give, and back: the four bytes of IPv4. */
void address_from_v4(const uint8_t v4[4], uint8_t out[ADDRESS_BYTES]);

/* The one of IPv4 that is carried in 64:ff9b::/96, 6to4 or Teredo (there the client's); false:
 * none. */
bool address_embedded_v4(const uint8_t address[ADDRESS_BYTES], uint8_t out[ADDRESS_BYTES]);

/* Whether the first bits are the same. */
bool address_is_within(const uint8_t address[ADDRESS_BYTES], const uint8_t range[ADDRESS_BYTES],
                       unsigned bits);
