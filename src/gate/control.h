/*
 * control.h - the socket on which the box's sockets come, and later lines of rules
 */
#pragma once

#include "gate/gate.h"

/* -errno. */
int gate_control_serve(struct gate *gate);

/* The names that rules write out have an address before anybody asks. -ENOMEM. */
int gate_control_add_names(struct gate *gate);
