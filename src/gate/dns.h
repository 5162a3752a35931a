/*
 * dns.h - names that programs in the box ask for
 *
 * Every server address leads here. Nobody outside is asked: an allowed name has its made-up address
 * at once, any other does not exist. Over TCP: gate/connection.h.
 */
#pragma once

#include "gate/gate.h"

/* The source `dns` of the gate has its descriptor; -errno. */
int gate_dns_serve(struct gate *gate);
