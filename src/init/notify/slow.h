/*
 * slow.h - opens that may wait: a FIFO for its other end, a file for whoever holds a lease
 *
 * Part of the init image: no libc.
 */
#pragma once

#include "init/notify/call.h"

/*
 * Opens the object behind `fd` (O_PATH, borrowed) for the caller, in a child of init that answers.
 * It ends with the call: when the caller is killed, and also when a signal is waiting for it, which
 * would have interrupted the open. -EINPROGRESS: the answer will come; or -errno.
 */
long notify_slow_open(const struct seccomp_notif *asked, int fd, int flags);
