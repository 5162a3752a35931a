/*
 * resolver.h - where names lead to, by the host's own files and name servers
 *
 * Reads /etc/hosts and /etc/resolv.conf for each question, so changes count at once. Both families
 * are asked for at the same time, over UDP from a fresh port each time, over TCP where an answer
 * is too long. Answers are kept for as long as they say, five minutes at most. Who asks for what
 * somebody asks for already waits for the same answer.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/host/address_class.h"
#include "gate/hosts.h"
#include "net/loop.h"

struct gate_name;

#define GATE_ANSWER_MOST    32 /* addresses */
#define GATE_QUESTIONS_MOST 256

#define GATE_HOSTS_FILE   "/etc/hosts"
#define GATE_SERVERS_FILE "/etc/resolv.conf"

struct gate_answer {
    int64_t good_until_ms;
    int error; /* where there are no addresses */
    unsigned n;
    uint8_t addresses[][ADDRESS_BYTES];
};

struct gate_waiter {
    struct gate_waiter *previous, *next; /* both NULL: does not wait */
    /* The answer may be gone when this returns. */
    void (*answered)(struct gate *gate, struct gate_waiter *waiter,
                     const struct gate_answer *answer);
};

struct gate_resolver {
    struct gate_servers servers; /* as last read */
    bool loses_case;             /* a server does not repeat a name as it was written */
    unsigned n_questions;
    int hosts_fd, servers_fd; /* the files as they were at the start; -1: none */
};

/* Opens the files: later it may be that they cannot be opened any more. */
int gate_resolver_init(struct gate_resolver *resolver);

/* May answer before it returns. */
void gate_resolver_ask(struct gate *gate, struct gate_name *name, struct gate_waiter *waiter);

/* Does not wait any more; nothing where it did not. */
void gate_resolver_forget(struct gate_waiter *waiter);
