/*
 * gate_inside.h - a network namespace in which every address leads to the gate
 *
 *   parent    gate_inside_prepare() -> launch -> gate_inside_done()
 *   child     gate_inside_make(), in the new namespace, while it has capabilities over it
 *
 * All addresses are local there, so whatever a program connects to arrives at a listener of ours.
 * The sockets are made inside and sent to the gate, which uses them from outside; nothing runs
 * inside for it, and without capabilities nothing inside can undo it. The parent puts all messages
 * together, because the child shares its memory and makes system calls only.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"
#include "base/host/host_rule.h"

#define GATE_INSIDE_MAX_PORTS 64 /* that single listeners can stand for */
#define GATE_INSIDE_MAX_REACH 32
#define GATE_INSIDE_MAX_UDP   16
#define GATE_INSIDE_PORT      1 /* where tproxy leads */
#define GATE_INSIDE_LOG       7 /* netfilter's group */
#define GATE_INSIDE_PROXY     1080
/* In resolv.conf. Any other would do as well: all are answered by the gate. */
#define GATE_INSIDE_RESOLVER "198.18.0.53"

/* Addresses that programs may try directly, because a rule names them. */
struct gate_network {
    uint8_t address[16]; /* IPv4: the first four */
    uint8_t bits;
    bool is_ipv6;
};

struct gate_inside {
    struct buffer link, routes4, routes6;
    struct buffer plain_link; /* where the kernel does not take the former */
    struct buffer tables;     /* everything leads to the gate, and what no rule names is refused */
    struct buffer fallback;   /* only the former, where the kernel cannot do the latter */
    uint16_t ports[GATE_INSIDE_MAX_PORTS]; /* for listeners, where it can do neither */
    size_t n_ports;
    bool needs_any_port; /* then these would not be enough */
    uint16_t reach[GATE_INSIDE_MAX_REACH];
    size_t n_reach;
    uint16_t udp[GATE_INSIDE_MAX_UDP]; /* ports whose datagrams the gate takes */
    size_t n_udp;
    bool has_publish, has_proxy;
};

/* The messages; the other members are the caller's to fill before. -ENOMEM. */
int gate_inside_prepare(struct gate_inside *inside, const struct gate_network *networks,
                        size_t n_networks);
void gate_inside_done(struct gate_inside *inside);

/* Those that a rule names, and how many; "*" is for addresses too: those of both families. */
size_t gate_inside_networks(const struct host_rule *rule, struct gate_network out[2]);

/* More of them, for a namespace that was made so: a message for a netfilter socket of it. -ENOMEM. */
int gate_inside_open(struct buffer *batch, const struct gate_network *networks, size_t n);

/*
 * Makes the namespace what it is to be and sends the sockets over `socket_fd`. System calls only.
 * 0 or -errno; -EPROTONOSUPPORT: the kernel has no nf_tables that this could use, and rules name
 * no ports.
 */
long gate_inside_make(const struct gate_inside *inside, int socket_fd);
