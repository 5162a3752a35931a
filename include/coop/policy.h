/*
 * coop/policy.h - what a command may see and do, as a value
 *
 *   coop_policy_new() -> coop_policy_set_...(), coop_policy_add_...() -> coop_sandbox_new()
 *                     -> coop_policy_free()
 *
 * A new policy is the default box: the workspace read-write at /work, the host's tools read-only,
 * a private /tmp, no network but a private loopback, 2 GiB of memory, 512 processes, secrets and
 * hooks in the workspace protected, mode `required`. Each call copies what it is given. Bad values are refused by the call that brings
 * them. A policy is used by one thread at a time; a sandbox keeps its own copy.
 */
#ifndef COOP_POLICY_H
#define COOP_POLICY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "coop/error.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct coop_policy coop_policy;

typedef enum coop_network {
    COOP_NETWORK_NONE, /* a private loopback and nothing else */
    COOP_NETWORK_OFF,  /* no sockets but AF_UNIX, not even loopback */
    COOP_NETWORK_HOST  /* the host's own network */
} coop_network;

typedef enum coop_mode {
    COOP_MODE_REQUIRED,  /* refuse to run below the full tier */
    COOP_MODE_PREFERRED, /* run at the best tier the host has, and say which */
    COOP_MODE_DISABLED   /* run on the host, and say so */
} coop_mode;

typedef enum coop_profile {
    COOP_PROFILE_DEFAULT,
    COOP_PROFILE_DEV /* debuggers work: ptrace and friends among the box's own processes */
} coop_profile;

/* Limits: what COOP_LIMIT_NONE lifts, the host's own limits still hold. */
typedef enum coop_limit {
    COOP_LIMIT_MEMORY,      /* bytes, all processes of the box together */
    COOP_LIMIT_PIDS,        /* processes and threads */
    COOP_LIMIT_CPUS,        /* thousandths of a CPU: 1500 is one and a half */
    COOP_LIMIT_CPU_SECONDS, /* CPU time of each process */
    COOP_LIMIT_FILE_SIZE,   /* bytes of each file written */
    COOP_LIMIT_OPEN_FILES,  /* descriptors of each process */
    COOP_LIMIT_TMP_SIZE,    /* bytes of /tmp, /var/tmp, /run and /dev/shm together */
    COOP_LIMIT_COUNT
} coop_limit;
#define COOP_LIMIT_NONE UINT64_MAX

/* What a rule about names in the workspace says of those that it matches. */
typedef enum coop_protect {
    COOP_PROTECT_SHOW, /* an exception: neither hidden nor kept */
    COOP_PROTECT_HIDE, /* cannot be read */
    COOP_PROTECT_KEEP  /* can be read, not written */
} coop_protect;

COOP_API int coop_policy_new(coop_policy **out, coop_error **err);
COOP_API void coop_policy_free(coop_policy *policy); /* NULL is fine */

/* The one directory of the host that the command may change. Default: the current directory. */
COOP_API int coop_policy_set_workspace(coop_policy *policy, const char *directory,
                                       coop_error **err);
/* Shows the workspace at its host path instead of /work. */
COOP_API int coop_policy_set_same_path(coop_policy *policy, bool same_path, coop_error **err);

/* Shows a host file or directory; target NULL means the same path as on the host. */
COOP_API int coop_policy_add_bind(coop_policy *policy, const char *source, const char *target,
                                  bool read_only, coop_error **err);
/* A fresh private file system in memory; size 0 means that of /tmp. */
COOP_API int coop_policy_add_tmpfs(coop_policy *policy, const char *target, uint64_t size,
                                   bool read_only, coop_error **err);
/* Hides a path of the box; relative paths begin at the workspace. */
COOP_API int coop_policy_add_block(coop_policy *policy, const char *path, coop_error **err);

/*
 * A rule for names in the workspace. The pattern is relative to it: '*' and '?' stay within a name,
 * a '**' that stands for itself spans directories, [a-z] is one character. Of several that match, the
 * most specific decides, the later one of equals. A new policy protects what usually holds secrets
 * (.env, keys, passwords) or makes the owner's own tools run something (.git/hooks, .vscode ...).
 */
COOP_API int coop_policy_add_protect(coop_policy *policy, const char *pattern, coop_protect action,
                                     coop_error **err);
/* Whether the built-in rules hold; default: true. */
COOP_API int coop_policy_set_protect_defaults(coop_policy *policy, bool enabled, coop_error **err);
/* Whether the patterns of all rules ignore case; default: false. */
COOP_API int coop_policy_set_protect_ignore_case(coop_policy *policy, bool ignore_case,
                                                 coop_error **err);

COOP_API int coop_policy_set_env(coop_policy *policy, const char *name, const char *value,
                                 coop_error **err);
/* Directory in the box to start in; relative ones begin at the workspace. */
COOP_API int coop_policy_set_directory(coop_policy *policy, const char *directory,
                                       coop_error **err);
/* The user id seen inside; outside it is always the caller's own, or an unprivileged one. */
COOP_API int coop_policy_set_uid(coop_policy *policy, uint32_t uid, coop_error **err);
COOP_API int coop_policy_set_hostname(coop_policy *policy, const char *name, coop_error **err);
COOP_API int coop_policy_set_network(coop_policy *policy, coop_network network, coop_error **err);
COOP_API int coop_policy_set_mode(coop_policy *policy, coop_mode mode, coop_error **err);
COOP_API int coop_policy_set_profile(coop_policy *policy, coop_profile profile, coop_error **err);
COOP_API int coop_policy_set_limit(coop_policy *policy, coop_limit limit, uint64_t value,
                                   coop_error **err);
/* Lets the command connect to unix sockets of the host that its view contains. */
COOP_API int coop_policy_set_host_sockets(coop_policy *policy, bool allowed, coop_error **err);

/* SHA-256 of everything above, 64 hexadecimal digits: two policies with one digest allow the same. */
COOP_API const char *coop_policy_digest(const coop_policy *policy);

#ifdef __cplusplus
}
#endif

#endif
