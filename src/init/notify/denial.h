/*
 * denial.h - what init tells of refusals
 *
 * A refusal is told once, when it first happens; how often it happened comes at the end. So a command
 * that tries the same thing a million times costs a million comparisons and two messages.
 *
 * Part of the init image: no libc.
 */
#pragma once

#include <stdint.h>

#include "init/denial_op.h"
#include "init/protocol.h"

struct notify_denial {
    enum denial_op op;
    int nr;
    int error; /* positive */
    int rule;  /* of a protected path, or -1 */
    int value;
    int pid;          /* who asked; 0: as notify_denial_of() said */
    const char *text; /* NULL: "" */
};

/* Whose call is served now: what is told is of this one. */
void notify_denial_of(int pid);

/* In a child of init, which counts for nobody: each is told. */
void notify_denial_in_child(void);

/* Counts it, and tells it if it is a new one. */
void notify_note(const struct notify_denial *denial);
/* It fails here; the supervisor finds out whether the box is the reason. */
void notify_ask(const struct notify_denial *denial);

/* The same for a thread of its own, which counts nothing: `room` is written to. */
void notify_send(struct protocol_denied *room, enum protocol_event event,
                 const struct notify_denial *denial, int slot);

/* At the end: how often. */
void notify_denial_report(void);
