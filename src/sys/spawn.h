/*
 * spawn.h - start a program of the host, and be told of its end
 *
 *   spawn_start() -> talk to it -> spawn_await(), spawn_kill() -> spawn_wait() -> spawn_done()
 *
 * From clone to exec the child shares our memory while we sleep, as in the launch of a box: system
 * calls only, no handler of the host program's. The host program may wait for children of its own at
 * any time, and so take ours; a descriptor of the process stays ours, and is what we watch and kill.
 */
#pragma once

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct spawn_program {
    char *const *paths; /* tried in turn; ends with NULL */
    char *const *argv;
    char *const *environment;
    int fds[3];       /* what its descriptors 0 to 2 are: none of 0 to 2 itself; -1: closed */
    bool is_detached; /* a session of its own, in "/", without other descriptors of ours */
};

struct spawn {
    pid_t pid;
    int pidfd; /* -1: the kernel has none */
};

/* 0, or the negative errno of what failed: of the paths, the reason of one that is there. */
long spawn_start(const struct spawn_program *program, struct spawn *out);

/* Until its end, or -ETIME at the deadline, which is one of clock_now_ms(). Without a descriptor
 * nobody can tell: 0. */
int spawn_await(const struct spawn *spawn, int64_t deadline_ms);

void spawn_kill(const struct spawn *spawn);

/* Waits for the end; negative: somebody else has its status, or nobody. */
long spawn_wait(const struct spawn *spawn, siginfo_t *info);

void spawn_done(struct spawn *spawn);
