/*
 * credential_protocol.h - what a gate, its supervisor and coop-credential say to each other
 *
 * The supervisor starts the program when the gate first wants it, with one end of a SOCK_SEQPACKET
 * pair as descriptor 0 and a file in memory as 1; the gate has the other end. For each connection
 * the gate sends an order with two descriptors: the box's, on which nothing of the request has been
 * read, and one that is connected to the host. Back come events (gate_protocol.h) of the kind
 * GATE_EVENT_CREDENTIAL. End-of-file is the order to end.
 *
 * The file holds lines, for each credential:
 *
 *   credential NAME    first
 *   host HOST:PORT
 *   header NAME
 *   prefix TEXT        what stands before the value; the line is there where it is empty too
 *   secret NAME        as people call it
 *   ca PATH            one more file of certificates that are believed; may be missing
 *   value TEXT
 *
 * No text has a control character in it: the policy sees to that.
 */
#pragma once

#include <stdint.h>

#include "base/credential.h"

#define CREDENTIAL_GATE_FD 0
#define CREDENTIAL_TEXT_FD 1

struct credential_order {
    uint32_t index;  /* of the credential */
    uint32_t is_end; /* with no descriptors: its host is denied from now on */
};
