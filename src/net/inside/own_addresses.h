/*
 * own_addresses.h - the addresses of this host that somebody on the internet could have as well
 *
 * Those that are private anyway are not among them: there may be one for each of hundreds of boxes.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/host/address_class.h"

/* *out is the caller's to free. -errno. */
int own_addresses(uint8_t (**out)[ADDRESS_BYTES], size_t *out_n);

/* The same over a socket of NETLINK_ROUTE. */
int own_addresses_ask(int fd, uint8_t (**out)[ADDRESS_BYTES], size_t *out_n);
