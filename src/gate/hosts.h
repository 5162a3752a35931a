/*
 * hosts.h - what /etc/hosts and /etc/resolv.conf say
 *
 * Pure; the text is whole lines.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/host/address_class.h"

#define GATE_SERVERS_MOST 3 /* as the C library has it */

struct gate_servers {
    unsigned n;
    uint8_t addresses[GATE_SERVERS_MOST][ADDRESS_BYTES];
};

/* Adds the addresses of `name`, in lower case, behind the n that are there; returns how many there
 * are then. */
size_t gate_hosts_find(const char *text, size_t length, const char *name,
                       uint8_t out[][ADDRESS_BYTES], size_t n, size_t most);

void gate_servers_read(const char *text, size_t length, struct gate_servers *out);
