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
    COOP_NETWORK_HOST, /* the host's own network */
    COOP_NETWORK_GATE, /* the hosts that are allowed, by name, and nothing else */
    COOP_NETWORK_NAT   /* the internet through the host, but not the host and its local networks */
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
    COOP_LIMIT_TMP_SIZE     /* bytes of /tmp, /var/tmp, /run and /dev/shm together */
} coop_limit;
/* Old: a later library may have more. Not in the next release. */
#define COOP_LIMIT_COUNT (COOP_LIMIT_TMP_SIZE + 1)
#define COOP_LIMIT_NONE  UINT64_MAX

/* What a rule about names in the workspace says of those that it matches. */
typedef enum coop_protect {
    COOP_PROTECT_SHOW, /* an exception: neither hidden nor kept */
    COOP_PROTECT_HIDE, /* cannot be read */
    COOP_PROTECT_KEEP  /* can be read, not written */
} coop_protect;

/* How the rules about commands are held. */
typedef enum coop_command_strength {
    COOP_COMMANDS_OFF,    /* not at all: everything may run */
    COOP_COMMANDS_CHECK,  /* what is asked for is decided before it starts */
    COOP_COMMANDS_ENFORCE /* and nothing else can be executed in the box */
} coop_command_strength;

/* What a command can be told about its run, each in the variable COOP_ and the name. */
typedef enum coop_fact {
    COOP_FACT_SESSION,   /* an id of the run */
    COOP_FACT_WORKSPACE, /* the workspace as the box sees it */
    COOP_FACT_CREATED,   /* when it was started, in UTC: 2024-02-29T12:00:00Z */
    COOP_FACT_CAMPAIGN,
    COOP_FACT_PROVIDER,
    COOP_FACT_SOCKET,
    COOP_FACT_MEMORY /* the directory of the memory stores */
} coop_fact;
/* Old: a later library may have more. Not in the next release. */
#define COOP_FACT_COUNT (COOP_FACT_MEMORY + 1)

COOP_API int coop_policy_new(coop_policy **out, coop_error **err);
COOP_API void coop_policy_free(coop_policy *policy); /* NULL is fine */

/* The one directory of the host that the command may change. Default: the current directory. */
COOP_API int coop_policy_set_workspace(coop_policy *policy, const char *directory,
                                       coop_error **err);
/* Shows the workspace at its host path instead of /work. */
COOP_API int coop_policy_set_same_path(coop_policy *policy, bool same_path, coop_error **err);

/*
 * Instead of a workspace: shows what is in this directory as the box's own root, "/src" for its
 * "src", with /usr, /etc and the rest beside it. Names at its top level that the box has itself are
 * not shown. Nothing is made in the directory but what the command makes. Excludes
 * coop_policy_set_workspace() and coop_policy_set_same_path().
 */
COOP_API int coop_policy_set_root(coop_policy *policy, const char *directory, bool read_only,
                                  coop_error **err);

/* Whether the workspace, or the root, and a git directory that comes along with it can only be read;
 * default: false. Mounts are as they were added. */
COOP_API int coop_policy_set_read_only(coop_policy *policy, bool read_only, coop_error **err);
/*
 * Shows of the workspace, or of the root, this directory in it and nothing else, where it always was:
 * "/work/src" for "src". A slash at the beginning stands for the workspace itself, "/" for all of it,
 * which is the default. No part of the path may be a symbolic link when a command starts. Mounts stay.
 */
COOP_API int coop_policy_set_restrict(coop_policy *policy, const char *directory, coop_error **err);

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

/* Names that begin with COOP_ or the second prefix are refused: what a program reads there is coop's. */
COOP_API int coop_policy_set_env(coop_policy *policy, const char *name, const char *value,
                                 coop_error **err);
/* Tells the command a fact. The first three may be NULL: coop then finds the value out at each
 * start, a random one for the session. A new policy tells none. */
COOP_API int coop_policy_set_fact(coop_policy *policy, coop_fact fact, const char *value,
                                  coop_error **err);
/* Facts also appear under this prefix, such as "OBEY_", which is reserved then too. */
COOP_API int coop_policy_set_second_prefix(coop_policy *policy, const char *prefix,
                                           coop_error **err);
/*
 * Gives the command a value in a variable, stronger than any other, that is shown nowhere: where the
 * command prints it, captured output and on_output have "[secret NAME]" instead. That catches
 * accidents; a command that wants to can spell it in other ways. Values of fewer than four bytes are
 * given, but not looked for, and neither is anything on a terminal (coop_box_terminal()). Copies of
 * the value are kept out of core dumps and wiped.
 */
COOP_API int coop_policy_add_secret(coop_policy *policy, const char *name, const char *variable,
                                    const char *value, coop_error **err);
/* Directory in the box to start in; relative ones begin at the workspace. */
COOP_API int coop_policy_set_directory(coop_policy *policy, const char *directory,
                                       coop_error **err);
/* The user id seen inside; outside it is always the caller's own, or an unprivileged one. */
COOP_API int coop_policy_set_uid(coop_policy *policy, uint32_t uid, coop_error **err);
COOP_API int coop_policy_set_hostname(coop_policy *policy, const char *name, coop_error **err);
COOP_API int coop_policy_set_network(coop_policy *policy, coop_network network, coop_error **err);
/*
 * Hosts that the box may connect to: "github.com:443", "*.example.org" (names below it),
 * "10.1.2.0/24:5432", "example.org:8000-8010", "localhost:3000" (the box's own
 * loopback leads to the host's at this port).
 * What is denied is denied whatever else allows it. A policy whose network nobody has chosen has
 * COOP_NETWORK_GATE from the first of these calls on. Names that lead to private addresses are
 * refused unless a rule names the address.
 */
COOP_API int coop_policy_allow_host(coop_policy *policy, const char *host, coop_error **err);
COOP_API int coop_policy_deny_host(coop_policy *policy, const char *host, coop_error **err);
/* The host's 127.0.0.1:OUTSIDE leads to the box's 127.0.0.1:INSIDE. */
COOP_API int coop_policy_add_publish(coop_policy *policy, uint16_t outside, uint16_t inside,
                                     coop_error **err);
/* With the gate: sets https_proxy and the like, for programs that insist on a proxy. */
COOP_API int coop_policy_set_proxy_env(coop_policy *policy, bool enabled, coop_error **err);

/*
 * Requests of the box to http://NAME.coop.internal are sent on to `host` over verified TLS, with a
 * header field that holds the value. The box never has it. One request for each connection; answers,
 * uploads and WebSockets pass as they are.
 */
typedef struct coop_credential {
    size_t size;          /* sizeof(coop_credential) */
    const char *name;     /* small letters, digits and '-' */
    const char *host;     /* HOST or HOST:PORT; without a port, 443 */
    const char *header;   /* NULL: "Authorization" */
    const char *prefix;   /* NULL: "Bearer " in Authorization, nothing in others */
    const char *secret;   /* what people call it; NULL: the name */
    const char *value;    /* at most 4096 bytes, no control characters */
    const char *variable; /* of the box, set to the address of such requests; NULL: none */
    const char *ca_file;  /* certificates to believe besides those of the host; NULL: none */
} coop_credential;

/* Copies what it needs; the value is wiped at the end. Only with COOP_NETWORK_GATE, which a policy
 * whose network nobody has chosen has from then on. */
COOP_API int coop_policy_add_credential(coop_policy *policy, const coop_credential *credential,
                                        coop_error **err);
COOP_API int coop_policy_set_mode(coop_policy *policy, coop_mode mode, coop_error **err);
COOP_API int coop_policy_set_profile(coop_policy *policy, coop_profile profile, coop_error **err);
COOP_API int coop_policy_set_limit(coop_policy *policy, coop_limit limit, uint64_t value,
                                   coop_error **err);
/*
 * Any setting that is one value, by its key in coop-policy(5) and with the value as a file has it,
 * without quotes: "sandbox.memory", "2g".
 */
COOP_API int coop_policy_set(coop_policy *policy, const char *key, const char *value,
                             coop_error **err);
/*
 * Shows this unix socket of the host, at its own path, and lets the command connect to it and to no
 * other: to what is there when the box starts. Streams only: a datagram socket could send anywhere.
 */
COOP_API int coop_policy_add_socket(coop_policy *policy, const char *path, coop_error **err);
/*
 * A workspace, or a root, that is or holds a whole home directory is refused when a box is made, unless
 * this says that it is meant.
 */
COOP_API int coop_policy_set_whole_home(coop_policy *policy, bool allowed, coop_error **err);
/* Lets the command connect to unix sockets of the host that its view contains, to all of them. */
COOP_API int coop_policy_set_host_sockets(coop_policy *policy, bool allowed, coop_error **err);

/*
 * Which commands may run; default: all. With the strength `check` a command that no rule allows is
 * refused before anything is started (COOP_ERROR_DENIED); shell text behind `sh -c` is taken apart
 * for it, and refused where it cannot be decided. With `enforce` the box also holds no other
 * programs, and the kernel executes no other files.
 */
COOP_API int coop_policy_set_command_strength(coop_policy *policy, coop_command_strength strength,
                                              coop_error **err);
COOP_API int coop_policy_allow_command(coop_policy *policy, const char *name, coop_error **err);
/* Of this command only such sub-commands; a pattern is words and flags, as "remote add". */
COOP_API int coop_policy_allow_subcommand(coop_policy *policy, const char *name,
                                          const char *pattern, coop_error **err);
/* Not such sub-commands, as "push --force". */
COOP_API int coop_policy_block_subcommand(coop_policy *policy, const char *name,
                                          const char *pattern, coop_error **err);
/* For `enforce`: what it executes or loads besides itself, a program's name or an absolute path. */
COOP_API int coop_policy_add_command_need(coop_policy *policy, const char *name, const char *need,
                                          coop_error **err);
/* The program is asked (PROGRAM __manifest) which sub-commands are not for agents. */
COOP_API int coop_policy_set_command_manifest(coop_policy *policy, const char *name, bool manifest,
                                              coop_error **err);

/*
 * The only way to derive a policy at run time: the child can do at most what the parent could.
 *
 *   coop_policy_new(&request, &err);
 *   coop_policy_set_network(request, COOP_NETWORK_OFF, &err);
 *   coop_policy_set_restrict(request, "src", &err);
 *   coop_policy_set_read_only(request, true, &err);
 *   coop_policy_narrow(parent, request, &child, &err);
 *
 * Of the request only what was set by a call counts; all else is as in the parent. Blocks and rules
 * that protect are added to the parent's. Where the child may only read, so it may of the parent's
 * mounts; where it is restricted, mounts outside that directory are gone. A mount of the request is
 * one of the parent's, named again with the same source and target to keep it, or to make it read-only
 * or smaller, or a directory in a read-only one.
 * A variable or a secret is one of the parent's, with its value; of commands, those are left that both
 * allow. What asks for more is refused with -EPERM and a sentence that begins with the dimension:
 * "network: ...". *out is the caller's to free.
 */
COOP_API int coop_policy_narrow(const coop_policy *parent, const coop_policy *request,
                                coop_policy **out, coop_error **err);
/* For requests: of mounts, or of variables and secrets, only those that are added afterwards are
 * wanted. What lay under a mount that is dropped stays hidden. */
COOP_API int coop_policy_drop_mounts(coop_policy *request, coop_error **err);
COOP_API int coop_policy_drop_env(coop_policy *request, coop_error **err);

/* SHA-256 of everything above, 64 hexadecimal digits: two policies with one digest allow the same.
 * Of secrets only the names count: nobody can try values against it. */
COOP_API const char *coop_policy_digest(const coop_policy *policy);

#ifdef __cplusplus
}
#endif

#endif
