/*
 * gate_http.h - what of a client's HTTP may go on
 *
 * Each request of a connection must be for the host that its address stands for. All do
 * nothing where the connection speaks no HTTP, or for the other direction.
 */
#pragma once

#include <sys/types.h>

#include "net/gate_connection.h"

/* How many of the bytes may go on; 0: none yet; -1: the connection was refused, and is not to be
 * touched any more. */
ssize_t gate_http_allow(struct gate *gate, struct gate_connection *connection,
                        struct gate_flow *flow, const char *bytes, size_t n);

/* How many may go on whatever they are. */
size_t gate_http_blind(const struct gate_connection *connection, const struct gate_flow *flow);

/* Those that may go on were looked at: just these, and all of them, or none. */
bool gate_http_has_judged(const struct gate_connection *connection, const struct gate_flow *flow);

/* So many have gone on. */
void gate_http_passed(struct gate_connection *connection, const struct gate_flow *flow, size_t n);
