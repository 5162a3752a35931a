/*
 * door_record.h - what init tells of refusals
 *
 * A refusal is told once, when it first happens; how often it happened comes at the end. So a command
 * that tries the same thing a million times costs a million comparisons and two messages.
 *
 * Part of the init image: no libc.
 */
#pragma once

#include <stdint.h>

#include "jail/protocol.h"
#include "jail/record_op.h"

struct door_denial {
    enum record_op op;
    int nr;
    int error; /* positive */
    int rule;  /* of a protected path, or -1 */
    int value;
    const char *text; /* NULL: "" */
};

/* In a child of init, which counts for nobody: each is told. */
void door_record_in_child(void);

/* Counts it, and tells it if it is a new one. */
void door_note(const struct door_denial *denial);
/* It fails here; the supervisor finds out whether the box is the reason. */
void door_ask(const struct door_denial *denial);

/* The same for a thread of its own, which counts nothing: `room` is written to. */
void door_send(struct protocol_denied *room, enum protocol_event event,
               const struct door_denial *denial, int slot);

/* At the end: how often. */
void door_record_report(void);
