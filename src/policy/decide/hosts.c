/*
 * hosts.c - may it connect to that host? The rules that the gate asks, asked before
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/credential.h"
#include "base/error.h"
#include "policy/credentials.h"
#include "policy/decide/decide.h"
#include "policy/hosts.h"

static int say(const struct decide_subject *subject, bool is_allowed,
               const struct policy_host *host, const char *target, const char *why,
               struct decide_answer *out)
{
    char text[HOST_RULE_TEXT_MAX] = "";
    char change[sizeof text + 64];
    int r;

    if (host) {
        (void)host_rule_format(&host->rule, text);
        (void)snprintf(change, sizeof change, "remove \"%s\" from network.%s", text,
                       host->is_denied ? "deny" : "allow");
        return decide_say(out, is_allowed, &host->origin, change, why, "network.%s '%s'",
                          host->is_denied ? "deny" : "allow", text);
    }
    (void)snprintf(change, sizeof change, "add \"%.280s\" to network.allow", target);
    r = decide_say(out, is_allowed, &subject->network_origin, change, why, "network '%s'",
                   policy_network_names[subject->policy->network]);
    return r < 0 ? r : decide_flag(out, "--allow", target);
}

int decide_would_allow(const struct decide_subject *subject, const char *target, const char *why,
                       struct decide_answer *out)
{
    return say(subject, false, NULL, target, why, out);
}

static enum host_verdict ask(const struct policy_host_lists *lists, const struct host_name *host,
                             uint16_t port, size_t *which)
{
    const struct host_rules rules = { .allow = lists->allow,
                                      .n_allow = lists->n_allow,
                                      .deny = lists->deny,
                                      .n_deny = lists->n_deny };
    size_t i = 0;
    enum host_verdict verdict =
        host->is_address ? host_rules_decide_address(&rules, host->address, port, false, &i)
                         : host_rules_decide_name(&rules, host->name, port, false, &i);

    if (verdict != HOST_NO_RULE)
        *which = verdict == HOST_DENIED ? lists->deny_index[i] : lists->allow_index[i];
    return verdict;
}

/* Its own name and its host may be denied, no more. */
static int decide_credential(const struct decide_subject *subject,
                             const struct policy_credential *credential, struct decide_answer *out)
{
    char why[400];

    for (size_t i = 0; i < subject->policy->n_hosts; i++) {
        const struct policy_host *host = &subject->policy->hosts[i];
        char name[CREDENTIAL_NAME_MOST + sizeof "." CREDENTIAL_DOMAIN];

        (void)snprintf(name, sizeof name, "%s." CREDENTIAL_DOMAIN, credential->name);
        if (host->is_denied &&
            (host_rule_matches_name(&host->rule, name, strlen(name), CREDENTIAL_PORT,
                                    host->rule.is_udp) ||
             host_rule_matches_name(&host->rule, credential->host, strlen(credential->host),
                                    credential->port, host->rule.is_udp)))
            return say(subject, false, host, "", "the host is denied, whatever else allows it",
                       out);
    }
    (void)snprintf(why, sizeof why, "requests are sent on to %s:%u with the secret '%s' added",
                   credential->host, credential->port, credential->secret);
    return decide_say(out, true, &credential->origin, "take it out of [network.credentials]", why,
                      "network.credentials '%s'", credential->name);
}

static bool is_loopback(const struct host_name *host)
{
    return host->is_address ? address_class(host->address) == ADDRESS_LOOPBACK
                            : strcmp(host->name, "localhost") == 0;
}

/* What nat lets through without a rule: hosts of the internet, not its own loopback (NULL). Which addresses are the host's own, and
 * where names lead to, is known when somebody connects. */
static int decide_for_nat(const struct decide_subject *subject, const struct host_name *host,
                          const char *target, struct decide_answer *out)
{
    if (!host)
        return decide_say(out, false, &subject->network_origin,
                          "write network = \"gate\", and name localhost and the port in "
                          "network.allow",
                          "the loopback is the box's own: no service of the host answers there",
                          "network 'nat'");
    if (host->is_address && address_is_special(host->address)) {
        char why[80];

        (void)snprintf(why, sizeof why, "it is not on the internet (%s), and no rule names it",
                       address_special_name(host->address));
        return say(subject, false, NULL, target, why, out);
    }
    int r = decide_say(out, true, &subject->network_origin, "write network = \"gate\"",
                       host->is_address ? "it is of the internet, unless it is the host's own"
                                        : "names lead to hosts of the internet; others are refused "
                                          "when somebody connects there",
                       "network 'nat'");
    return r < 0 ? r : decide_flag(out, "--network gate", NULL);
}

int decide_host(const struct decide_subject *subject, const char *target, struct decide_answer *out,
                coop_error **err)
{
    struct policy_host_lists lists;
    struct host_name host;
    uint16_t port = 0;
    size_t which = 0;
    const char *wrong = host_name_parse_authority(target, strlen(target), &host, &port);

    if (wrong)
        return fail_kind(err, COOP_ERROR_BAD_POLICY, EINVAL, "the host '%.100s' %s", target, wrong);
    const struct policy_credential *credential =
        port == CREDENTIAL_PORT ? policy_find_credential(subject->policy, host.name) : NULL;
    if (credential)
        return decide_credential(subject, credential, out) < 0 ? fail_no_memory(err) : 0;
    if (policy_host_lists(subject->policy, &lists) < 0)
        return fail_no_memory(err);
    bool is_own = is_loopback(&host);
    enum host_verdict verdict = is_own ? policy_decide_own_port(subject->policy, port, &which)
                                       : ask(&lists, &host, port, &which);
    policy_host_lists_done(&lists);
    bool is_nat = subject->policy->network == COOP_NETWORK_NAT;
    if (is_nat && verdict == HOST_NO_RULE)
        return decide_for_nat(subject, is_own ? NULL : &host, target, out) < 0 ? fail_no_memory(err)
                                                                               : 0;
    const struct policy_host *rule =
        verdict == HOST_NO_RULE ? NULL : &subject->policy->hosts[which];
    const char *why = verdict == HOST_DENIED ? "the host is denied, whatever else allows it"
                      : verdict == HOST_ALLOWED
                          ? is_own   ? "the box's own loopback leads to the host's at this port"
                            : is_nat ? "the rule lets it through"
                                     : "the gate lets it through"
                      : is_own
                          ? "the loopback is the box's own: no service of the host answers there"
                      : host.is_address ? "no rule allows this address and port"
                                        : "no rule allows this name and port";
    char localhost[32];
    (void)snprintf(localhost, sizeof localhost, "localhost:%u", port);
    int r = say(subject, verdict == HOST_ALLOWED, rule, is_own ? localhost : target, why, out);
    return r < 0 ? fail_no_memory(err) : 0;
}
