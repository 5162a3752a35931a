/*
 * wait.h - the sockets of a box, watched until a program in it uses the first of them
 *
 *   network_wait_begin() -> epoll_fd is readable, or network_wait_is_over() -> network_wait_end()
 *
 * Most commands reach for nothing, and a gate for nobody is a process for nobody. Nothing is read
 * here: what comes waits in the sockets for the gate.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#define NETWORK_WAIT_MOST 253 /* that the kernel passes in one message */

struct network_wait {
    int epoll_fd; /* -1: nothing is watched */
    size_t n;
    size_t log; /* which of them is netfilter's; 0: none */
    int fds[NETWORK_WAIT_MOST];
};

#define NETWORK_WAIT_NONE \
    {                     \
        .epoll_fd = -1    \
    }

/* Those that wait as a message at `socket_fd`, where they stay for its reader. 0 or -errno. */
int network_wait_begin(struct network_wait *wait, int socket_fd);
bool network_wait_is_over(const struct network_wait *wait);

/* The box's netfilter socket, for the caller to close; -1: there is none. */
int network_wait_take_log(struct network_wait *wait);
void network_wait_end(struct network_wait *wait);
