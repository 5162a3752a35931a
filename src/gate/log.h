/*
 * log.h - what the kernel refused on the box's own side
 *
 * Rules of netfilter refuse addresses that no rule names, before a connection comes here, and copy
 * the first bytes of such packets to the log that this reads.
 */
#pragma once

#include "gate/gate.h"

/* The source `log` of the gate has its descriptor; -errno. */
int gate_log_serve(struct gate *gate);
