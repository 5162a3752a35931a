/*
 * clone.h - start a function in a new task that shares our memory
 *
 * With CLONE_VM | CLONE_VFORK this is vfork with a stack and namespaces: the caller sleeps until the
 * child executes a program or ends, so both may use the same memory; its price does not depend on
 * the caller's size. Without CLONE_VFORK the caller goes on, and `gone` tells it.
 */
#pragma once

#include <stdint.h>
#include <sys/types.h>

struct sys_clone {
    uint64_t flags;  /* CLONE_*, less CLONE_PIDFD, which out_pidfd adds */
    int exit_signal; /* 0: nobody is told, and only a wait that names the child finds it */
    void *stack;     /* lowest address */
    size_t stack_size;
    int *out_pidfd; /* may be NULL */
    int *cgroup_fd; /* may be NULL: CLONE_INTO_CGROUP */
    uint32_t *gone; /* may be NULL: a futex, set to 1 here, 0 when the child left our memory */
};

/* Returns the child's pid, or -errno. The child runs fn(arg) and ends with its result. */
long sys_clone(const struct sys_clone *how, int (*fn)(void *), void *arg);
