/*
 * http.h - what of a client's HTTP may go on
 *
 * Each request of a connection must be for the host that its address stands for. As in
 * gate/watch.h, which asks these where a connection speaks HTTP.
 */
#pragma once

#include <sys/types.h>

#include "gate/connection.h"

ssize_t gate_http_allow(struct gate *gate, struct gate_connection *connection,
                        struct gate_flow *flow, const char *bytes, size_t n);
size_t gate_http_blind(const struct gate_connection *connection, const struct gate_flow *flow);
bool gate_http_has_judged(const struct gate_connection *connection, const struct gate_flow *flow);
void gate_http_passed(struct gate_connection *connection, const struct gate_flow *flow, size_t n);
void gate_http_ended(struct gate_connection *connection, const struct gate_flow *flow);
