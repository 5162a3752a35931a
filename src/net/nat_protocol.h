/*
 * nat_protocol.h - what coop-nat, its supervisor and a box that is being made say to each other
 *
 * One SOCK_SEQPACKET pair, as with the gate. The box's process sends what coop-nat needs of its
 * namespace and waits for the answer. Where that is a failure, it leaves the answer where it is, for
 * the supervisor, because the words for it are there too. Then coop-nat tells of what was refused, as
 * a gate does (struct gate_event). End-of-file is the order to take everything down and to end.
 */
#pragma once

#include <stdint.h>

#define NAT_CONTROL_FD 0
#define NAT_RULES_FD   1 /* as the gate's: gate/rules.h */

#define NAT_SOCKETS_MAGIC 0xc0096a70u

/* With the descriptors: network namespace, user namespace, a socket of rtnetlink inside that hears of
 * routes, two of DNS (UDP, and TCP that listens), [log]. */
struct nat_sockets {
    uint32_t magic;
    uint32_t has_log;
};

enum nat_method { NAT_VETH = 1, NAT_PASTA, NAT_SLIRP };

struct nat_words {
    char sentence[400];
    char hint[400];
};

struct nat_answer {
    uint32_t magic;
    int32_t error; /* 0: the way out is there */
    uint32_t method;
    struct nat_words words; /* of a failure */
};
