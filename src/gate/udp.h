/*
 * udp.h - datagrams to the ports that rules with /udp name
 *
 * A socket inside for each such port takes what programs send to any address. Who sent it, and where
 * to, is a flow: it has a socket of its own outside, connected to the one address that was found for
 * it, and what comes back leaves inside from the address that was asked. Nobody says when a flow is
 * over, so it ends a minute after its last datagram, or where there are too many, the one that has
 * been silent the longest. What no rule allows is recorded and gets no answer.
 */
#pragma once

#include "gate/gate.h"

/* Takes the descriptor, also where it fails; -errno. */
int gate_udp_serve(struct gate *gate, uint16_t port, int fd);

/* The rules have changed: flows that they do not allow any more end. */
void gate_udp_judge_all(struct gate *gate);
