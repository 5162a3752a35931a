/*
 * network.c - options: hosts, ports and sockets
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "base/host/host_name.h"
#include "cli/option/option.h"
#include "policy/hosts.h"
#include "policy/network_mode.h"
#include "policy/policy.h"
#include "policy/setting.h"

int option_set_network(void *context, const char *value, coop_error **err)
{
    int i = policy_find_word(policy_network_names, "network",
                             strcmp(value, "veth") == 0 ? "nat" : value, err);

    ((struct policy_arguments *)context)->network_flag = "--network";
    return option_note_value(
        context, i < 0 ? i : coop_policy_set_network(POLICY(context), (coop_network)i, err),
        SETTING_SANDBOX_NETWORK, "--network", err);
}

/* Whoever names a host on the command line wants the gate, unless --network says otherwise. */
static int note_host(struct policy_arguments *arguments, int r)
{
    arguments->names_hosts = true;
    return r;
}

int option_allow_host(void *context, const char *value, coop_error **err)
{
    return note_host(context, policy_add_host(POLICY(context), value, false,
                                              (struct origin){ "--allow", 0, 0 }, err));
}

int option_deny_host(void *context, const char *value, coop_error **err)
{
    return note_host(context, policy_add_host(POLICY(context), value, true,
                                              (struct origin){ "--deny", 0, 0 }, err));
}

int option_reach_port(void *context, const char *value, coop_error **err)
{
    char text[32];
    uint16_t port = 0;

    if (!host_name_parse_port(value, strlen(value), &port))
        return fail_kind(err, COOP_ERROR_BAD_POLICY, EINVAL,
                         "bad port '%s': expected one from 1 to 65535", value);
    (void)snprintf(text, sizeof text, "localhost:%u", port);
    return note_host(context, policy_add_host(POLICY(context), text, false,
                                              (struct origin){ "--reach", 0, 0 }, err));
}

int option_publish_port(void *context, const char *value, coop_error **err)
{
    uint16_t outside = 0;
    uint16_t inside = 0;
    int r = policy_parse_publish(value, &outside, &inside, err);

    if (r == 0)
        r = coop_policy_add_publish(POLICY(context), outside, inside, err);
    return note_host(context, r);
}

int option_set_proxy_env(void *context, const char *value, coop_error **err)
{
    (void)value;
    return coop_policy_set_proxy_env(POLICY(context), true, err);
}

int option_set_require_sni(void *context, const char *value, coop_error **err)
{
    (void)value;
    (void)err;
    POLICY(context)->require_sni = true;
    return 0;
}

/* The network that the flags choose together. */
int option_settle_network(struct policy_arguments *arguments, coop_error **err)
{
    coop_network network = arguments->policy->network;

    if (!arguments->names_hosts)
        return 0;
    if (!arguments->network_flag) {
        arguments->network_flag = "--allow";
        return network == COOP_NETWORK_NAT
                   ? 0
                   : coop_policy_set_network(arguments->policy, COOP_NETWORK_GATE, err);
    }
    if (network_modes[network].has_rules)
        return 0;
    int r = fail_kind(err, COOP_ERROR_BAD_POLICY, EINVAL,
                      "--network %s does not use host rules: only the network gate does",
                      policy_network_names[network]);
    return fail_hint(err, r, "remove --network, or use --network gate");
}

int option_add_socket(void *context, const char *value, coop_error **err)
{
    auto_free char *absolute = *value == '/' ? NULL : realpath(value, NULL);

    if (*value != '/' && !absolute)
        return fail_as(err, fail(err, errno, "open the socket '%s'", value), COOP_ERROR_BAD_POLICY);
    policy_make_way(POLICY(context), absolute ? absolute : value);
    /* Named as it was given: the plan follows no link that a command may have made. */
    return option_note(context,
                       absolute ? policy_add_socket(POLICY(context), value, absolute, err)
                                : coop_policy_add_socket(POLICY(context), value, err),
                       "--socket", err);
}
