/*
 * notify.h - init answers the system calls that the filter hands over
 *
 * Two sorts. Calls that are refused anyway come here to be counted, and get their errno. connect(2)
 * comes here because nothing in the kernel sees it: a unix socket that a service of the host has
 * bound inside the workspace could be connected to. It is never let through: its address could be
 * exchanged after a look. Instead init looks at the address once and connects the caller's own socket,
 * by descriptor; for what may have to wait it has a short-lived child. Where paths are protected, the
 * calls that write or make names come here as well (init/notify/files.h).
 *
 * Part of the init image: no libc.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "init/start.h"

struct seccomp_notif;

struct notify {
    bool has_own_network;
    bool has_rules; /* there are protected paths, or a project */
    bool has_root_view;
    bool has_own_tmp;
    bool is_open;                      /* somebody can still ask */
    const struct init_socket *sockets; /* of the host that may be connected to */
    size_t n_sockets;
};

/* Who asks sleeps until it is answered, so init answers on the same processor, where the kernel can do
 * that: another one would have to be woken first, which takes longer than most answers. */
void notify_begin(void);

/* Answers what is waiting at the listener. */
void notify_serve(struct notify *notify);

/* Before a call is let through: the kernel may give room in /tmp back. */
void notify_will_go_on(const struct seccomp_notif *asked);

/* connect(2), where it may have to wait done by a child. */
void notify_connect(const struct notify *notify, const struct seccomp_notif *asked);

/* At the end: tells the supervisor what it does not know yet. */
void notify_report(const struct notify *notify);
