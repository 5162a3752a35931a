/*
 * hosts.c - a child reaches no host that its parent does not
 */
#include <string.h>

#include "policy/hosts.h"
#include "policy/narrow/private.h"
#include "policy/network_mode.h"

static bool has_rules(const coop_policy *policy)
{
    return network_mode(policy)->has_rules;
}

static bool only_child(const struct narrow_pair *pair, const char *what, const char *text)
{
    buffer_printf(pair->why, "only the child %s ", what);
    narrow_quote(pair->why, text);
    return false;
}

static bool is_covered(const coop_policy *parent, const struct host_rule *rule)
{
    for (size_t i = 0; i < parent->n_hosts; i++)
        if (!parent->hosts[i].is_denied && host_rule_covers(&parent->hosts[i].rule, rule))
            return true;
    return false;
}

/* What nat gives without a rule: hosts of the internet, by name. */
static bool is_free(const coop_policy *parent, const struct host_rule *rule)
{
    return parent->network == COOP_NETWORK_NAT && rule->kind != HOST_RULE_ADDRESS &&
           !policy_host_is_own(rule);
}

static bool allowed_within(const struct narrow_pair *pair)
{
    for (size_t i = 0; i < pair->child->n_hosts; i++) {
        const struct policy_host *host = &pair->child->hosts[i];
        char text[HOST_RULE_TEXT_MAX];

        if (host->is_denied || is_free(pair->parent, &host->rule) ||
            is_covered(pair->parent, &host->rule))
            continue;
        (void)host_rule_format(&host->rule, text);
        return only_child(pair, "allows", text);
    }
    return true;
}

static bool denies(const coop_policy *policy, const char *rule)
{
    for (size_t i = 0; i < policy->n_hosts; i++) {
        char text[HOST_RULE_TEXT_MAX];

        (void)host_rule_format(&policy->hosts[i].rule, text);
        if (policy->hosts[i].is_denied && strcmp(text, rule) == 0)
            return true;
    }
    return false;
}

static bool denied_within(const struct narrow_pair *pair)
{
    for (size_t i = 0; i < pair->parent->n_hosts; i++) {
        char text[HOST_RULE_TEXT_MAX];

        (void)host_rule_format(&pair->parent->hosts[i].rule, text);
        if (pair->parent->hosts[i].is_denied && !denies(pair->child, text)) {
            buffer_append_string(pair->why, "only the parent denies ");
            narrow_quote(pair->why, text);
            return false;
        }
    }
    return true;
}

static bool publish_within(const struct narrow_pair *pair)
{
    for (size_t i = 0; i < pair->child->n_publish; i++) {
        bool is_there = false;

        for (size_t k = 0; !is_there && k < pair->parent->n_publish; k++)
            is_there = pair->parent->publish[k].outside == pair->child->publish[i].outside &&
                       pair->parent->publish[k].inside == pair->child->publish[i].inside;
        if (!is_there) {
            buffer_printf(pair->why, "only the child publishes port %u of the host",
                          pair->child->publish[i].outside);
            return false;
        }
    }
    return true;
}

static bool tls_within(const struct narrow_pair *pair)
{
    if (pair->child->require_sni || !pair->parent->require_sni)
        return true;
    buffer_append_string(pair->why, "only the parent refuses TLS that does not name its host");
    return false;
}

bool narrow_hosts_within(const struct narrow_pair *pair)
{
    if (!has_rules(pair->child) || !has_rules(pair->parent)) /* the network itself decides */
        return true;
    return allowed_within(pair) && denied_within(pair) && publish_within(pair) && tls_within(pair);
}
