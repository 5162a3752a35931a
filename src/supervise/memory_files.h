/*
 * memory_files.h - files in memory that processes of a box hold open
 *
 * Each is counted once, however many have it. A process may keep others from looking at its
 * descriptors (PR_SET_DUMPABLE, or a program that may not be read): then they are taken one by one.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct memory_files {
    pid_t init; /* of the box; the rest is zero at first */
    uint64_t bytes;
    bool is_hidden; /* there is a process of which nothing can be seen */
    ino_t *seen;    /* a hash table, 0: free */
    size_t n_seen, n_slots;
};

/*
 * `dir_fd` is its directory in the box's /proc, `pid` its number there, `n_fds` the size of its table. A
 * `pid` of 0: its first thread has ended, and only `dir_fd`, another's, may lead to the descriptors.
 */
void memory_files_of(struct memory_files *files, int dir_fd, pid_t pid, unsigned n_fds);
void memory_files_done(struct memory_files *files);
