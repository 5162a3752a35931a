/*
 * packet.h - where a packet was going
 *
 * The bytes are those of code in the box, and may be cut short. Pure.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/host/address_class.h"

/* False: not known, or neither TCP nor UDP. */
bool gate_packet_read(const uint8_t *packet, size_t n, uint8_t address[ADDRESS_BYTES],
                      uint16_t *port, bool *is_udp);
