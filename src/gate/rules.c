#include "rules.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"

#define CONNECTIONS_DEFAULT 1024
#define CONNECTIONS_MOST    1000000

void gate_rules_init(struct gate_rules *rules)
{
    *rules = (struct gate_rules){ .connections = CONNECTIONS_DEFAULT };
}

/* ---- lines */

/* Arrays double where their number is a power of two. */
static bool make_room(void *array, size_t n, size_t size)
{
    void **at = array;

    if (n & (n - 1))
        return true;
    void *larger = realloc(*at, (n ? 2 * n : 1) * size);
    if (!larger)
        return false;
    *at = larger;
    return true;
}

static const char *add_rule(struct gate_rules *rules, const char *text, bool is_allow)
{
    struct host_rule **list = is_allow ? &rules->allow : &rules->deny;
    int32_t **numbers = is_allow ? &rules->allow_number : &rules->deny_number;
    size_t *n = is_allow ? &rules->n_allow : &rules->n_deny;

    if (!make_room(list, *n, sizeof **list) || !make_room(numbers, *n, sizeof **numbers))
        return "there is no memory for it";
    const char *wrong = host_rule_parse(text, &(*list)[*n]);
    if (wrong)
        return wrong;
    (*numbers)[*n] = (int32_t)(rules->n_allow + rules->n_deny);
    (*n)++;
    return NULL;
}

static const char *allow(struct gate_rules *rules, char *value)
{
    return add_rule(rules, value, true);
}

static const char *deny(struct gate_rules *rules, char *value)
{
    return add_rule(rules, value, false);
}

static const char *connections(struct gate_rules *rules, char *value)
{
    char *end = NULL;
    unsigned long n = strtoul(value, &end, 10);

    if (*end || n == 0 || n > CONNECTIONS_MOST)
        return "is no number of connections";
    rules->connections = (uint32_t)n;
    return NULL;
}

static const char *yes_or_no(const char *value, bool *out)
{
    *out = strcmp(value, "yes") == 0;
    return *out || strcmp(value, "no") == 0 ? NULL : "is neither yes nor no";
}

static const char *unnamed(struct gate_rules *rules, char *value)
{
    bool is_yes;
    const char *wrong = yes_or_no(value, &is_yes);

    rules->unnamed = is_yes ? GATE_UNNAMED_ALWAYS : GATE_UNNAMED_NEVER;
    return wrong;
}

static const char *proxy(struct gate_rules *rules, char *value)
{
    return yes_or_no(value, &rules->has_proxy);
}

static const char *reach(struct gate_rules *rules, char *value)
{
    if (rules->n_reach == GATE_RULES_MOST_REACH)
        return "is one port too many";
    if (!host_name_parse_port(value, strlen(value), &rules->reach[rules->n_reach]))
        return "is no port";
    rules->n_reach++;
    return NULL;
}

static const char *udp(struct gate_rules *rules, char *value)
{
    if (rules->n_udp == GATE_RULES_MOST_UDP)
        return "is one port too many";
    if (!host_name_parse_port(value, strlen(value), &rules->udp[rules->n_udp]))
        return "is no port";
    rules->n_udp++;
    return NULL;
}

static const char *publish(struct gate_rules *rules, char *value)
{
    struct gate_publish_rule rule;
    char *rest = NULL;
    const char *address = strtok_r(value, " ", &rest);
    const char *port = strtok_r(NULL, " ", &rest);
    const char *inner_port = strtok_r(NULL, " ", &rest);

    if (rules->n_publish == GATE_RULES_MOST_PUBLISH)
        return "is one port too many";
    if (!address || !port || !inner_port || strtok_r(NULL, " ", &rest) ||
        !address_parse(address, strlen(address), rule.address) ||
        !host_name_parse_port(port, strlen(port), &rule.port) ||
        !host_name_parse_port(inner_port, strlen(inner_port), &rule.inner_port))
        return "is not ADDRESS PORT INNERPORT";
    rules->publish[rules->n_publish++] = rule;
    return NULL;
}

static const char *credential(struct gate_rules *rules, char *value)
{
    struct gate_credential_rule *rule = &rules->credentials[rules->n_credentials];
    char *host = strchr(value, ' ');

    if (rules->n_credentials == CREDENTIAL_MOST)
        return "is one credential too many";
    if (!host || host - value > CREDENTIAL_NAME_MOST)
        return "is not NAME HOST:PORT";
    *host++ = '\0';
    const char *wrong = host_rule_parse(host, &rule->host);
    if (wrong)
        return wrong;
    if (rule->host.kind != HOST_RULE_NAME || rule->host.first_port != rule->host.last_port)
        return "is not NAME HOST:PORT";
    (void)snprintf(rule->name, sizeof rule->name, "%s." CREDENTIAL_DOMAIN, value);
    rules->n_credentials++;
    return NULL;
}

static const struct {
    const char *word;
    const char *(*take)(struct gate_rules *rules, char *value);
    bool is_live; /* may come later */
} lines[] = {
    { "allow", allow, true },      { "deny", deny, true },    { "connections", connections, false },
    { "unnamed", unnamed, false }, { "reach", reach, false }, { "publish", publish, false },
    { "proxy", proxy, false },     { "udp", udp, false },     { "credential", credential, false },
};

static const char *read_line(struct gate_rules *rules, char *line, bool is_live)
{
    char *value = strchr(line, ' ');

    if (!value)
        return "has no value";
    *value++ = 0;
    for (size_t i = 0; i < COUNT(lines); i++)
        if (strcmp(lines[i].word, line) == 0 && (lines[i].is_live || !is_live))
            return lines[i].take(rules, value);
    return "begins with no word that a gate knows";
}

const char *gate_rules_read(struct gate_rules *rules, char *text, bool is_live)
{
    char *rest = NULL;

    for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        const char *wrong = read_line(rules, line, is_live);

        if (wrong)
            return wrong;
    }
    return NULL;
}

/* ---- decisions */

static struct host_rules lists(const struct gate_rules *rules)
{
    return (struct host_rules){ .allow = rules->allow,
                                .n_allow = rules->n_allow,
                                .deny = rules->deny,
                                .n_deny = rules->n_deny,
                                .own = (const uint8_t(*)[ADDRESS_BYTES])rules->own,
                                .n_own = rules->n_own };
}

static struct gate_decision decision(const struct gate_rules *rules, enum host_verdict verdict,
                                     size_t i)
{
    struct gate_decision result = { .verdict = verdict, .rule = -1 };

    if (verdict == HOST_ALLOWED) {
        result.rule = rules->allow_number[i];
        result.is_exact = rules->allow[i].kind == HOST_RULE_NAME;
    } else if (verdict == HOST_DENIED) {
        result.rule = rules->deny_number[i];
    }
    return result;
}

const struct gate_credential_rule *gate_rules_credential(const struct gate_rules *rules,
                                                         const char *name, uint16_t port)
{
    for (size_t i = 0; port == CREDENTIAL_PORT && i < rules->n_credentials; i++)
        if (strcmp(rules->credentials[i].name, name) == 0)
            return &rules->credentials[i];
    return NULL;
}

/* What no rule allows may still be the name of a credential. */
static struct gate_decision or_credential(const struct gate_rules *rules,
                                          struct gate_decision decided, const char *name,
                                          uint16_t port)
{
    if (decided.verdict == HOST_NO_RULE && gate_rules_credential(rules, name, port))
        return (struct gate_decision){ HOST_ALLOWED, -1, true };
    return decided;
}

struct gate_decision gate_rules_lookup(const struct gate_rules *rules, const char *name)
{
    const struct host_rules both = lists(rules);
    size_t i = 0;
    enum host_verdict verdict = host_rules_decide_lookup(&both, name, &i);

    return or_credential(rules, decision(rules, verdict, i), name, CREDENTIAL_PORT);
}

struct gate_decision gate_rules_name(const struct gate_rules *rules, const char *name,
                                     uint16_t port, bool is_udp)
{
    const struct host_rules both = lists(rules);
    size_t i = 0;
    enum host_verdict verdict = host_rules_decide_name(&both, name, port, is_udp, &i);
    struct gate_decision decided = decision(rules, verdict, i);

    return is_udp ? decided : or_credential(rules, decided, name, port);
}

struct gate_decision gate_rules_address(const struct gate_rules *rules,
                                        const uint8_t address[ADDRESS_BYTES], uint16_t port,
                                        bool is_udp)
{
    const struct host_rules both = lists(rules);
    size_t i = 0;
    enum host_verdict verdict = host_rules_decide_address(&both, address, port, is_udp, &i);

    return decision(rules, verdict, i);
}

struct gate_decision gate_rules_answer(const struct gate_rules *rules, const char *name,
                                       const uint8_t address[ADDRESS_BYTES], uint16_t port,
                                       bool is_udp)
{
    const struct host_rules both = lists(rules);
    size_t i = 0;
    enum host_verdict verdict = host_rules_decide_answer(&both, name, address, port, is_udp, &i);

    return decision(rules, verdict, i);
}

struct gate_decision gate_rules_credential_name(const struct gate_rules *rules,
                                                const struct gate_credential_rule *credential)
{
    struct gate_decision host =
        gate_rules_name(rules, credential->host.name, credential->host.first_port, false);

    return host.verdict == HOST_DENIED
               ? host
               : gate_rules_name(rules, credential->name, CREDENTIAL_PORT, false);
}

struct gate_decision gate_rules_credential_answer(const struct gate_rules *rules,
                                                  const struct gate_credential_rule *credential,
                                                  const uint8_t address[ADDRESS_BYTES])
{
    const struct host_rule *host = &credential->host;
    struct host_rules own = lists(rules);
    size_t i = 0;

    own.allow = host;
    own.n_allow = 1;
    enum host_verdict verdict =
        host_rules_decide_answer(&own, host->name, address, host->first_port, false, &i);

    if (verdict == HOST_ALLOWED)
        return (struct gate_decision){ HOST_ALLOWED, -1, true };
    if (verdict == HOST_DENIED)
        return decision(rules, verdict, i);
    return gate_rules_answer(rules, host->name, address, host->first_port, false);
}
