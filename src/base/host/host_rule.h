/*
 * host_rule.h - one rule about hosts, and what a list of them says of one connection
 *
 *   github.com:443              that name
 *   *.example.org               every name below it, not itself
 *   10.1.2.0/24:5432            addresses
 *   [2001:db8::/32]:443
 *   example.org:8000-8010       a range of ports
 *   time.example.org:123/udp
 *   *:443, *                    every host
 *
 * Without a port: all ports. Without /udp: TCP, but where it denies, both. Names and addresses are
 * two worlds: a rule with a name says nothing of a connection by address, but "*" is for both.
 * Pure; nothing allocates.
 *
 * Allowed is less than matched where the address is not of the internet (address_class.h):
 *   - by "*" and by names only public addresses are reached, and not those of this host itself,
 *     with one exception:
 *   - rules for localhost and names below it reach loopback;
 *   - a rule with addresses reaches what is in its range, but an address where a cloud hands out
 *     secrets only if it names that one alone.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/host/address_class.h"
#include "base/host/host_name.h"

enum host_rule_kind {
    HOST_RULE_NAME,
    HOST_RULE_BELOW, /* "*." and the name */
    HOST_RULE_ANY,   /* "*" */
    HOST_RULE_ADDRESS
};

struct host_rule {
    enum host_rule_kind kind;
    uint16_t first_port; /* 0 and 65535 where no port is named */
    uint16_t last_port;
    bool is_udp;
    uint8_t bits;                   /* of all 128: 10.0.0.0/8 has 104 */
    uint8_t length;                 /* of the name */
    uint8_t address[ADDRESS_BYTES]; /* what lies behind its bits is 0 */
    char name[HOST_NAME_SIZE];      /* normal form; without "*." */
};

#define HOST_RULE_TEXT_MAX 280 /* with its NUL */

/* NULL, or what is wrong, as the end of a sentence: "has no port from 1 to 65535 behind its ':'".
 */
const char *host_rule_parse(const char *text, struct host_rule *out);

/* In its shortest form; can be parsed again, to the same rule. Returns the length. */
size_t host_rule_format(const struct host_rule *rule, char out[HOST_RULE_TEXT_MAX]);

/* Whether the rule speaks of that name (in normal form), port and protocol. */
bool host_rule_matches_name(const struct host_rule *rule, const char *name, size_t length,
                            uint16_t port, bool is_udp);

/* The same with an address; by kinds HOST_RULE_ADDRESS and HOST_RULE_ANY only. */
bool host_rule_matches_address(const struct host_rule *rule, const uint8_t address[ADDRESS_BYTES],
                               uint16_t port, bool is_udp);

/* Whether it names localhost or what is below it: then loopback is where it leads to. */
bool host_rule_reaches_loopback(const struct host_rule *rule);

/* Whether everything that the child allows is allowed by the parent; both stand in lists of allow.
 */
bool host_rule_covers(const struct host_rule *parent, const struct host_rule *child);

/* ---- lists: host_rules.c. Deny wins, then the first that allows. */

struct host_rules {
    const struct host_rule *allow; /* borrowed */
    size_t n_allow;
    const struct host_rule *deny;
    size_t n_deny;
    const uint8_t (*own)[ADDRESS_BYTES]; /* of this host: like those that are not of the internet */
    size_t n_own;
};

enum host_verdict {
    HOST_NO_RULE, /* nothing allows it */
    HOST_ALLOWED,
    HOST_DENIED
};

/* *out_rule: which of allow or of deny; may be NULL; untouched for HOST_NO_RULE. The name is in
 * normal form. This says nothing yet of where the name leads to: host_rules_decide_answer. */
enum host_verdict host_rules_decide_name(const struct host_rules *rules, const char *name,
                                         uint16_t port, bool is_udp, size_t *out_rule);

/* Whether a name (in normal form) may be asked for at all: HOST_ALLOWED if some port of it is
 * allowed. HOST_DENIED only by a rule for all ports. */
enum host_verdict host_rules_decide_lookup(const struct host_rules *rules, const char *name,
                                           size_t *out_rule);

/* A connection by address. "*" reaches public addresses only. */
enum host_verdict host_rules_decide_address(const struct host_rules *rules,
                                            const uint8_t address[ADDRESS_BYTES], uint16_t port,
                                            bool is_udp, size_t *out_rule);

/* The name, which was allowed, has led to this address: may it go there? No rule: the address is
 * not public, or this host's own, and no rule names it; a server of names has given it away
 * (rebinding). */
enum host_verdict host_rules_decide_answer(const struct host_rules *rules, const char *name,
                                           const uint8_t address[ADDRESS_BYTES], uint16_t port,
                                           bool is_udp, size_t *out_rule);
