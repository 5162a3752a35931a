/*
 * policy.h - the policy value and its parts, as the plan reads them
 *
 * Pure: nothing here looks at the host. Paths are checked for form only.
 */
#pragma once

#include "base/finding.h"
#include "coop/policy.h"

enum policy_mount_kind { POLICY_BIND, POLICY_TMPFS, POLICY_BLOCK };

struct policy_mount {
    enum policy_mount_kind kind;
    bool read_only;
    char *source;  /* host path; NULL for tmpfs and blocks */
    char *target;  /* absolute and normal; a block's may be relative to the workspace */
    uint64_t size; /* tmpfs; 0: that of /tmp */
};

struct policy_variable {
    char *name;
    char *value;
};

/* A rule for names in the workspace; the built-in ones are not in the policy. */
struct policy_protect {
    char *pattern;
    coop_protect action;
    struct origin origin; /* its name is the policy's */
};

struct coop_policy {
    char *workspace; /* NULL: the current directory */
    char *directory; /* NULL: the workspace */
    char *hostname;
    bool same_path;
    bool has_uid;
    bool host_sockets;
    uint32_t uid;
    coop_network network;
    coop_mode mode;
    coop_profile profile;
    uint64_t limits[COOP_LIMIT_COUNT];
    struct policy_mount *mounts;
    size_t n_mounts;
    struct policy_variable *variables;
    size_t n_variables;
    struct policy_protect *protects;
    size_t n_protects;
    bool no_protect_defaults;
    bool protect_ignore_case;
    char digest[65];
};

int policy_copy(const coop_policy *policy, coop_policy **out, coop_error **err);

/* As coop_policy_add_protect(), and remembers who said so. Copies the origin's name. */
int policy_add_protect(coop_policy *policy, const char *pattern, coop_protect action,
                       struct origin origin, coop_error **err);

/* Names as flags and documents spell them. */
extern const char *const policy_network_names[];
extern const char *const policy_mode_names[];
extern const char *const policy_limit_names[];
