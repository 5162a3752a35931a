/*
 * host_name.h - the name or the address of a host, as a rule, a request or a TLS hello writes it
 *
 * Names are compared in one form: lower case, without the dot at the end. A name whose last part is
 * a number (also 0x7f) is none: somebody's resolver would take it for an address.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/host/address_class.h"

#define HOST_NAME_LENGTH_MAX 253
#define HOST_NAME_SIZE       (HOST_NAME_LENGTH_MAX + 1)

struct host_name {
    bool is_address;
    uint8_t length;                 /* of the name; 0 where it is an address */
    uint8_t address[ADDRESS_BYTES]; /* where it is one */
    char name[HOST_NAME_SIZE];      /* normal form, NUL at its end; "" where it is an address */
};

/* Writes the normal form, with a NUL, and its length. NULL, or what is wrong as the end of a
 * sentence
 * ("is no host name: ..."); out is then undefined. The text needs no NUL, and one in it is wrong.
 */
const char *host_name_normalise(const char *text, size_t n, char out[HOST_NAME_SIZE],
                                size_t *out_length);

/* A name, an address of IPv4, or one of IPv6 without brackets. NULL or what is wrong. */
const char *host_name_parse(const char *text, size_t n, struct host_name *out);

/* HOST or HOST:PORT, with IPv6 in brackets and there only, as in Host: and CONNECT. *out_port is 0
 * where none is named; "HOST:" is wrong. NULL or what is wrong. */
const char *host_name_parse_authority(const char *text, size_t n, struct host_name *out,
                                      uint16_t *out_port);

/* Whether both are the same host; of two names only the texts are compared. */
bool host_name_equal(const struct host_name *a, const struct host_name *b);

/* 1 to 65535, digits only. */
bool host_name_parse_port(const char *text, size_t n, uint16_t *out);
