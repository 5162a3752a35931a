/*
 * rules.h - what a gate lets through, as its supervisor wrote it
 *
 * Text, a line each:
 *
 *   allow RULE                        base/host/host_rule.h
 *   deny RULE
 *   connections N                     at once; 1024
 *   unnamed yes|no                    TLS that hides which host it is for: without SNI, or with ECH
 *                                     beside it. Without this line: where a rule names the host itself
 *   reach PORT                        of the host's loopback; its listeners come with the sockets
 *   publish ADDRESS PORT INNERPORT    the host's ADDRESS and PORT lead to the box's INNERPORT
 *   udp PORT                          that rules with /udp name; its socket comes with the others
 *   proxy yes|no                      one more listener comes along: HTTP CONNECT and SOCKS5
 *   credential NAME HOST:PORT         requests to NAME.coop.internal go there, with a secret
 *
 * A rule's number is its place among all lines of allow and deny. While the gate runs, more of these
 * two may come.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/credential.h"
#include "base/host/host_rule.h"

#define GATE_RULES_MOST_REACH   64
#define GATE_RULES_MOST_PUBLISH 64
#define GATE_RULES_MOST_UDP     16

enum gate_unnamed { GATE_UNNAMED_EXACT, GATE_UNNAMED_ALWAYS, GATE_UNNAMED_NEVER };

struct gate_publish_rule {
    uint8_t address[ADDRESS_BYTES];
    uint16_t port, inner_port;
};

struct gate_credential_rule {
    char name[HOST_NAME_SIZE]; /* NAME.coop.internal */
    struct host_rule host;     /* one name and one port */
};

struct gate_rules {
    struct host_rule *allow, *deny;
    int32_t *allow_number, *deny_number; /* of each rule */
    size_t n_allow, n_deny;
    uint32_t connections;
    enum gate_unnamed unnamed;
    bool has_proxy;
    uint16_t reach[GATE_RULES_MOST_REACH];
    size_t n_reach;
    uint16_t udp[GATE_RULES_MOST_UDP];
    size_t n_udp;
    struct gate_publish_rule publish[GATE_RULES_MOST_PUBLISH];
    size_t n_publish;
    struct gate_credential_rule credentials[CREDENTIAL_MOST];
    size_t n_credentials;
    uint8_t (*own)[ADDRESS_BYTES]; /* of this host: no line, the gate finds them out (gate/own.h) */
    size_t n_own;
};

void gate_rules_init(struct gate_rules *rules);

/* Lines that are there from the start, or (is_live) came later. NULL, or what is wrong with one;
 * those before it are taken then. Changes the text. */
const char *gate_rules_read(struct gate_rules *rules, char *text, bool is_live);

struct gate_decision {
    enum host_verdict verdict;
    int32_t rule;  /* the number; -1: none */
    bool is_exact; /* the rule that allows names the host itself */
};

/* The credential that requests to this name and port are for; NULL: none. */
const struct gate_credential_rule *gate_rules_credential(const struct gate_rules *rules,
                                                         const char *name, uint16_t port);

struct gate_decision gate_rules_lookup(const struct gate_rules *rules, const char *name);
struct gate_decision gate_rules_name(const struct gate_rules *rules, const char *name,
                                     uint16_t port, bool is_udp);
struct gate_decision gate_rules_address(const struct gate_rules *rules,
                                        const uint8_t address[ADDRESS_BYTES], uint16_t port,
                                        bool is_udp);
struct gate_decision gate_rules_answer(const struct gate_rules *rules, const char *name,
                                       const uint8_t address[ADDRESS_BYTES], uint16_t port,
                                       bool is_udp);

/* Whether the credential's own name and its host are still allowed. */
struct gate_decision gate_rules_credential_name(const struct gate_rules *rules,
                                                const struct gate_credential_rule *credential);

/* As gate_rules_answer(), of a credential's host, which no other rule need allow. */
struct gate_decision gate_rules_credential_answer(const struct gate_rules *rules,
                                                  const struct gate_credential_rule *credential,
                                                  const uint8_t address[ADDRESS_BYTES]);
