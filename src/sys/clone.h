/*
 * clone.h - start a function in a new task that shares our memory
 *
 * sys_clone() is vfork with a stack and namespaces: the caller sleeps until the child executes a
 * program or ends, so both may use the same memory; its price does not depend on the caller's size.
 */
#pragma once

#include <stdint.h>
#include <sys/types.h>

struct sys_clone {
    uint64_t flags;      /* CLONE_*, less CLONE_PIDFD, which out_pidfd adds */
    int exit_signal;     /* 0: nobody is told, and only a wait that names the child finds it */
    void *stack;         /* lowest address */
    size_t stack_size;
    int *out_pidfd;      /* may be NULL */
    int *cgroup_fd;      /* may be NULL: CLONE_INTO_CGROUP */
    pid_t tid;           /* the number wanted in the new task's own pid namespace, or 0 */
};

/* Returns the child's pid, or -errno. The child runs fn(arg) and ends with its result. */
long sys_clone(const struct sys_clone *how, int (*fn)(void *), void *arg);
