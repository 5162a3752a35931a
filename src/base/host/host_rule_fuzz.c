/*
 * host_rule_fuzz.c - lines of rules
 *
 * Rules: what is read can be written and read again; a rule that covers another allows all that the
 * other one allows, as far as names and addresses near both can show it.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/host/host_rule.h"

#define REQUIRE(condition) \
    do {                   \
        if (!(condition))  \
            abort();       \
    } while (0)

#define RULES_MAX 4

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool is_same(const struct host_rule *a, const struct host_rule *b)
{
    return a->kind == b->kind && a->first_port == b->first_port && a->last_port == b->last_port &&
           a->is_udp == b->is_udp && a->bits == b->bits && a->length == b->length &&
           memcmp(a->address, b->address, ADDRESS_BYTES) == 0 && strcmp(a->name, b->name) == 0;
}

static void check_forms(const struct host_rule *rule)
{
    struct host_rule again;
    char text[HOST_RULE_TEXT_MAX];
    char name[HOST_NAME_SIZE];
    size_t n = 0;

    REQUIRE(host_rule_format(rule, text) == strlen(text));
    REQUIRE(!host_rule_parse(text, &again) && is_same(rule, &again));
    REQUIRE(rule->first_port <= rule->last_port && rule->bits <= 128);
    REQUIRE(host_rule_covers(rule, rule));
    if (rule->kind == HOST_RULE_NAME || rule->kind == HOST_RULE_BELOW) {
        REQUIRE(!host_name_normalise(rule->name, rule->length, name, &n));
        REQUIRE(n == rule->length && strcmp(name, rule->name) == 0);
    }
}

/* What one rule alone says. */
static bool allows(const struct host_rule *rule, const char *name, const uint8_t *address,
                   uint16_t port, bool is_udp)
{
    const struct host_rules rules = { .allow = rule, .n_allow = 1 };
    size_t which = 1;
    enum host_verdict verdict =
        !name      ? host_rules_decide_address(&rules, address, port, is_udp, &which)
        : !address ? host_rules_decide_name(&rules, name, port, is_udp, &which)
                   : host_rules_decide_answer(&rules, name, address, port, is_udp, &which);

    REQUIRE(verdict == HOST_ALLOWED ? which == 0 : verdict == HOST_NO_RULE);
    if (verdict == HOST_ALLOWED) {
        const struct host_rules both = { .allow = rule, .n_allow = 1, .deny = rule, .n_deny = 1 };

        REQUIRE(name && !address
                    ? host_rules_decide_name(&both, name, port, is_udp, NULL) == HOST_DENIED
                    : true);
        REQUIRE(!name || address || host_rules_decide_lookup(&rules, name, NULL) == HOST_ALLOWED);
    }
    return verdict == HOST_ALLOWED;
}

static void check_subject(const struct host_rule *parent, const struct host_rule *child,
                          const char *name, const uint8_t *address)
{
    const uint16_t ports[] = {
        0, 1, 80, child->first_port, child->last_port, parent->first_port, parent->last_port, 65535
    };

    for (size_t i = 0; i < sizeof ports / sizeof *ports; i++)
        for (int is_udp = 0; is_udp <= 1; is_udp++)
            REQUIRE(!allows(child, name, address, ports[i], is_udp) ||
                    allows(parent, name, address, ports[i], is_udp));
}

static void check_cover(const struct host_rule *parent, const struct host_rule *child,
                        const struct host_rule *other)
{
    static const char *const inner[] = { "127.0.0.1", "::1", "10.0.0.1", "169.254.169.254",
                                         "8.8.8.8" };
    char below[HOST_NAME_SIZE + 2] = "a.";
    uint8_t address[ADDRESS_BYTES];

    if (!host_rule_covers(parent, child))
        return;
    memcpy(below + 2, other->name, (size_t)other->length + 1);
    check_subject(parent, child, other->name, NULL);
    check_subject(parent, child, below, NULL);
    check_subject(parent, child, NULL, other->address);
    check_subject(parent, child, other->name, other->address);
    for (size_t i = 0; i < sizeof inner / sizeof *inner; i++) {
        REQUIRE(address_parse(inner[i], strlen(inner[i]), address));
        check_subject(parent, child, NULL, address);
        check_subject(parent, child, other->name, address);
    }
}

static void check_address(const char *text)
{
    uint8_t address[ADDRESS_BYTES];
    uint8_t again[ADDRESS_BYTES];
    char shown[ADDRESS_TEXT_MAX];

    if (!address_parse(text, strlen(text), address))
        return;
    size_t n = address_format(address, shown);
    REQUIRE(address_parse(shown, n, again) && memcmp(address, again, sizeof again) == 0);
    REQUIRE(*address_class_name(address_class(address)));
    for (unsigned bits = 0; bits <= 128; bits++)
        REQUIRE(!address_range_is_public(address, bits) ||
                address_class(address) == ADDRESS_PUBLIC);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct host_rule rules[RULES_MAX];
    size_t n_rules = 0;
    char *text = malloc(size + 1);

    if (!text)
        return 0;
    if (size > 0)
        memcpy(text, data, size);
    text[size] = '\0';
    for (char *line = text, *end; *line && n_rules < RULES_MAX; line = end) {
        struct host_name host;
        uint16_t port;

        end = strchrnul(line, '\n');
        if (*end)
            *end++ = '\0';
        check_address(line);
        (void)host_name_parse_authority(line, strlen(line), &host, &port);
        const char *wrong = host_rule_parse(line, &rules[n_rules]);
        REQUIRE(!wrong || strlen(wrong) < 100);
        if (!wrong)
            check_forms(&rules[n_rules++]);
    }
    for (size_t i = 0; i < n_rules; i++)
        for (size_t j = 0; j < n_rules; j++)
            for (size_t k = 0; k < n_rules; k++)
                check_cover(&rules[i], &rules[j], &rules[k]);
    free(text);
    return 0;
}
