/*
 * probe.h - the parts of coop_probe(): tries, the facts they leave, and the verdicts on them
 *
 *   probe_host_look()   what can be read: container, security modules, privileges
 *   probe_box_try()     one child in new namespaces tries everything that a box is made of
 *   probe_...()         one function per line of the table in probe.c: looks at the facts, or tries
 *                       on its own, and says available or not, why, and what would mend it
 *
 * Tries run in children that share our memory (sys_clone()), so they are cheap and safe in a
 * threaded host; what runs in a child is named ..._child, makes raw() calls only, and leaves its
 * results in memory. Whatever a child opens, mounts or restricts ends with it.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "coop/probe.h"

/* A try leaves 0 or -errno; this is what stands there before. */
#define PROBE_NOT_TRIED 1

struct probe_host {
    char kernel[128];
    uid_t uid;
    gid_t gid;
    bool is_admin;         /* CAP_SYS_ADMIN where we are */
    bool is_dumpable;      /* else our own /proc/self belongs to root */
    int seccomp;           /* 2: a filter is already on us */
    long namespace_filter; /* 0, or the errno a seccomp filter answers to new user namespaces */
    const char *container; /* "docker", "podman", "lxc" ... or NULL */
    char lsm[128];         /* names of the active security modules; empty when unknown */
    char label[128];       /* ours, as the security module has it */
};

/* Everything that happens in namespaces, in the order tried. */
struct probe_box {
    uint64_t namespaces; /* those the child was made with */
    uid_t uid;
    gid_t gid;
    char uid_map[48], gid_map[48];
    long clone;
    long setgroups, write_uid_map, write_gid_map;
    long make_private, mount_old;             /* mount(2) */
    long fsopen, fsmount, attach, clone_tree; /* the new mount API */
    long setattr;                             /* recursive read-only, seen to hold */
    long proc, overlay, devpts, loopback;
    char label[128]; /* the security module's name for the child */
};

enum probe_namespace {
    PROBE_MOUNT_NS,
    PROBE_PID_NS,
    PROBE_IPC_NS,
    PROBE_UTS_NS,
    PROBE_NETWORK_NS,
    PROBE_CGROUP_NS,
    PROBE_NAMESPACES
};

enum probe_controller { PROBE_MEMORY, PROBE_PIDS, PROBE_CPU, PROBE_CONTROLLERS };

struct probe_cgroup {
    char v2_directory[512]; /* where a box's cgroup would be made */
    char v2_mount[512];
    bool v2_mounted;
    long v2_mkdir, v2_enter; /* in the best of our own cgroup and those above */
    unsigned v2_present;     /* bit per controller: the directory has it */
    unsigned v2_usable;      /* bit per controller: on for its children, or can be put on */
    bool v2_has_processes;   /* of its own, so nothing more can be put on */
    char v1_directory[PROBE_CONTROLLERS][512];
    long v1[PROBE_CONTROLLERS];
};

struct coop_probe {
    struct probe_host host;
    struct probe_box box;
    long namespaces[PROBE_NAMESPACES]; /* each with a user namespace of its own */
    struct probe_cgroup cgroup;
    int landlock_abi;
    long landlock; /* why the version was refused */
    coop_tier tier;
    char summary[64];
    coop_capability *capabilities;
    size_t n_capabilities;
};

/* The words of one line. Running out of memory is remembered and ends the probe. */
struct probe_verdict {
    bool available;
    char *detail;
    char *fix;
    bool no_memory;
};
void verdict_yes(struct probe_verdict *verdict, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void verdict_no(struct probe_verdict *verdict, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void verdict_fix(struct probe_verdict *verdict, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* "Operation not permitted", or for ENOSYS which Linux brings it. `since` may be NULL. */
void verdict_refused(struct probe_verdict *verdict, const struct coop_probe *probe, long r,
                     const char *what, const char *since);

/* Runs fn in a child in the given new namespaces and waits. The child's exit status, or -errno. */
long probe_child(uint64_t namespaces, int (*fn)(void *), void *arg);
/* A child in a new user namespace that does nothing until it is let go. */
struct probe_held {
    void *stack;
    pid_t pid;
    pid_t parent;
    int pidfd;
};
long probe_hold(struct probe_held *held);
void probe_let_go(struct probe_held *held);

/* The first bytes of a small file as text, without the last newline; -errno when unreadable. */
long probe_read(const char *path, char *out, size_t size);
long probe_read_number(const char *path, long fallback);
/* 'y', 'm', 'n' as /boot/config-* of the running kernel says, 0 when that cannot be read. */
char probe_kernel_config(const struct coop_probe *probe, const char *option);

/* /proc/self/mountinfo, line by line: pointers into the text, which they take apart. */
struct probe_mount {
    char *device, *root, *target, *type, *options; /* device: "8:1" */
};
char *probe_mounts_read(void); /* the caller's to free; NULL when unreadable */
bool probe_mounts_next(char **cursor, struct probe_mount *mount);

void probe_host_look(struct coop_probe *probe);
void probe_box_try(struct coop_probe *probe);
void probe_cgroup_try(struct coop_probe *probe);
void probe_landlock_try(struct coop_probe *probe);
/* The fix for what the kernel's command line decides. */
void probe_fix_boot(const struct coop_probe *probe, struct probe_verdict *verdict,
                    const char *words);
const char *probe_container_option(const struct coop_probe *probe, const char *docker,
                                   const char *podman);

typedef void probe_fn(const struct coop_probe *probe, struct probe_verdict *verdict);
probe_fn probe_user_namespaces, probe_id_maps;
probe_fn probe_mount_namespace, probe_pid_namespace, probe_ipc_namespace, probe_uts_namespace;
probe_fn probe_network_namespace, probe_loopback, probe_cgroup_namespace;
probe_fn probe_mount_api, probe_mount_setattr, probe_idmapped_mounts, probe_fresh_proc;
probe_fn probe_overlay, probe_devpts;
probe_fn probe_landlock, probe_landlock_refer, probe_landlock_truncate, probe_landlock_tcp;
probe_fn probe_landlock_ioctl, probe_landlock_scopes, probe_landlock_audit;
probe_fn probe_seccomp, probe_seccomp_notify;
probe_fn probe_clone3, probe_pidfd, probe_close_range, probe_openat2, probe_memfd;
probe_fn probe_cgroup_v2, probe_cgroup_v1;
probe_fn probe_limit_memory, probe_limit_pids, probe_limit_cpu;
probe_fn probe_newuidmap, probe_systemd_scope, probe_fuse, probe_yama, probe_nat;
