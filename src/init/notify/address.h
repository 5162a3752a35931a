/*
 * address.h - addresses of sockets that a box without a network cannot reach
 *
 * Part of the init image: no libc.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "init/denial_op.h"

#define NOTIFY_ADDRESS_MAX  128 /* of a struct sockaddr */
#define NOTIFY_ADDRESS_TEXT 64

/* "192.0.2.1:443", "[2001:db8:0:0:0:0:0:1]:443"; false: it is of another family, or the box's own
 * loopback, or any address. */
bool notify_address_print(const void *address, uint32_t length, char out[NOTIFY_ADDRESS_TEXT]);

/* What binding a socket to this address, or sending to it, would answer: 0 or -errno. */
long notify_address_try(enum denial_op op, const void *address, uint32_t length);
