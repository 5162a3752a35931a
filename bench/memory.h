/*
 * memory.h - what a tree of processes costs: their own pages, and the kernel's on their behalf
 */
#pragma once

#include <sys/types.h>

/* KiB. The kernel's are of the whole machine: only differences mean anything. */
struct memory {
    long pss;    /* of the processes */
    long slab;   /* namespaces, mounts, inodes, descriptors ... */
    long stacks; /* kernel stacks */
    long page_tables;
    long percpu;
    long available;
    long n_processes;
    long n_estimated; /* of them, those that hide their PSS: their resident size was taken */
};

/* All descendants of `root`, and root itself. */
void memory_look(pid_t root, struct memory *out);
/* Waits until the kernel has given back what went before, but not for ever. */
void memory_settle(void);
/* Sends SIGKILL to all descendants of this process: a launcher's child may outlive it. */
void memory_kill_descendants(void);

/*
 * The kernel's numbers hold what everybody else does meanwhile, so a cost is taken several times:
 * memory_add() notes `now` minus `before`, memory_print() prints the middle one, divided by n, under
 * the group "memory".
 */
#define MEMORY_TIMES 3
struct memory_costs {
    struct memory all[MEMORY_TIMES];
    size_t n;
};
void memory_add(struct memory_costs *costs, const struct memory *before, const struct memory *now);
void memory_print(const char *name, struct memory_costs *costs, size_t n);
