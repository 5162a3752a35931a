/*
 * network.c - which network a box has: steps for its namespace, and rules for its gate
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/credential.h"
#include "base/error.h"
#include "plan/plan.h"
#include "policy/credentials.h"
#include "policy/hosts.h"
#include "policy/network_mode.h"

#define DNS_PORT 53

void plan_gate_done(struct plan *plan)
{
    if (!plan->gate)
        return;
    gate_inside_done(&plan->gate->inside);
    buffer_done(&plan->gate->rules);
    free(plan->gate);
    plan->gate = NULL;
}

/* A port of the host's loopback that the box has at its own. */
static int add_reach(struct plan *plan, const struct host_rule *rule, coop_error **err)
{
    struct plan_gate *gate = plan->gate;
    struct gate_inside *inside = &gate->inside;

    for (unsigned port = rule->first_port; port <= rule->last_port; port++) {
        size_t which;
        bool is_there = policy_decide_own_port(plan->policy, (uint16_t)port, &which) == HOST_DENIED;

        for (size_t i = 0; i < inside->n_reach; i++)
            is_there = is_there || inside->reach[i] == port;
        if (is_there)
            continue;
        if (port == GATE_INSIDE_PORT || (plan->policy->proxy_env && port == GATE_INSIDE_PROXY))
            return fail_kind(err, COOP_ERROR_BAD_POLICY, EADDRINUSE,
                             "port %u of the host's own loopback cannot be reached: in the box it "
                             "is the %s",
                             port, port == GATE_INSIDE_PORT ? "gate's own" : "proxy's");
        if (inside->n_reach == GATE_INSIDE_MAX_REACH)
            return fail_kind(err, COOP_ERROR_BAD_POLICY, E2BIG,
                             "more than %d ports of the host's own loopback are allowed",
                             GATE_INSIDE_MAX_REACH);
        inside->reach[inside->n_reach++] = (uint16_t)port;
        buffer_printf(&gate->rules, "reach %u\n", port);
    }
    return 0;
}

/* Ports whose datagrams the gate takes. Those with questions about names are its own anyway. */
static int add_udp(struct plan_gate *gate, const struct host_rule *rule, coop_error **err)
{
    struct gate_inside *inside = &gate->inside;

    for (unsigned port = rule->first_port; port <= rule->last_port; port++) {
        bool is_there = port == DNS_PORT;

        for (size_t i = 0; i < inside->n_udp; i++)
            is_there = is_there || inside->udp[i] == port;
        if (is_there)
            continue;
        if (inside->n_udp == GATE_INSIDE_MAX_UDP) {
            int r = fail_kind(err, COOP_ERROR_BAD_POLICY, E2BIG,
                              "the rules with '/udp' name more than %d ports", GATE_INSIDE_MAX_UDP);
            return fail_hint(err, r, "each needs a socket of its own in the box: name fewer");
        }
        inside->udp[inside->n_udp++] = (uint16_t)port;
        buffer_printf(&gate->rules, "udp %u\n", port);
    }
    return 0;
}

/* For kernels on which each port needs a listener. */
static void add_ports(struct gate_inside *inside, const struct host_rule *rule)
{
    if (rule->last_port - rule->first_port >= GATE_INSIDE_MAX_PORTS) {
        inside->needs_any_port = true;
        return;
    }
    for (unsigned port = rule->first_port; port <= rule->last_port; port++) {
        bool is_there = false;

        for (size_t i = 0; i < inside->n_ports; i++)
            is_there = is_there || inside->ports[i] == port;
        if (is_there)
            continue;
        if (inside->n_ports == GATE_INSIDE_MAX_PORTS) {
            inside->needs_any_port = true;
            return;
        }
        inside->ports[inside->n_ports++] = (uint16_t)port;
    }
}

static int add_rules(struct plan *plan, coop_error **err)
{
    const coop_policy *policy = plan->policy;
    struct plan_gate *gate = plan->gate;
    char text[HOST_RULE_TEXT_MAX];
    int r = 0;

    for (size_t i = 0; i < policy->n_hosts; i++) {
        (void)host_rule_format(&policy->hosts[i].rule, text);
        buffer_printf(&gate->rules, "%s %s\n", policy->hosts[i].is_denied ? "deny" : "allow", text);
    }
    for (size_t i = 0; r == 0 && i < policy->n_hosts; i++) {
        const struct host_rule *rule = &policy->hosts[i].rule;

        if (policy->hosts[i].is_denied)
            continue;
        if (rule->is_udp)
            r = add_udp(gate, rule, err);
        else if (policy_host_is_own(rule))
            r = add_reach(plan, rule, err);
        else
            add_ports(&gate->inside, rule);
    }
    for (size_t i = 0; i < policy_n_credentials(policy); i++)
        buffer_printf(&gate->rules, "credential %s %s:%u\n", policy->credentials[i].name,
                      policy->credentials[i].host, policy->credentials[i].port);
    if (policy_n_credentials(policy) > 0)
        add_ports(&gate->inside, &(struct host_rule){ .first_port = CREDENTIAL_PORT,
                                                      .last_port = CREDENTIAL_PORT });
    for (size_t i = 0; i < policy->n_publish; i++)
        buffer_printf(&gate->rules, "publish 127.0.0.1 %u %u\n", policy->publish[i].outside,
                      policy->publish[i].inside);
    gate->inside.has_publish = policy->n_publish > 0;
    gate->inside.has_proxy = policy->proxy_env;
    if (policy->proxy_env)
        buffer_append_string(&gate->rules, "proxy yes\n");
    if (policy->require_sni)
        buffer_append_string(&gate->rules, "unnamed no\n");
    return r;
}

static int make_gate(struct plan *plan, coop_error **err)
{
    const coop_policy *policy = plan->policy;
    struct gate_network *networks = calloc(2 * policy->n_hosts + 1, sizeof *networks);
    size_t n = 0;

    plan->gate = calloc(1, sizeof *plan->gate);
    int r = networks && plan->gate ? add_rules(plan, err) : fail_no_memory(err);
    for (size_t i = 0; r == 0 && i < policy->n_hosts; i++)
        if (!policy->hosts[i].is_denied)
            n += gate_inside_networks(&policy->hosts[i].rule, networks + n);
    if (r == 0 &&
        (gate_inside_prepare(&plan->gate->inside, networks, n) < 0 || plan->gate->rules.failed))
        r = fail_no_memory(err);
    free(networks);
    return r;
}

/* How each mode is made in a network namespace of the box's own. */
static const struct {
    bool has_loopback; /* up from the start */
    bool has_names;    /* a resolver that knows no names */
    int (*prepare)(struct plan *plan,
                   coop_error **err); /* rules for a helper program; NULL: none */
    enum step_kind step;              /* that leads out, where it is prepared */
    bool is_late;         /* init makes it: it has time, and the command's filters wait */
    const char *resolver; /* in /etc/resolv.conf; NULL: the box has none of coop's */
    const char *layer;    /* what enforces it, for the result */
} ways[] = {
    [COOP_NETWORK_NONE] = { .has_loopback = true,
                            .has_names = true,
                            .layer = "network namespace + seccomp" },
    [COOP_NETWORK_OFF] = { .layer = "network namespace + seccomp" },
    [COOP_NETWORK_GATE] = { .prepare = make_gate,
                            .step = STEP_GATE,
                            .is_late = true,
                            .resolver = "nameserver " GATE_INSIDE_RESOLVER "\n",
                            .layer = "network namespace + gate + seccomp" },
    [COOP_NETWORK_NAT] = { .has_loopback = true,
                           .prepare = plan_nat,
                           .step = STEP_NAT,
                           .resolver = "nameserver " NAT_INSIDE_RESOLVER "\n",
                           .layer = "network namespace + nat + seccomp" },
};

const char *plan_network_layer(const struct plan *plan)
{
    return ways[plan->policy->network].layer;
}

const char *plan_network_resolver(const struct plan *plan)
{
    return ways[plan->policy->network].resolver;
}

int plan_network(struct plan *plan, const struct plan_request *request, coop_error **err)
{
    coop_network network = plan->policy->network;
    /* With a terminal the command's process is born too late to make it beside the mounts. */
    enum step_phase phase = request->tty ? PHASE_BOX : PHASE_EARLY;

    if (!network_modes[network].has_namespace || request->shares_network)
        return 0;
    struct step *step = plan_add(plan, STEP_NETWORK, phase);
    step->value = ways[network].has_loopback;
    step->flags = ways[network].has_names ? STEP_NAMES : 0;
    int r = ways[network].prepare ? ways[network].prepare(plan, err) : 0;
    if (r < 0)
        return r;
    if (ways[network].prepare && !ways[network].is_late)
        plan_add(plan, ways[network].step, phase);
    if (!request->tty)
        plan_add(plan, STEP_JOIN_NETWORK, PHASE_SEAL);
    if (ways[network].prepare && ways[network].is_late)
        plan_add(plan, ways[network].step, request->tty ? PHASE_BOX : PHASE_SEAL);
    return 0;
}
