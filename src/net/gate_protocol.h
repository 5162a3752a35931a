/*
 * gate_protocol.h - what a gate, its supervisor and a box that is being made say to each other
 *
 * One SOCK_SEQPACKET pair. The box's side sends its sockets once, before the command starts. Then
 * the gate tells of what it refuses, and the supervisor may send lines of rules. End-of-file is the
 * order to tell the rest and to end.
 */
#pragma once

#include <stdint.h>

#define GATE_CONTROL_FD    0
#define GATE_RULES_FD      1 /* text, a line each: gate/rules.h */
#define GATE_CREDENTIAL_FD 2 /* where the rules name credentials: credential_protocol.h */

#define GATE_SOCKETS_MAGIC 0xc0096a7eu

enum gate_method {
    GATE_TPROXY = 1, /* one listener for all ports */
    GATE_REDIRECT,   /* the same, and the kernel's connection table says where it was for */
    GATE_LISTENERS   /* one for each port that a rule names */
};

/*
 * With the descriptors in this order: listeners, the DNS socket, [log], [proxy listener],
 * [the two of publish: one unbound, one listening], the listeners of reach, the UDP sockets.
 */
struct gate_sockets {
    uint32_t magic;
    uint32_t method;
    uint8_t has_ipv6; /* 0: names have no IPv6 addresses */
    uint8_t has_log;  /* netfilter's log of what the box's own side refused */
    uint8_t has_proxy;
    uint8_t has_publish;
    uint16_t n_listeners;
    uint16_t n_reach; /* two of each port where there is IPv6: 127.0.0.1 and ::1 */
    uint16_t n_udp;   /* one for each port of the rules with /udp */
};

enum gate_event_kind {
    GATE_EVENT_READY = 1,
    GATE_EVENT_NAME,     /* a name was asked for that no rule allows */
    GATE_EVENT_CONNECT,  /* a name or address, and a port, that no rule allows */
    GATE_EVENT_HEAD,     /* what was said first was for another host: detail */
    GATE_EVENT_ANSWER,   /* the name led to an address that its rule does not allow: detail */
    GATE_EVENT_UPSTREAM, /* the host could not be reached: error; no refusal */
    GATE_EVENT_UDP,
    GATE_EVENT_LIMIT,            /* more at once than the gate holds: detail */
    GATE_EVENT_CREDENTIAL,       /* a request was not sent on with a secret: detail; the rule is the
                                    credential's number, -1: none can be used any more */
    GATE_EVENT_WANTS_CREDENTIALS /* a request has come for the program that holds them */
};

struct gate_event {
    uint32_t kind;
    int32_t rule;   /* which line refused it, -1: none allowed it */
    uint32_t count; /* how often so far */
    int32_t error;
    uint16_t port;
    uint8_t is_udp;
    char name[256];
    char detail[256];
};
