#include "network_mode.h"

#include "base/cleanup.h"

const char *const policy_network_names[] = { "none", "off", "host", "gate", "nat", NULL };

const struct network_mode network_modes[] = {
    [COOP_NETWORK_NONE] = { .rank = 1,
                            .has_namespace = true,
                            .has_sockets = true,
                            .why = "the box has a private loopback and nothing else" },
    [COOP_NETWORK_OFF] = { .rank = 0,
                           .has_namespace = true,
                           .why = "the box has no sockets but those of AF_UNIX",
                           .no_names = "there are no queries without a network" },
    [COOP_NETWORK_HOST] = { .rank = 4,
                            .has_sockets = true,
                            .has_way_out = true,
                            .why = "the box has the host's own network" },
    [COOP_NETWORK_GATE] = { .rank = 2,
                            .has_namespace = true,
                            .has_sockets = true,
                            .has_rules = true,
                            .has_way_out = true },
    [COOP_NETWORK_NAT] = { .rank = 3,
                           .has_namespace = true,
                           .has_sockets = true,
                           .has_rules = true,
                           .has_way_out = true,
                           .no_names = "the network 'nat' refuses no names" },
};

_Static_assert(COUNT(policy_network_names) == COUNT(network_modes) + 1, "a mode without a name");

const struct network_mode *network_mode(const coop_policy *policy)
{
    return &network_modes[policy->network];
}
