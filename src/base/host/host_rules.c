/*
 * host_rules.c - what rules say together
 *
 * Deny is read broadly and allow narrowly: a rule that denies speaks of UDP too unless it names the
 * protocol, and of what an address carries (64:ff9b::10.0.0.1 is 10.0.0.1).
 */
#include <string.h>

#include "base/host/host_rule.h"

/* Whom a rule is asked about. */
struct subject {
    const char *name; /* NULL: by address only */
    size_t length;
    const uint8_t *address; /* NULL: by name only */
    uint16_t port;
    bool is_udp;
};

static bool speaks_of(const struct host_rule *rule, const struct subject *subject, bool is_udp)
{
    return (subject->name &&
            host_rule_matches_name(rule, subject->name, subject->length, subject->port, is_udp)) ||
           (subject->address &&
            host_rule_matches_address(rule, subject->address, subject->port, is_udp));
}

static bool denies(const struct host_rule *rule, const struct subject *subject)
{
    struct subject carried = *subject;
    uint8_t v4[ADDRESS_BYTES];

    if (rule->is_udp && !subject->is_udp)
        return false;
    if (speaks_of(rule, subject, rule->is_udp))
        return true;
    if (!subject->address || !address_embedded_v4(subject->address, v4))
        return false;
    carried.address = v4;
    return speaks_of(rule, &carried, rule->is_udp);
}

static bool is_denied(const struct host_rules *rules, const struct subject *subject,
                      size_t *out_rule)
{
    for (size_t i = 0; i < rules->n_deny; i++)
        if (denies(&rules->deny[i], subject)) {
            if (out_rule)
                *out_rule = i;
            return true;
        }
    return false;
}

enum host_verdict host_rules_decide_name(const struct host_rules *rules, const char *name,
                                         uint16_t port, bool is_udp, size_t *out_rule)
{
    const struct subject subject = { name, strlen(name), NULL, port, is_udp };

    if (is_denied(rules, &subject, out_rule))
        return HOST_DENIED;
    for (size_t i = 0; i < rules->n_allow; i++)
        if (speaks_of(&rules->allow[i], &subject, is_udp)) {
            if (out_rule)
                *out_rule = i;
            return HOST_ALLOWED;
        }
    return HOST_NO_RULE;
}

enum host_verdict host_rules_decide_lookup(const struct host_rules *rules, const char *name,
                                           size_t *out_rule)
{
    size_t length = strlen(name);

    for (size_t i = 0; i < rules->n_deny; i++) {
        const struct host_rule *rule = &rules->deny[i];

        if (!rule->is_udp && rule->first_port == 0 && rule->last_port == 65535 &&
            host_rule_matches_name(rule, name, length, rule->last_port, false)) {
            if (out_rule)
                *out_rule = i;
            return HOST_DENIED;
        }
    }
    for (size_t i = 0; i < rules->n_allow; i++) {
        const struct host_rule *rule = &rules->allow[i];

        if (host_rule_matches_name(rule, name, length, rule->last_port, rule->is_udp)) {
            if (out_rule)
                *out_rule = i;
            return HOST_ALLOWED;
        }
    }
    return HOST_NO_RULE;
}

static bool is_own(const struct host_rules *rules, const uint8_t address[ADDRESS_BYTES])
{
    for (size_t i = 0; i < rules->n_own; i++)
        if (memcmp(rules->own[i], address, ADDRESS_BYTES) == 0)
            return true;
    return false;
}

/* Whether a rule that speaks of the subject reaches an address of that class; public ones of this
 * host itself are none. */
static bool reaches(const struct host_rule *rule, const struct subject *subject,
                    enum address_class class, bool is_public)
{
    if (is_public)
        return true;
    if (rule->kind != HOST_RULE_ADDRESS)
        return class == ADDRESS_LOOPBACK && subject->name && host_rule_reaches_loopback(rule);
    return class != ADDRESS_METADATA || rule->bits == 128;
}

static enum host_verdict decide_reach(const struct host_rules *rules, const struct subject *subject,
                                      size_t *out_rule)
{
    enum address_class class = address_class(subject->address);
    bool is_public = class == ADDRESS_PUBLIC && !is_own(rules, subject->address);

    if (is_denied(rules, subject, out_rule))
        return HOST_DENIED;
    for (size_t i = 0; i < rules->n_allow; i++)
        if (speaks_of(&rules->allow[i], subject, subject->is_udp) &&
            reaches(&rules->allow[i], subject, class, is_public)) {
            if (out_rule)
                *out_rule = i;
            return HOST_ALLOWED;
        }
    return HOST_NO_RULE;
}

enum host_verdict host_rules_decide_address(const struct host_rules *rules,
                                            const uint8_t address[ADDRESS_BYTES], uint16_t port,
                                            bool is_udp, size_t *out_rule)
{
    const struct subject subject = { NULL, 0, address, port, is_udp };

    return decide_reach(rules, &subject, out_rule);
}

enum host_verdict host_rules_decide_answer(const struct host_rules *rules, const char *name,
                                           const uint8_t address[ADDRESS_BYTES], uint16_t port,
                                           bool is_udp, size_t *out_rule)
{
    const struct subject subject = { name, strlen(name), address, port, is_udp };

    return decide_reach(rules, &subject, out_rule);
}
