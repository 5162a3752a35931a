/*
 * own.h - the host's own addresses, as far as others on the internet could have them too
 *
 * A name that leads there leads to services of this host, which only an address in a rule opens.
 * They may change while the gate runs: whoever decides on an address asks to know them first.
 */
#pragma once

#include "gate/gate.h"

/* Before the gate gives up what it does not need. 0 or -errno. */
int gate_own_open(struct gate *gate);

/* Into gate->rules. What the kernel does not tell stays as it was. */
void gate_own_know(struct gate *gate);

/* "private", "loopback"; "the host's own". */
const char *gate_own_class(const struct gate *gate, const uint8_t address[ADDRESS_BYTES]);
