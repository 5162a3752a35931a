/*
 * tls.h - a second hello is looked at like the first
 *
 * A server may ask for another one, and may take the name from that (net/wire/tls_answer.h). So what a
 * client sends after its hello waits for the answer, which is what clients do anyway but for early
 * data; and where the answer may ask again, records are followed up to the next hello. A server
 * asks once at most. From there on all is encrypted, and nobody knows what it is for.
 *
 * As in gate/watch.h, which asks these where a connection speaks TLS.
 */
#pragma once

#include <sys/types.h>

#include "gate/connection.h"

struct tls_hello;

/* Whether the hello is for the host of the connection; false: it was refused, and is not to be
 * touched any more. */
bool gate_tls_judge(struct gate *gate, struct gate_connection *connection,
                    const struct tls_hello *hello);

/* A first hello goes on. */
void gate_tls_begin(struct gate_connection *connection);

ssize_t gate_tls_allow(struct gate *gate, struct gate_connection *connection,
                       struct gate_flow *flow, const char *bytes, size_t n);
size_t gate_tls_blind(const struct gate_connection *connection, const struct gate_flow *flow);
bool gate_tls_has_judged(const struct gate_connection *connection, const struct gate_flow *flow);
void gate_tls_passed(struct gate_connection *connection, const struct gate_flow *flow, size_t n);
void gate_tls_ended(struct gate_connection *connection, const struct gate_flow *flow);
