/*
 * watch.h - what is looked at while a connection runs
 *
 * Requests of HTTP, and TLS until it is under way. Where a connection speaks neither, and for what
 * nobody looks at, all of this lets pass.
 */
#pragma once

#include "gate/http.h"
#include "gate/tls.h"

/* How many of the bytes may go on; 0: none yet; -1: the connection was refused, and is not to be
 * touched any more. */
static inline ssize_t gate_watch_allow(struct gate *gate, struct gate_connection *connection,
                                       struct gate_flow *flow, const char *bytes, size_t n)
{
    return connection->http ? gate_http_allow(gate, connection, flow, bytes, n)
                            : gate_tls_allow(gate, connection, flow, bytes, n);
}

/* How many may go on whatever they are. */
static inline size_t gate_watch_blind(const struct gate_connection *connection,
                                      const struct gate_flow *flow)
{
    return connection->http ? gate_http_blind(connection, flow) : gate_tls_blind(connection, flow);
}

/* Those that may go on were looked at: just these, and all of them, or none. */
static inline bool gate_watch_has_judged(const struct gate_connection *connection,
                                         const struct gate_flow *flow)
{
    return connection->http ? gate_http_has_judged(connection, flow)
                            : gate_tls_has_judged(connection, flow);
}

/* So many have gone on. */
static inline void gate_watch_passed(struct gate_connection *connection,
                                     const struct gate_flow *flow, size_t n)
{
    if (connection->http)
        gate_http_passed(connection, flow, n);
    else
        gate_tls_passed(connection, flow, n);
}

/* Nothing more comes that way. */
static inline void gate_watch_ended(struct gate_connection *connection,
                                    const struct gate_flow *flow)
{
    if (connection->http)
        gate_http_ended(connection, flow);
    else
        gate_tls_ended(connection, flow);
}
