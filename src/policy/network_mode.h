/*
 * network_mode.h - the kinds of network that a box can have: one row each
 *
 * What policy, plan, tools and answers need to know of a mode. How the plan makes it is a row in
 * plan/network.c; what it does beyond that (the gate, nat) is in folders of their own.
 */
#pragma once

#include "policy/policy.h"

struct network_mode {
    int rank;           /* a policy may be narrowed to a lower one */
    bool has_namespace; /* of its own; else it is the host's */
    bool has_sockets;   /* others than those of AF_UNIX */
    bool has_rules;     /* host rules decide, and coop answers for DNS */
    bool has_way_out;   /* something beyond the box can be reached */
    const char *why; /* of an answer that needs no host rules: why there is a connection or not */
    const char *no_names; /* why no denied lookup is reported; NULL: they are */
};

/* By coop_network. */
extern const struct network_mode network_modes[];

const struct network_mode *network_mode(const coop_policy *policy);
