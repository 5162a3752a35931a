/*
 * pipes.h - pipes through which bytes go from one socket to the other without being copied
 *
 * All pipes of a user share one allowance of pages, so a flow has one only while there is something
 * in it. A few that are empty are kept. Where none can be had, bytes are copied.
 */
#pragma once

#include <stdint.h>

#define GATE_PIPE_BYTES (256 * 1024)
#define GATE_PIPES_KEPT 16
#define GATE_PIPES_MOST 64 /* a quarter of what the kernel grants a user by default */

struct gate_pipe {
    int read_fd, write_fd;
};

struct gate_pipes {
    unsigned n; /* in use and kept */
    unsigned n_kept;
    unsigned n_refused; /* so often it is not tried again, after it has failed */
    struct gate_pipe *kept[GATE_PIPES_KEPT];
};

struct gate_pipe *gate_pipes_take(struct gate_pipes *pipes);            /* NULL: there is none */
void gate_pipes_give(struct gate_pipes *pipes, struct gate_pipe *pipe); /* it is empty */
void gate_pipes_drop(struct gate_pipes *pipes, struct gate_pipe *pipe); /* it may not be */
