/*
 * door.h - init answers the system calls that the filter hands over
 *
 * Two sorts. Calls that are refused anyway come here to be counted, and get their errno. connect(2)
 * comes here because no wall of the kernel sees it: a unix socket that a service of the host has
 * bound inside the workspace could be connected to. It is never let through: its address could be
 * exchanged after a look. Instead init looks at the address once and connects the caller's own socket,
 * by descriptor; for what may have to wait it has a short-lived child. Where paths are protected, the
 * calls that write or make names come here as well (door_files.h).
 *
 * Part of the init image: no libc.
 */
#pragma once

#include <stdbool.h>

/* How the box was made, as init's argument says it. */
#define DOOR_OWN_NETWORK 'n' /* the network namespace is the box's own */
#define DOOR_OWN_TMP     'o' /* nothing of the host is at /tmp */

#define DOOR_PROJECT 'r' /* a directory of the host is the root */
#define DOOR_NAMES   'd' /* PROTOCOL_NAMES_FD is asked for names */
#define DOOR_TRAPS   't' /* PROTOCOL_TRAPS_FD is to be served */
#define DOOR_RULES   'p' /* PROTOCOL_RULES_FD holds protected paths; the mask follows as a number */

struct seccomp_notif;

struct door {
    bool has_own_network;
    bool has_rules; /* there are protected paths, or a project */
    bool has_project;
    bool has_own_tmp;
    bool is_open;        /* somebody can still ask */
    const char *sockets; /* of the host that may be connected to: "DEV INO DEV INO " */
};

/* Who asks sleeps until it is answered, so init answers on the same processor, where the kernel can do
 * that: another one would have to be woken first, which takes longer than most answers. */
void door_begin(void);

/* Answers what is waiting at the listener. */
void door_serve(struct door *door);

/* connect(2), where it may have to wait done by a child. */
void door_connect(const struct door *door, const struct seccomp_notif *asked);

/* At the end: tells the supervisor what it does not know yet. */
void door_report(const struct door *door);
