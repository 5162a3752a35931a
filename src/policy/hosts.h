/*
 * hosts.h - which hosts a box may talk to, and by which way: a part of the policy
 *
 * Only the gate asks for them. A rule for localhost is a port of the host's own loopback that the
 * box reaches at its own.
 */
#pragma once

#include "base/host/host_rule.h"
#include "policy/policy.h"

int policy_copy_hosts(const coop_policy *from, coop_policy *to, coop_error **err);
void policy_free_hosts(coop_policy *policy);
/* What a request says of hosts, over what stands there. */
int policy_overlay_hosts(const coop_policy *request, coop_policy *child, coop_error **err);

/* As coop_policy_allow_host() and coop_policy_deny_host(), and remembers who said so. */
int policy_add_host(coop_policy *policy, const char *text, bool is_denied, struct origin origin,
                    coop_error **err);

/* "8080:3000", or "3000" for the same port on both sides. */
int policy_parse_publish(const char *text, uint16_t *outside, uint16_t *inside, coop_error **err);

/* Whether the rule is for a port of the host's own loopback: "localhost:3000". */
bool policy_host_is_own(const struct host_rule *rule);

/* Which rule opens or closes a port of the host's own loopback, index of policy->hosts; "*" does not
 * open one. */
enum host_verdict policy_decide_own_port(const coop_policy *policy, uint16_t port, size_t *which);

/* Whether its rules make sense for the network 'nat', which knows addresses only. */
int policy_check_nat(const coop_policy *policy, coop_error **err);

/* The rules as the gate asks them: two lists, the caller's to free; -ENOMEM. */
struct policy_host_lists {
    struct host_rule *allow, *deny;
    size_t n_allow, n_deny;
    size_t *allow_index, *deny_index; /* which of policy->hosts each is */
};
int policy_host_lists(const coop_policy *policy, struct policy_host_lists *out);
void policy_host_lists_done(struct policy_host_lists *lists);
