/*
 * dial.h - from a name to a socket that is connected to it
 *
 * The rules judge each address that the name has, and those that may be are tried one after the
 * other, a quarter of a second apart; the first that answers is taken, and the others are given up.
 */
#pragma once

#include "gate/connection.h"

/* To a port of this host's own loopback, which no rule needs to allow. */
void gate_dial_loopback(struct gate *gate, struct gate_connection *connection, uint16_t port);

/* With that socket, which is taken, to that port of the loopback it belongs to. */
void gate_dial_with(struct gate *gate, struct gate_connection *connection, int fd, uint16_t port);

/* What is left of a dialling that has ended; nothing where there was none. */
void gate_dial_cancel(struct gate *gate, struct gate_connection *connection);

/* Nobody has answered in time. */
void gate_dial_late(struct gate *gate, struct gate_connection *connection);
