/*
 * gate.h - all that a gate is
 *
 * One process for one box, one thread. It holds sockets that were made inside the box's network
 * namespace; those that it makes itself are in the caller's.
 *
 *   a name is asked for     gate_dns       the rules decide, the answer is a made-up address
 *   a connection comes      gate_listen -> gate_connection: what is its address the name of?
 *     which host is meant   gate_head      (ports 443 and 80)
 *     where is that         gate_resolver  the host's own name servers
 *     may it be there       gate_dial      and whoever answers first is taken
 *     bytes both ways       gate_relay
 *   a datagram comes        gate_udp       the same in short
 *   what is refused         gate_events -> the supervisor
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "gate/events.h"
#include "gate/names.h"
#include "gate/pipes.h"
#include "gate/resolver.h"
#include "gate/rules.h"
#include "net/gate_protocol.h"
#include "net/loop.h"

struct gate_connection;
struct gate_listener;

#define GATE_SCRATCH (256 * 1024)

struct gate {
    struct loop loop;
    struct gate_rules rules;
    struct gate_names names;
    struct gate_events events;
    struct gate_resolver resolver;
    struct gate_pipes pipes;
    struct gate_sockets sockets; /* what came from inside; magic 0: nothing yet */

    struct loop_source control;
    struct loop_source dns;
    struct loop_source log;
    struct loop_source credential; /* gate/credential.h */
    bool wants_credentials;        /* the supervisor was told */
    bool knows_why;                /* of its end: it has said so itself */
    struct gate_listener *listeners;
    size_t n_listeners;
    struct gate_publisher *publisher;
    struct gate_udp *udp; /* NULL: no rule is for datagrams */
    int own_fd;           /* gate/own.h */
    int64_t own_until_ms;
    int spare_fd; /* to take and turn away one more when there are no descriptors */

    uint32_t n_connections;
    struct gate_connection *connections;

    /* The last name that was refused, and as what: a program asks for both kinds of address at once. */
    char refused_name[HOST_NAME_SIZE];
    uint16_t refused_type;

    char *scratch; /* GATE_SCRATCH bytes, for whoever is at work */
};
