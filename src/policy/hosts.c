#include "hosts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

#define MAX_HOSTS 4096
#define MAX_PORTS 32 /* of the host that a rule opens, and that are published */

/* Whoever names a host wants the gate, unless another network was chosen. */
static void want_gate(coop_policy *policy)
{
    policy_mark(policy, SETTING_NETWORK_ALLOW);
    if (policy_is_set(policy, SETTING_SANDBOX_NETWORK))
        return;
    policy->network = COOP_NETWORK_GATE;
    policy_mark(policy, SETTING_SANDBOX_NETWORK);
}

int policy_add_host(coop_policy *policy, const char *text, bool is_denied, struct origin origin,
                    coop_error **err)
{
    struct policy_host host = { .is_denied = is_denied, .origin = origin };
    const char *wrong = text ? host_rule_parse(text, &host.rule) : "is no text";

    if (wrong)
        return fail_kind(err, COOP_ERROR_BAD_POLICY, EINVAL, "the host '%s' %s", text ? text : "",
                         wrong);
    if (!is_denied && policy_host_is_own(&host.rule) &&
        host.rule.last_port - host.rule.first_port >= MAX_PORTS)
        return fail_kind(err, COOP_ERROR_BAD_POLICY, EINVAL,
                         "the host '%s' needs a port: each port of the host's own loopback is "
                         "opened by itself",
                         text);
    if (policy->n_hosts == MAX_HOSTS)
        return fail_kind(err, COOP_ERROR_BAD_POLICY, E2BIG, "more than %d rules about hosts",
                         MAX_HOSTS);
    struct policy_host *grown =
        reallocarray(policy->hosts, policy->n_hosts + 1, sizeof *policy->hosts);
    if (!grown)
        return fail_no_memory(err);
    policy->hosts = grown;
    host.origin.name = origin.name ? strdup(origin.name) : NULL;
    if (origin.name && !host.origin.name)
        return fail_no_memory(err);
    policy->hosts[policy->n_hosts++] = host;
    want_gate(policy);
    return 0;
}

int coop_policy_allow_host(coop_policy *policy, const char *host, coop_error **err)
{
    return policy_add_host(policy, host, false, (struct origin){ 0 }, err);
}

int coop_policy_deny_host(coop_policy *policy, const char *host, coop_error **err)
{
    return policy_add_host(policy, host, true, (struct origin){ 0 }, err);
}

int coop_policy_add_publish(coop_policy *policy, uint16_t outside, uint16_t inside,
                            coop_error **err)
{
    if (outside == 0 || inside == 0)
        return fail_kind(err, COOP_ERROR_BAD_POLICY, EINVAL,
                         "bad port 0 to publish: expected 1 to 65535");
    for (size_t i = 0; i < policy->n_publish; i++)
        if (policy->publish[i].outside == outside)
            return fail_kind(err, COOP_ERROR_BAD_POLICY, EINVAL, "the port %u is published twice",
                             outside);
    if (policy->n_publish == MAX_PORTS)
        return fail_kind(err, COOP_ERROR_BAD_POLICY, E2BIG, "more than %d ports to publish",
                         MAX_PORTS);
    struct policy_publish *grown =
        reallocarray(policy->publish, policy->n_publish + 1, sizeof *grown);
    if (!grown)
        return fail_no_memory(err);
    policy->publish = grown;
    grown[policy->n_publish++] = (struct policy_publish){ outside, inside };
    want_gate(policy);
    return 0;
}

static bool parse_port(const char *text, size_t n, uint16_t *out)
{
    unsigned port = 0;

    for (size_t i = 0; i < n; i++) {
        if (text[i] < '0' || text[i] > '9' || i == 5)
            return false;
        port = port * 10 + (unsigned)(text[i] - '0');
    }
    *out = (uint16_t)port;
    return port > 0 && port <= 65535;
}

int policy_parse_publish(const char *text, uint16_t *outside, uint16_t *inside, coop_error **err)
{
    size_t n = strcspn(text, ":");
    const char *second = text[n] ? text + n + 1 : text;

    if (parse_port(text, n, outside) && parse_port(second, strlen(second), inside))
        return 0;
    return fail_kind(err, COOP_ERROR_BAD_POLICY, EINVAL,
                     "bad port to publish '%.40s': expected PORT or HOSTPORT:PORT, as in 8080:3000",
                     text);
}

int coop_policy_set_proxy_env(coop_policy *policy, bool enabled, coop_error **err)
{
    (void)err;
    policy->proxy_env = enabled;
    return 0;
}

bool policy_host_is_own(const struct host_rule *rule)
{
    return rule->kind == HOST_RULE_NAME && strcmp(rule->name, "localhost") == 0;
}

enum host_verdict policy_decide_own_port(const coop_policy *policy, uint16_t port, size_t *which)
{
    enum host_verdict verdict = HOST_NO_RULE;

    for (size_t i = 0; i < policy->n_hosts; i++) {
        const struct policy_host *host = &policy->hosts[i];

        if (!host_rule_matches_name(&host->rule, "localhost", strlen("localhost"), port, false))
            continue;
        if (host->is_denied) {
            *which = i;
            return HOST_DENIED;
        }
        if (verdict == HOST_NO_RULE && policy_host_is_own(&host->rule)) {
            *which = i;
            verdict = HOST_ALLOWED;
        }
    }
    return verdict;
}

void policy_free_hosts(coop_policy *policy)
{
    for (size_t i = 0; i < policy->n_hosts; i++)
        free((char *)(uintptr_t)policy->hosts[i].origin.name);
    free(policy->hosts);
    free(policy->publish);
    policy->hosts = NULL;
    policy->publish = NULL;
    policy->n_hosts = policy->n_publish = 0;
}

static int copy_host(coop_policy *to, const struct policy_host *host, coop_error **err)
{
    char text[HOST_RULE_TEXT_MAX];

    (void)host_rule_format(&host->rule, text);
    return policy_add_host(to, text, host->is_denied, host->origin, err);
}

int policy_copy_hosts(const coop_policy *from, coop_policy *to, coop_error **err)
{
    int r = 0;

    for (size_t i = 0; r == 0 && i < from->n_hosts; i++)
        r = copy_host(to, &from->hosts[i], err);
    for (size_t i = 0; r == 0 && i < from->n_publish; i++)
        r = coop_policy_add_publish(to, from->publish[i].outside, from->publish[i].inside, err);
    to->proxy_env = from->proxy_env;
    to->require_sni = to->require_sni || from->require_sni;
    return r;
}

static void drop_allowed(coop_policy *policy)
{
    size_t kept = 0;

    for (size_t i = 0; i < policy->n_hosts; i++)
        if (policy->hosts[i].is_denied)
            policy->hosts[kept++] = policy->hosts[i];
        else
            free((char *)(uintptr_t)policy->hosts[i].origin.name);
    policy->n_hosts = kept;
    policy->n_publish = 0;
}

/* Whoever names hosts wants these and no others; what is denied is denied further on. */
int policy_overlay_hosts(const coop_policy *request, coop_policy *child, coop_error **err)
{
    if (!policy_is_set(request, SETTING_NETWORK_ALLOW))
        return 0;
    drop_allowed(child);
    return policy_copy_hosts(request, child, err);
}

static int refuse_for_nat(const struct policy_host *host, const char *why, coop_error **err)
{
    char text[HOST_RULE_TEXT_MAX];

    (void)host_rule_format(&host->rule, text);
    int r = fail_kind(err, COOP_ERROR_BAD_POLICY, EINVAL, "the host '%s' %s", text, why);
    return fail_hint(err, r, "write network = \"gate\", or --network gate");
}

int policy_check_nat(const coop_policy *policy, coop_error **err)
{
    for (size_t i = 0; i < policy->n_hosts; i++) {
        const struct policy_host *host = &policy->hosts[i];
        const struct host_rule *rule = &host->rule;

        if (rule->kind == HOST_RULE_NAME || rule->kind == HOST_RULE_BELOW)
            return refuse_for_nat(host, "is a name, and the network 'nat' knows addresses only",
                                  err);
        if (rule->kind == HOST_RULE_ANY && !host->is_denied &&
            (rule->first_port > 0 || rule->last_port < 65535))
            return refuse_for_nat(host,
                                  "cannot be allowed by itself: the network 'nat' leads to all of "
                                  "the internet",
                                  err);
    }
    if (policy->n_publish == 0 && !policy->proxy_env)
        return 0;
    int r = fail_kind(err, COOP_ERROR_BAD_POLICY, EINVAL,
                      policy->n_publish ? "the network 'nat' publishes no ports"
                                        : "the network 'nat' has no proxy");
    return fail_hint(err, r, "write network = \"gate\", or --network gate");
}

int policy_host_lists(const coop_policy *policy, struct policy_host_lists *out)
{
    size_t n = policy->n_hosts ? policy->n_hosts : 1;

    *out = (struct policy_host_lists){
        .allow = calloc(n, sizeof *out->allow),
        .deny = calloc(n, sizeof *out->deny),
        .allow_index = calloc(n, sizeof *out->allow_index),
        .deny_index = calloc(n, sizeof *out->deny_index),
    };
    if (!out->allow || !out->deny || !out->allow_index || !out->deny_index) {
        policy_host_lists_done(out);
        return -ENOMEM;
    }
    for (size_t i = 0; i < policy->n_hosts; i++) {
        const struct policy_host *host = &policy->hosts[i];

        if (host->is_denied) {
            out->deny_index[out->n_deny] = i;
            out->deny[out->n_deny++] = host->rule;
        } else {
            out->allow_index[out->n_allow] = i;
            out->allow[out->n_allow++] = host->rule;
        }
    }
    return 0;
}

void policy_host_lists_done(struct policy_host_lists *lists)
{
    free(lists->allow);
    free(lists->deny);
    free(lists->allow_index);
    free(lists->deny_index);
    *lists = (struct policy_host_lists){ 0 };
}
