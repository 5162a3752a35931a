/*
 * cgroup.h - limits that count everything in a box together
 *
 *   cgroup_find() -> cgroup_make() -> the box joins -> cgroup_read() -> cgroup_remove()
 *
 * Version 2 where a subtree may be written, version 1 controllers where only they exist, nothing
 * otherwise: then every field says so. A janitor process removes the groups when the supervisor is
 * killed before it can.
 *
 * A task joins by writing "0" to each of procs_fds. In version 2 it is better born there
 * (CLONE_INTO_CGROUP with fds[0]): a move makes the kernel wait for every CPU, 6 ms and more.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "coop/error.h"
#include "policy/policy.h"

enum cgroup_version { CGROUP_NONE, CGROUP_V1, CGROUP_V2 };
enum cgroup_controller { CGROUP_MEMORY, CGROUP_PIDS, CGROUP_CPU, CGROUP_CONTROLLERS };

struct cgroup {
    enum cgroup_version version;
    bool has[CGROUP_CONTROLLERS]; /* found: could hold its limit; made: does, if there is one */
    /* Directories to make ours in. Version 2 uses the first, or the one of CGROUP_CPU, if that is
     * there, for a policy that limits the CPUs. */
    int parent_fds[CGROUP_CONTROLLERS];
    int fds[CGROUP_CONTROLLERS];       /* ours */
    int procs_fds[CGROUP_CONTROLLERS]; /* what the box writes itself into; -1 if none */
    /* Limits of the cgroups that a box beside our own would get out of; in the policy's units. */
    uint64_t ceilings[CGROUP_CONTROLLERS];
    char name[48];
    bool is_made;
    pid_t janitor;
    int janitor_pidfd;
    int janitor_fd; /* closing it, or our end, sets the janitor to work */
};

struct cgroup_usage {
    uint64_t peak_memory; /* 0: not known */
    uint64_t oom_kills;
    uint64_t pids_refused;
};

/* Finds where groups may be made and changes nothing; never fails, version says what was found. */
void cgroup_find(struct cgroup *cgroup);
/* A guess, for one system call: only where all is version 2 are subtrees delegated to users. */
bool cgroup_is_likely(void);
/*
 * Makes the groups and sets the policy's limits. What the host refuses is cleared in `has` (and in
 * `version`, if nothing remains) and is no error. Borrows init_fd. On failure nothing is left.
 */
int cgroup_make(struct cgroup *cgroup, const coop_policy *policy, int init_fd, coop_error **err);
void cgroup_read(const struct cgroup *cgroup, struct cgroup_usage *usage);
/* Kills what is left in it, removes it, sends the janitor home, closes everything. */
void cgroup_remove(struct cgroup *cgroup);
const char *cgroup_kind(const struct cgroup *cgroup); /* "cgroup v2"; NULL if none */
