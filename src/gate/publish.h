/*
 * publish.h - ports of the host that lead to a port of the box
 *
 * A socket belongs for ever to the namespace in which it was made, and nobody inside makes any for
 * us. But accept() does: one inner socket connects to an inner listener, both of ours, and what is
 * accepted, taken apart again, is a fresh socket inside. The first one, taken apart too, can be used
 * for the next.
 */
#pragma once

#include "gate/gate.h"

/* The listeners on the host's side, before the gate gives up what it needs for that. NULL, or which
 * one failed, with errno. */
const struct gate_publish_rule *gate_publish_bind(struct gate *gate);

/* The two inner sockets, which are taken, have come: they listen now. -errno. */
int gate_publish_serve(struct gate *gate, int connector_fd, int listener_fd);
