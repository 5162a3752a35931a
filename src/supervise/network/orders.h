/*
 * orders.h - rules for a box's gate that come while it runs
 *
 *   supervisor    network_orders_open() -> network_orders_take(), whenever readable -> ..._close()
 *   coop net      network_orders_find() -> network_orders_send()
 *
 * A pipe that has no name anywhere: whoever may look into the supervisor's descriptors, which is its
 * own user and root, finds it below /proc, by the name of a memory file beside it. No box can: its
 * /proc has no process of the host. Nothing is left where the supervisor is killed. The file holds
 * the rules that the gate was started with (gate/rules.h): some need what was made in the box
 * then, and cannot come later.
 */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#include "base/buffer.h"
#include "coop/error.h"

#define NETWORK_ORDER_SIZE 512 /* of one order, its NUL included; less than a pipe writes at once */

struct network_orders {
    int fd;       /* to be read; -1: none */
    int write_fd; /* kept, so that the other end never closes */
    int name_fd;
};

int network_orders_open(struct network_orders *orders, const struct buffer *rules);
void network_orders_close(struct network_orders *orders);

/* The next order as text, "allow github.com:443"; false: there is none now. */
bool network_orders_take(struct network_orders *orders, char out[NETWORK_ORDER_SIZE]);

/* Of the supervisor with this pid: a descriptor, the caller's. -ESRCH: no such process; -ENOENT: it
 * has no gate; -EACCES: it is somebody else's. Appends its first rules to `out_rules`, which may be
 * NULL. */
int network_orders_find(pid_t pid, struct buffer *out_rules);
int network_orders_send(int fd, const char *order);
