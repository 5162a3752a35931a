/*
 * plan.h - what will be done, as an ordered list of steps
 *
 *   plan_compile() -> launch, or print -> plan_done()
 *
 * A plan is built and checked before anything is cloned. The child that walks it makes system calls
 * and nothing else, so every step is complete in itself: text, numbers and descriptors, no
 * decisions. A failing step is reported by its index; plan_describe_step() makes the sentence.
 */
#pragma once

#include <linux/filter.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#include "base/finding.h"
#include "coop/result.h"
#include "net/inside/gate_inside.h"
#include "net/inside/nat_inside.h"
#include "plan/rules/packed.h"
#include "plan/sources.h"
#include "plan/step_kinds.h"
#include "plan/watchfs_nodes.h"
#include "policy/policy.h"

/* Where a step runs. */
enum step_phase {
    PHASE_BOX,     /* in the box's init, while it still holds capabilities over its namespaces */
    PHASE_EARLY,   /* in the command's own process, beside PHASE_BOX */
    PHASE_COMMAND, /* in the command's own process, when PHASE_BOX is done, just before exec */
    PHASE_SEAL,    /* in init, beside PHASE_COMMAND; exec waits for it */
    PHASE_LAST,    /* in init, after the go-ahead; exec waits until the host's root is gone */
};

#define PLAN_MAX_NESTING 64

/* Flags of STEP_BIND and its like. */
#define STEP_READ_ONLY    1u
#define STEP_DEVICE       2u   /* a device node: nodev would close it */
#define STEP_RECHECK      4u   /* the source must still be the object in dev and ino */
#define STEP_TREE_FD      8u   /* fd is a detached mount made by the parent */
#define STEP_SEALED_LATER 16u  /* STEP_SEAL_ROOT sets its attributes */
#define STEP_NO_EXEC      64u  /* nothing in it can be executed or mapped as code */
#define STEP_PROGRAMS     128u /* never so: programs of plan/enforce.h, or libraries */
#define STEP_NAMES        256u /* STEP_NETWORK: with a resolver that knows no names */
#define STEP_SOCKET       256u /* STEP_BIND: of the host, and may be connected to */
#define STEP_HIDDEN       32u  /* STEP_SHOW: its name and nothing else */

#define PLAN_SOFT_OF_CALLER \
    UINT64_MAX /* STEP_LIMIT, value: as it is, but not above the hard limit */

struct step {
    enum step_kind kind;
    enum step_phase phase;
    unsigned flags;
    int fd;
    mode_t mode;
    dev_t dev; /* STEP_DEVICE: the device's own number */
    ino_t ino;
    uint64_t value; /* a size, a limit's number ... */
    uint64_t value2;
    const char *source; /* host path, link text, map ... */
    const char *target; /* path in the box without its leading slash, or a name */
    size_t length;      /* of source, where it is data */
    unsigned
        node; /* of the plan's watched directories, from 1: it covers the target; 0: none does */
};

/* One Landlock rule: a path of the box and what may be done below it. */
struct plan_landlock_rule {
    const char *path;
    uint64_t allowed;
    dev_t dev; /* what must be there, if `is_opened`; a path of the host's then */
    ino_t ino;
    bool is_opened;
};

/* What nobody inside may write or make, whether it is there or not. */
struct plan_write_rule {
    const char *root;    /* a directory of the box */
    const char *pattern; /* relative to it */
    struct origin origin;
    enum notify_review_kind gate;
    size_t lifted_from, lifted_to; /* by these of the plan's exceptions */
};

/* A part of a protected root that is also shown elsewhere: the same names, the same rules. */
struct plan_alias {
    const char *target;    /* in the box */
    const char *canonical; /* where the rules know it */
};

struct plan_write_root {
    const char *path; /* in the box */
    int fd;           /* the directory on the host, the plan's; -1: no gate is needed there */
};

struct plan_landlock {
    uint64_t fs, net, scoped;
    size_t attr_size;
    struct plan_landlock_rule *rules;
    size_t n_rules;
};

/*
 * Who a box is on the host when root starts it and the workspace belongs to root: a user that no
 * distribution hands out, shown as the owner by mapping the mounts.
 */
#define PLAN_UNPRIVILEGED_ID 2000000000u

/* Strings, each with its NUL, and an empty one at the end. */
struct plan_strings {
    char *text; /* the plan's; NULL: there is none */
    size_t length, capacity;
};

/* What the host can do, as far as a plan depends on it. */
struct host {
    uid_t uid;
    gid_t gid;
    bool is_root; /* of the first user namespace: uid 0 of another is an ordinary user */
    int landlock_abi;
    bool namespaces;         /* assumed until a clone fails */
    bool mount_setattr;      /* Linux 5.12 */
    bool nproc_by_namespace; /* RLIMIT_NPROC counts in the user namespace: Linux 5.14 */
};

/* Which limit is held by what, for the result; NULL: not held. */
struct plan_enforced {
    const char *walls[COOP_WALL_COUNT];
    const char *limits[COOP_LIMIT_COUNT];
};

/* The git directory of the workspace where that is elsewhere; target NULL: there is none. */
struct plan_git {
    const char *source; /* on the host */
    const char *target; /* in the box */
    const char *link;   /* a path of the box that leads to the workspace too; NULL: none */
    int fd;
};

/* What of the workspace is shown: all of it, or the directory in it that the policy names. */
struct plan_shown {
    const char *source; /* on the host */
    const char *target; /* in the box */
    const char *below;  /* of the workspace; "" for all */
    int fd;
};

/* What the gate is told, and what makes a network namespace lead to it. */
struct plan_gate {
    struct gate_inside inside;
    struct buffer rules; /* gate/rules.h */
};

/* The same for coop-nat, and what makes a network namespace refuse what is not the internet. */
struct plan_nat {
    struct nat_inside inside;
    struct buffer rules;
};

/* Which calls init looks at besides those that it serves or refuses: init/notify/watch.h. */
enum plan_watch {
    PLAN_WATCH_REFUSED,
    PLAN_WATCH_WRITES,
    PLAN_WATCH_LOOKUPS,
    PLAN_WATCH_NOTHING /* not even those that are refused */
};

struct plan {
    coop_tier tier;
    const coop_policy *policy; /* borrowed */
    struct step *steps;
    size_t n_steps, steps_capacity;
    uint64_t namespaces; /* CLONE_NEW* */
    uid_t inside_uid, outside_uid;
    gid_t inside_gid, outside_gid;
    bool map_owners;     /* sources are mapped so that their owner is the box's user */
    uid_t workspace_uid; /* its owner on the host */
    gid_t workspace_gid;
    int workspace_fd;
    const char *workspace;      /* on the host; absolute for same-path and for reading */
    const char *workspace_view; /* in the box */
    struct plan_shown shown;
    const char *directory; /* to start in */
    char **environment;
    size_t n_environment;
    char **argv;
    char **candidates; /* what to execute: each tried in order */
    struct plan_git git;
    struct plan_protected *protected; /* until the guard takes it: plan/protect_watch.h */
    const char *git_excludes;         /* for git: hidden names, a line each; NULL: none */
    size_t n_masks;                   /* files made for them */
    size_t n_mask_inodes;             /* at most */
    struct plan_gate *gate;           /* NULL: there is none */
    struct plan_nat *nat;             /* NULL: the network is another */
    struct plan_enforce *enforce;     /* which programs there are, plan/enforce.h; NULL: all */
    struct plan_landlock landlock;
    struct plan_landlock
        backstop; /* the second layer: nothing may be written or made where paths are
                                * protected; init does it on behalf */
    struct plan_write_rule *write_rules;
    size_t n_write_rules, write_rules_capacity;
    struct plan_write_rule *lifts; /* exceptions to them, those of one root by growing weight */
    size_t n_lifts, lifts_capacity;
    struct plan_alias aliases[16];
    size_t n_aliases;
    struct plan_strings held; /* directories with something hidden below: they may not be moved */
    struct plan_write_root write_roots[NOTIFY_ROOTS_MAX];
    size_t n_write_roots;
    char *
        write_rule_texts; /* the same for people, kept while the box runs: plan_write_rule_text() */
    bool is_shared;       /* other boxes are at work in the workspace */
    bool is_still;        /* but nothing in it has changed for a while */
    bool ignores_case; /* protected names are compared so: the policy or the file system wants it */
    bool has_own_tmp;  /* nothing of the host is at /tmp */
    char *note;        /* a sentence about the view that somebody may not expect; NULL: none */
    bool is_root_view; /* the workspace is "/": plan/root_view.h */
    struct plan_strings outside; /* then: paths of the box that are not the workspace's */
    struct plan_strings hidden;  /* then: names of its top level that may not be read */
    char *packed_rules;          /* the same for init: plan/rules/packed.h */
    size_t packed_rules_length;
    const struct sock_filter *seccomp;
    unsigned short seccomp_length;
    struct plan_enforced enforced;
    enum plan_watch watch;
    struct plan_watchfs *watchfs; /* what is watched by FUSE; NULL: nothing */
    bool wants_watchfs;           /* and this plan makes them */
    bool watch_memory;            /* no cgroup holds the memory limit: the supervisor samples */
    bool counts_pids; /* RLIMIT_NPROC holds the limit, and nobody says when it is reached */
    bool has_tty;
    struct sources sources;
    int *source_fds; /* one for each mount of the policy; 0: not opened yet */
    int *fds;        /* sources, held so that their inode numbers stay theirs */
    size_t n_fds, fds_capacity;
    struct plan_chunk *chunks; /* everything above that is not borrowed */
    bool failed;               /* out of memory somewhere above */
};

/*
 * A view can be made once and used by many boxes: what depends on the policy alone is in the
 * template, what is private to a box is mounted on top of it.
 */
enum plan_part { PLAN_WHOLE, PLAN_TEMPLATE, PLAN_ON_TEMPLATE };

struct plan_request {
    enum plan_part part;
    const struct plan *template; /* PLAN_ON_TEMPLATE: what it shows */
    bool shares_network;         /* PLAN_ON_TEMPLATE: an empty network namespace is there already */
    char *const *argv;
    const char *const *env_pass; /* NULL-ended, may be NULL */
    const char *directory;       /* to start in; NULL: the policy's */
    const int *tmp_fd;           /* a detached mount that is to be /tmp; NULL: one of its own */
    const char *session;         /* of this run; NULL: there is none, it is for reading */
    const char *created;
    const int *keep_fds;
    size_t n_keep_fds;
    /* Asked once, with the workspace: are others at work there? May be NULL. */
    bool (*is_shared)(void *context, int workspace_fd);
    void *context;
    bool tty;
    enum plan_watch watch;                       /* at least so much */
    bool watchfs;                                /* what is hidden, by FUSE: watchfs_nodes.h */
    bool is_for_reading;                         /* the plan will be shown, not run */
    bool cgroup_memory, cgroup_pids, cgroup_cpu; /* limits that a cgroup will hold */
    const char *cgroup_kind;                     /* "cgroup v2", "cgroup v1" */
};

/* Where git in the box finds its excludes. */
#define PLAN_GIT_EXCLUDES "/run/coop-git-exclude"

/* A fast look, without a child: what every run needs. */
void host_look(struct host *host);

/* Compiles `policy` for `host`. Looks at sources (they must exist) but changes nothing. */
int plan_compile(struct plan *plan, const coop_policy *policy, const struct host *host,
                 const struct plan_request *request, coop_error **err);
/* Only finds the workspace: where it is on the host, and where the box would show it. No steps. */
int plan_locate(struct plan *plan, const coop_policy *policy, const struct host *host,
                coop_error **err);
/* After the launch: keeps the tier, what is enforced by what, and the policy. */
void plan_release(struct plan *plan);
void plan_done(struct plan *plan);

/* Building. Text is copied into the plan; NULL results mean out of memory, noted in `failed`. */
struct step *plan_add(struct plan *plan, enum step_kind kind, enum step_phase phase);
char *plan_text(struct plan *plan, const char *format, ...) __attribute__((format(printf, 2, 3)));
void *plan_memory(struct plan *plan, size_t size);
char *plan_copy(struct plan *plan, const char *text);
int plan_hold_fd(struct plan *plan, int fd); /* takes it; -ENOMEM leaves it the caller's */
/* A mount source: O_PATH, the plan's; nothing of the kernel's. */
int plan_open_source(struct plan *plan, const char *path, coop_error **err);
/* That of the policy's mount with this number, opened once. */
int plan_source(struct plan *plan, size_t mount, coop_error **err);

/* The parts of compiling, in the order of the tree. */
int plan_workspace(struct plan *plan, const struct host *host, const struct plan_request *request,
                   coop_error **err);
int plan_view(struct plan *plan, const struct plan_request *request, coop_error **err);
int plan_environment(struct plan *plan, const struct plan_request *request, coop_error **err);
int plan_landlock(struct plan *plan, const struct host *host, const struct plan_request *request,
                  coop_error **err);
/* The backstop, where plan_write_rule_add() was called. */
int plan_backstop(struct plan *plan, const struct host *host, const struct plan_request *request,
                  coop_error **err);
void plan_write_rule_add(struct plan *plan, const struct plan_write_rule *write_rules);
void plan_lift_add(struct plan *plan, const struct plan_write_rule *exception);
void plan_write_root(struct plan *plan, const char *root, int fd);
void plan_alias_add(struct plan *plan, const char *target, const char *canonical);
/* The pattern and where it stands; false if there is no such rule. */
bool plan_write_rule_text(const struct plan *plan, int rule, const char **pattern,
                          const char **origin);
int plan_packed_rules(struct plan *plan, bool ignore_case, coop_error **err);
void plan_limits(struct plan *plan, const struct host *host, const struct plan_request *request);
void plan_watches(struct plan *plan);
void plan_last_limits(struct plan *plan);
/* Whether a limit that a cgroup should hold is held by something weaker. */
bool plan_limit_fell_back(const struct plan *plan, coop_limit limit);
/* network.c */
int plan_network(struct plan *plan, const struct plan_request *request, coop_error **err);
/* What enforces the mode where there are namespaces; the text of /etc/resolv.conf, NULL: the host's. */
const char *plan_network_layer(const struct plan *plan);
const char *plan_network_resolver(const struct plan *plan);
void plan_gate_done(struct plan *plan);
int plan_nat(struct plan *plan, coop_error **err);
void plan_nat_done(struct plan *plan);
int plan_command(struct plan *plan, const struct plan_request *request, coop_error **err);

/* Words. */
void plan_describe_step(const struct plan *plan, size_t index, char *out, size_t size);
