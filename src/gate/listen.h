/*
 * listen.h - listeners, and what is done when too many come
 *
 * Code in the box may connect as often as it likes. Above the cap a connection is taken and reset;
 * without descriptors one that was kept in reserve serves to do the same, and then nobody listens
 * for a moment, because the kernel would say again and again that somebody waits.
 */
#pragma once

#include "gate/gate.h"

struct gate_listener {
    struct loop_source source;
    struct loop_timer timer;
    void (*accepted)(struct gate *gate, struct gate_listener *listener, int fd); /* takes fd */
    uint16_t port; /* for `accepted` */
    bool is_inner;
};

/* Takes the descriptor, also where it fails; -errno. */
int gate_listen(struct gate *gate, struct gate_listener *listener);

/* Whether the error means that there is no descriptor; then that is told, as it is of those that
 * could not be taken. */
bool gate_listen_is_full(struct gate *gate, int error);
