/*
 * enforce.h - of programs, only those that the policy allows and what they need themselves
 *
 * With the strength `enforce` the box's directories of programs hold nothing but those, everything
 * else in the box is mounted noexec, so that neither execve nor ld.so can make a process of it, and
 * Landlock grants EXECUTE on single files. This computes what that takes; view.c mounts it and
 * landlock.c has its rules.
 */
#pragma once

#include "plan/plan.h"

enum enforce_kind {
    ENFORCE_DIRECTORY, /* of programs: empty but for the entries in it */
    ENFORCE_LINK,      /* `source` is its text */
    ENFORCE_FILE,      /* may be executed or mapped as code */
    ENFORCE_TREE,      /* likewise everything in it */
    ENFORCE_PLAIN      /* a directory in such a tree that is not */
};

struct enforce_entry {
    enum enforce_kind kind;
    bool is_program; /* execve too, not only ld.so */
    bool is_mount;   /* of the policy's: the source must be opened */
    const char *source, *target;
};

struct plan_enforce {
    struct enforce_entry *entries;
    size_t n, capacity;
};

static inline bool enforce_is_wanted(const coop_policy *policy)
{
    return policy->commands.strength == COOP_COMMANDS_ENFORCE;
}

/* Fills plan->enforce; `argv` may run, which somebody else sees to. */
int plan_enforce(struct plan *plan, char *const argv[], coop_error **err);
void plan_enforce_done(struct plan *plan);

/* After the view: whatever holds no programs loses the right to. */
void plan_enforce_seal(struct plan *plan);

/* Whether commands could write this file of the host, a real path, at another place of the view. */
bool plan_is_writable(const struct plan *plan, const char *path);

/* enforce_needs.c: what known programs execute or load besides themselves. */
enum enforce_need_kind { NEED_PROGRAM, NEED_EXECUTE, NEED_LOAD };
struct enforce_need {
    const char *program; /* pattern of its name */
    enum enforce_need_kind kind;
    const char *what; /* a program's name, or a pattern of paths; "@" is the program's prefix */
};
extern const struct enforce_need enforce_needs[]; /* the last has no program */

/* Directories of libraries whose sub-directories hold more of them, and nothing else. */
extern const char *const enforce_library_parts[];
