/*
 * gate.h - the supervisor's side of a box's network gate
 *
 *   network_gate_prepare() -> launch sends the box's sockets -> network_gate_start()
 *     -> network_gate_wake(), when its wait is over
 *     -> network_gate_read(), whenever its descriptor is readable -> network_gate_end()
 *
 * The gate is a process of its own, coop-gate, because it reads what hostile programs write. It begins
 * when one of them reaches for something, and ends when our end of its socket closes, however we end.
 */
#pragma once

#include "base/buffer.h"
#include "coop/error.h"
#include "plan/plan.h"
#include "supervise/network/credential.h"
#include "supervise/network/orders.h"
#include "supervise/network/wait.h"
#include "sys/spawn.h"

struct coop_box;

struct network_gate {
    struct spawn process;
    int fd;       /* our end of its socket; -1: there is no gate */
    int their_fd; /* its end, until it is started */
    char *program;
    bool is_running;
    bool tidies_up;           /* it takes things down on the host, for which it may need longer */
    bool is_told;             /* to end */
    struct network_wait wait; /* for the first who needs it */
    struct buffer rules;      /* until then */
    int tables_fd; /* a netfilter socket of the box, for addresses that are allowed later; -1: none */
    struct network_orders orders;
    struct network_credential credential;
    bool has_failed; /* it ended before the box: nothing can be reached any more */
    int error;       /* it could not begin: the errno, and with what */
    char step[128];
};

/* `name` is that of its program. */
int network_gate_prepare(struct network_gate *gate, const char *name, coop_error **err);
/* When the box is made: no start waits for it. It begins at once where ports are published. */
int network_gate_start(struct network_gate *gate, const struct plan_gate *plan, coop_error **err);

/* Somebody needs it. The box ends where it cannot be had: it was not to be without. */
void network_gate_wake(struct coop_box *box);

/* Only the process: with rules as its descriptor 1, and an argument or NULL. */
int network_gate_spawn(struct network_gate *gate, const struct buffer *rules, char *argument,
                       coop_error **err);

/* What it has refused since. False: it is gone. */
bool network_gate_read(struct coop_box *box);

/* Rules that somebody sends while the box runs go on to it. */
void network_gate_obey(struct coop_box *box);

/* What it could not begin with, if so. */
int network_gate_check(const struct network_gate *gate, coop_error **err);

/* The command has ended: it may tell the rest, beside what else is to be done. */
void network_gate_finish(struct network_gate *gate);

/* Takes the last of what it has to tell. */
void network_gate_end(struct coop_box *box);

/* Waits for its end. Also for a box that was not to be. */
void network_gate_drop(struct network_gate *gate);
