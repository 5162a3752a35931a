/*
 * inside.h - what a box's process does in its new network namespace: messages to the kernel, sockets
 *
 * All of it shares the caller's memory: system calls only, -errno. What the gate (gate_inside.h) and
 * nat (nat_inside.h) both need.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"

/* The kernel does what they ask for within the call. `family` is one of netlink's. */
long inside_send_messages(int family, const struct buffer *messages);

/* The same on a socket of the caller's, for more than one. */
long inside_open(int family);
long inside_send(long fd, const struct buffer *messages);

/* A socket of NETLINK_NETFILTER on which the kernel copies the first bytes of packets that rules log to
 * that group; or the caller's own is to be it. */
long inside_open_log(uint16_t group);
long inside_begin_log(long fd, uint16_t group);

#define INSIDE_MAX_FDS 253 /* that the kernel passes in one message */

/* One message with descriptors. */
long inside_send_fds(int socket_fd, const void *message, size_t size, const int *fds, size_t n);
