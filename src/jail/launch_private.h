/*
 * launch_private.h - what launch.c and head_start.c share
 */
#pragma once

#include <signal.h>
#include <stdint.h>
#include <sys/types.h>

#include "jail/box.h"
#include "jail/child.h"
#include "sys/kernel.h"

/* What a launch owns and a box does not. */
struct launch {
    struct coop_box *box;
    struct child child;
    struct kernel_termios terminal_settings;
    int pipes[3][2];
    int control[2];
    int user_namespace_fd;
    int rules_fd;
    int fuse_fd;   /* opened on the way in; -1: not */
    int device_fd; /* child.h */
    const struct template *template;
    int *tree_fds;
    size_t n_tree_fds;
    char *stacks;
    int pidfd;
    pid_t pid;
    /* head_start.h */
    uint64_t namespaces; /* CLONE_NEW* */
    int image_fd;        /* the init image, which the child writes; -1: the sandbox has it */
    pid_t threshold_pid; /* of the process that makes the box; 0: none */
    uint32_t box_alive;  /* a futex: 0 when the box has left our memory */
    bool was_dumpable;
    bool waits_for_itself; /* the box is made by vfork: who made it sleeps meanwhile */
};

void launch_init(struct launch *launch, struct coop_box *box);
void launch_done(struct launch *launch);
int launch_make_stacks(coop_sandbox *sandbox, coop_error **err);
int launch_make_channels(struct launch *launch, coop_error **err);
int launch_say_go(struct launch *launch, coop_error **err);
int launch_write_rules(struct launch *launch, coop_error **err);
void launch_fill_child(struct launch *launch);

/* The last act of who makes the box from elsewhere: the box, as our own child. `r` is how it got on,
 * and `there` are the namespaces that it is in already. */
int launch_clone_beside(struct launch *launch, long r, uint64_t there);
/* Runs in our memory, for a moment in the template's namespaces. */
int launch_threshold(void *launch);

/* All signals wait while a child that shares our memory is made: no handler may run in it. */
void launch_block_signals(sigset_t *old);
void launch_restore_signals(const sigset_t *old);

/* Waits until the box is gone, and with it every use of our memory. */
void launch_reap(struct launch *launch);
/* What came of it, once the box has left our memory. */
int launch_outcome(struct launch *launch, coop_error **err);
