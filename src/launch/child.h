/*
 * child.h - the side of a launch that lives between clone and exec
 *
 * Everything here runs in a task that shares the caller's memory: system calls only, through
 * sys/raw.h. What went wrong is left in `struct child`, where the parent finds it when it wakes.
 *
 *   box_main      the box's init-to-be: starts the command's process, walks the plan's PHASE_BOX
 *                 steps, tells it to go on, waits until it has left our memory, then leaves it too
 *                 by executing the init image
 *   command_main  walks the PHASE_EARLY steps beside that, waits for the word, walks the
 *                 PHASE_COMMAND steps and executes the command
 */
#pragma once

#include <stdint.h>
#include <sys/types.h>

#include "init/start.h"
#include "plan/plan.h"

#define CHILD_STACK_SIZE (64 * 1024)
#define CHILD_NO_FD      (-1)

struct child {
    const struct plan *plan;
    /* descriptors, all at least 3, made by the parent */
    int control_fd;                 /* the box's end */
    int parent_control_fd;          /* the supervisor's end, closed here first of all */
    int last_fd;                    /* the highest of all that follow */
    int stdio_fds[3];               /* -1 with a terminal of its own */
    int init_fd;                    /* the init image */
    int start_fd;                   /* what init gets (init/start.h), -1: there is no init */
    const struct init_start *start; /* the same, as far as it is known */
    int supervisor_fd;              /* a pidfd */
    int lock_fd;                    /* structure_lock.h, likewise */
    int gate_fd;                    /* where the network gate gets its sockets, -1 if none */
    int cgroup_fds[3];              /* cgroup.procs files to join, -1 if none */
    const int *keep_fds;
    size_t n_keep_fds;
    void *command_stack, *helper_stack;
    unsigned short rows, columns;                   /* of the terminal */
    const struct kernel_termios *terminal_settings; /* NULL: the usual ones */
    bool has_map; /* the user namespace was prepared: its maps stand already */

    /* the child's own */
    int pool_fd, skeleton_fd, root_fd, proc_fd, terminal_fd;
    int names_fd;          /* the resolver that knows no names, likewise; -1: none */
    int listener_fd;       /* made by the command's process in the table that both share */
    bool pool_is_attached; /* an older kernel wanted it */
    int place_fd, pristine_fd, masks_fd; /* mask_steps.c */
    int root_view_fd, watch_fd;          /* root_view_steps.c; -1: there is no root view */
    int device_fd;                       /* /dev/fuse, not opened yet; -1: at its usual place */
    int fuse_fd;                         /* watchfs_steps.h; -1: not open */
    int watchfs_fd;                      /* the mount whose nodes cover what is watched; -1: none */
    pid_t helper_pid;
    int helper_fd;      /* tells the helper to end */
    int late_fds[2];    /* a pipe: what the helper leaves to init */
    bool needs_remount; /* an older kernel sets attributes only afterwards */
    mode_t umask;
    uint64_t bounding_set, command_bounding_set; /* what is left in init's and the command's */
    pid_t command_pid;
    uint32_t command_alive; /* a futex: 0 when the command's process has left our memory */
    uint32_t box_ready;     /* a futex: 1 when PHASE_BOX is done, 2 after the go-ahead, 3: all is */
    uint32_t network_done;  /* a futex: 0 while the network namespace is being made */
    int network_fd;         /* the namespace, or -errno */
    uint32_t proc_ready;    /* a futex: 1 when proc_fd is what it will be */
    uint32_t map_ready;     /* a futex: 1 when the user namespace has its ids */

    /* what the parent reads afterwards */
    volatile int error;          /* 0: the command was executed */
    volatile size_t failed_step; /* n_steps: exec itself */
    volatile int is_executing;   /* all steps of the command are done */
    volatile int has_init;       /* init was about to be executed, so nobody else uses our memory */
    volatile int exists;         /* exec failed, but the file is there */
    volatile int has_watchfs;    /* hidden directories are watched */
    volatile int watches_tmp;    /* and what is looked for in the box's /tmp */
    uint32_t nat_method;         /* by which its way out was made: net/nat_protocol.h */
    volatile size_t candidate;   /* which of plan->candidates was tried last or refused */
};

int box_main(void *child);
int command_main(void *child);
int bare_main(void *child); /* no namespaces: the command without an init */

void child_wait(uint32_t *futex, uint32_t while_it_is);
void child_tell(uint32_t *futex, uint32_t value);
/* Capabilities, a bit each: what the caller's bounding set has left, and what it shall keep. */
long child_shrink_bounding_set(uint64_t *left, uint64_t kept);

/* Applies one step: 0 or -errno. */
int step_apply(struct child *child, const struct step *step);
