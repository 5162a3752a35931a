/*
 * question.h - one name, asked of the host's name servers
 *
 * Each server is asked in turn, and all a second time. The case of the letters is random the first
 * time: whoever forges an answer must guess it, and the port and two identifiers.
 */
#pragma once

#include "gate/names.h"
#include "gate/resolver.h"
#include "net/wire/dns_message.h"

/* For one family. */
struct gate_question_part {
    uint8_t packet[DNS_QUESTION_MAX];
    uint16_t n_packet;
    bool is_done;
    bool needs_tcp;
    uint8_t n;
    uint32_t ttl;
    uint8_t addresses[DNS_ADDRESSES_MAX][ADDRESS_BYTES];
};

struct gate_question {
    struct loop_dead dead;
    struct gate_name *name;
    struct gate_waiter waiters; /* a ring */
    struct loop_source source;
    struct loop_timer timer;
    struct gate_servers servers;
    unsigned attempt;
    int error;                          /* of the last server */
    bool has_no_name;                   /* a server says that there is no such name */
    struct gate_question_part parts[2]; /* AAAA, A */
    struct gate_question_part *by_tcp;
    uint8_t *stream; /* what has come by TCP */
    size_t n_stream;
};

/* May end before it returns. */
void gate_question_begin(struct gate *gate, struct gate_question *question);

/* What gate/question.c calls at the end: gate/resolver.c. */
void gate_resolver_answered(struct gate *gate, struct gate_question *question);
