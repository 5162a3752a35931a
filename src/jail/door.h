/*
 * door.h - init answers the system calls that the filter hands over
 *
 * Two sorts. Calls that are refused anyway come here to be counted, and get their errno. connect(2)
 * comes here because no wall of the kernel sees it: a unix socket that a service of the host has
 * bound inside the workspace could be connected to. It is never let through: its address could be
 * exchanged after a look. Instead a short-lived child of init looks at the address once and connects
 * the caller's own socket, by descriptor.
 *
 * Part of the init image: no libc.
 */
#pragma once

#include <stdbool.h>

/* How the box was made, as init's argument says it. */
#define DOOR_OWN_NETWORK 'n' /* the network namespace is the box's own */

struct door {
    bool has_own_network;
    bool is_open; /* somebody can still ask */
};

/* Answers what is waiting at the listener. */
void door_serve(struct door *door);

/* Tells the supervisor how often each call was refused. */
void door_report(void);
