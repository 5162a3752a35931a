/*
 * idle.h - did anything in a box run?
 *
 * The processor time of every process, in nanoseconds. A process can only be made by one that ran, and one
 * that has ended ran: where no clock moved, the processes are the same, and none took memory. init is left
 * out: it runs only for others, or to answer the supervisor.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct idle {
    struct idle_process {
        pid_t pid; /* here, not in the box */
        uint64_t ns;
    } * processes; /* init is the first */
    size_t n, capacity;
};

/* Notes all processes of the box whose init is `pid`. False: that cannot be seen, or there is no memory. */
bool idle_note(struct idle *idle, pid_t pid);
/* None of those noted ran since; false if there are none. */
bool idle_is(const struct idle *idle);
void idle_forget(struct idle *idle);
void idle_free(struct idle *idle);
