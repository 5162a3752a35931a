/*
 * resident.h - what speaks with a box while it runs: its resolver, and the log of refusals
 *
 * It reads what hostile code has written, so it is a process of its own, with no privileges
 * (gate/lockdown.h), beside the one that keeps the way out. Questions go to the host's name servers
 * as they are, and so do their answers; nobody looks into them but for the number that joins the two.
 * What a name leads to is judged when somebody connects there.
 */
#pragma once

#include "gate/gate.h"

struct nat_resident {
    struct gate gate; /* its loop, events and log */
    struct loop_source tcp;
    unsigned n_questions, n_streams;
};

struct nat_resident_sockets {
    int control_fd, rules_fd;
    int udp_fd, tcp_fd;
    int log_fd; /* -1: none */
};

/* Until the end-of-file on the control socket. Exit status. */
int nat_resident_run(struct nat_resident_sockets sockets);

/* nat/dns.c, nat/dns_stream.c; the sources have their descriptors. -errno. */
int nat_dns_serve(struct nat_resident *resident);
int nat_dns_serve_streams(struct nat_resident *resident);

/* The host's name servers, as they are now; at least one. */
void nat_resident_servers(struct nat_resident *resident, struct gate_servers *out);

static inline struct nat_resident *nat_resident_of(struct gate *gate)
{
    return LOOP_CONTAINER(gate, struct nat_resident, gate);
}
