/*
 * credential.h - the supervisor's side of coop-credential
 *
 *   network_credential_prepare() -> the gate is started with one end of the socket
 *     -> network_credential_start(), when the gate wants it -> network_credential_end()
 *
 * A process of its own, because it alone holds the secrets besides us; at most one for each box. It
 * ends when the gate does.
 */
#pragma once

#include "coop/error.h"
#include "policy/policy.h"
#include "sys/spawn.h"

struct network_credential {
    struct spawn process;
    int gate_fd;  /* the gate's end of the socket, until that is started; -1: there is none */
    int their_fd; /* the program's end, likewise */
    char *program;
    bool is_running;
};

/* Nothing where the policy has no credentials. */
int network_credential_prepare(struct network_credential *credential, const coop_policy *policy,
                               coop_error **err);

/* 0 or -errno: then the gate finds that nobody serves it. */
int network_credential_start(struct network_credential *credential, const coop_policy *policy);

/* The gate is gone: waits for the end, which follows. */
void network_credential_end(struct network_credential *credential);
