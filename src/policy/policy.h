/*
 * policy.h - the policy value and its parts, as the plan reads them
 *
 * Pure: nothing here looks at the host. Paths are checked for form only.
 */
#pragma once

#include "base/finding.h"
#include "base/host/host_rule.h"
#include "command/rules.h"
#include "coop/policy.h"
#include "settings/setting.h"

enum policy_mount_kind { POLICY_BIND, POLICY_TMPFS, POLICY_BLOCK };

struct policy_mount {
    enum policy_mount_kind kind;
    bool read_only;
    char *source;         /* host path; NULL for tmpfs and blocks */
    char *target;         /* absolute and normal; a block's may be relative to the workspace */
    uint64_t size;        /* tmpfs; 0: that of /tmp */
    struct origin origin; /* its name is the policy's; NULL: not known */
    bool is_socket;       /* a unix socket of the host, which may be connected to */
    bool is_secret;       /* a block of what a table says is secret: plan/secret_hide.h */
    bool is_own;          /* likewise, of coop's own files */
    bool is_store;        /* of memory: coop's own, and meant to be used */
    bool is_replaceable;  /* some box that this policy was narrowed for could put links there */
    unsigned rank;        /* of who named it: restriction.h */
};

struct policy_variable {
    char *name;
    char *value;
    struct origin origin; /* a flag's, whose name is never freed; else the configuration knows */
    bool is_for_boxes;    /* written by the agent's side: a command on the host does not get it */
};

/* Its value is in no other member, and goes nowhere but into the command's environment. */
struct policy_secret {
    char *name;  /* as people call it */
    char *entry; /* "VARIABLE=VALUE", in secret memory */
    size_t n_variable;
};

/* credentials.h. Its value goes nowhere but to the program that adds it to requests. */
struct policy_credential {
    char *name; /* of NAME.coop.internal */
    char *host;
    uint16_t port;
    char *header;         /* the field that holds it */
    char *prefix;         /* what stands before it there */
    char *secret;         /* as people call it */
    char *variable;       /* tells the box the address of its requests; NULL: none */
    char *ca;             /* a file of certificates that are believed too; NULL: none */
    char *value;          /* secret memory */
    struct origin origin; /* its name is the policy's */
};

/* A rule for names in the workspace; the built-in ones are not in the policy. */
struct policy_protect {
    char *pattern;
    coop_protect action;
    struct origin origin; /* its name is the policy's */
};

/* A rule about hosts, for the gate: hosts.h. */
struct policy_host {
    struct host_rule rule;
    bool is_denied;
    struct origin origin; /* its name is the policy's */
};

struct policy_publish {
    uint16_t outside, inside; /* ports */
};

/* commands.h */
struct policy_commands {
    coop_command_strength strength;
    struct command_rules rules;
    char **names; /* of files that rules come from */
    size_t n_names;
};

struct coop_policy {
    uint64_t set; /* bits by enum setting: what a caller has set, as opposed to what merely has its
                     default; of lists, that there are no others. See coop_policy_narrow(). */
    char *workspace;   /* NULL: the current directory */
    char *root;        /* instead of a workspace: the directory that is "/"; NULL: none */
    bool read_only;    /* the workspace or the root */
    char *restrict_to; /* "/src": of it, only what is here or below; NULL: all */
    char *directory;   /* NULL: the workspace */
    char *memory;      /* where the configuration puts memory stores, coop's own; NULL: as usual */
    char *hostname;
    bool same_path;
    bool links_own_path; /* else a link at its own path leads to the workspace */
    bool has_uid;
    bool host_sockets;
    bool whole_home; /* the workspace may hold home directories */
    uint32_t uid;
    /* What the box has by itself, in order (policy/view/defaults.h), for a front end that builds its own
     * view. Borrowed: outlives every copy of the policy. NULL: the usual, view_defaults. */
    const struct view_default *view;
    coop_network network;
    struct policy_host *hosts;
    size_t n_hosts;
    struct policy_publish *publish;
    size_t n_publish;
    bool proxy_env;
    bool require_sni;
    coop_mode mode;
    coop_profile profile;
    uint64_t limits[COOP_LIMIT_COUNT];
    struct policy_mount *mounts;
    size_t n_mounts;
    struct policy_variable *variables;
    size_t n_variables;
    bool tells[COOP_FACT_COUNT];
    char *facts[COOP_FACT_COUNT]; /* NULL: found out at each start */
    char *second_prefix;          /* NULL: none */
    struct policy_secret *secrets;
    size_t n_secrets;
    struct policy_credential *credentials;
    size_t n_credentials;
    struct policy_protect *protects;
    size_t n_protects;
    bool no_protect_defaults;
    bool protect_ignore_case;
    struct policy_commands commands;
    struct origin notes[SETTINGS]; /* names are the policy's; NULL: nobody set it */
    uint64_t values[SETTINGS];     /* of settings that have no member: policy_get() */
    char digest[65];
};

/* Nobody needs so many, and each is compared with the others. Paths that are blocked do not count. */
#define POLICY_MOUNTS_MAX    4096
#define POLICY_VARIABLES_MAX 4096

int policy_copy(const coop_policy *policy, coop_policy **out, coop_error **err);
int policy_copy_mount(coop_policy *policy, const struct policy_mount *from, coop_error **err);
void policy_drop_last_mount(coop_policy *policy);
void policy_free_mount(struct policy_mount *mount);
/* As coop_policy_add_socket(), for one that is shown under another name. */
int policy_add_socket(coop_policy *policy, const char *path, const char *target, coop_error **err);
/* What is mounted at the target by a file's words goes: a flag says something else. */
void policy_make_way(coop_policy *policy, const char *target);

/* As coop_policy_add_protect(), and remembers who said so. Copies the origin's name. */
int policy_add_protect(coop_policy *policy, const char *pattern, coop_protect action,
                       struct origin origin, coop_error **err);

/* That the variable of this name was set by a flag, which is a literal: "--env". */
void policy_note_variable(coop_policy *policy, const char *name, const char *flag);
/* That it comes from a file in the workspace, which decides nothing about the host: there a variable
 * such as LD_PRELOAD or PATH would choose what is executed. Until it is set to another value. */
void policy_keep_variable_in_boxes(coop_policy *policy, const char *name);

/* Who said so of the mount that was added last. Copies the name. */
int policy_note_origin(coop_policy *policy, struct origin origin, coop_error **err);

/* Whether a caller has set it, and that one has. */
bool policy_is_set(const coop_policy *policy, enum setting id);
void policy_mark(coop_policy *policy, enum setting id);
/* Who said so of a value, for messages: allows nothing, and is in no digest. Copies the name. */
int policy_note(coop_policy *policy, enum setting id, struct origin origin, coop_error **err);
/* The setting of a limit. */
static inline enum setting policy_limit_setting(coop_limit limit)
{
    return (enum setting)((int)SETTING_SANDBOX_MEMORY + (int)limit);
}
/* Where a directory is "/", it is there and nowhere else. */
int policy_check_same_path(const coop_policy *policy, uint64_t same_path, coop_error **err);

/* facts.c, mounts.c, secrets.c and setting.c: their parts of copying and of the end. */
void policy_free_mounts(coop_policy *policy);
int policy_copy_notes(const coop_policy *from, coop_policy *to, coop_error **err);
void policy_free_notes(coop_policy *policy);
void policy_forget_fact(coop_policy *policy, coop_fact fact);
int policy_copy_facts(const coop_policy *from, coop_policy *to, coop_error **err);
void policy_free_facts(coop_policy *policy);
int policy_copy_secrets(const coop_policy *from, coop_policy *to, coop_error **err);
void policy_free_secrets(coop_policy *policy);

struct redact;
/* What takes the policy's secrets out of a stream; *out is NULL where there is nothing to take out. */
int policy_redact(const coop_policy *policy, bool as_terminal, struct redact **out,
                  coop_error **err);

/* Names as flags and documents spell them. */
extern const char *const policy_network_names[];
extern const char *const policy_mode_names[];
extern const char *const policy_limit_names[];
