/*
 * denials.h - what a box was refused, counted and bounded
 *
 *   denials_note(), any number of times -> describe what has no words yet -> denials_done()
 *
 * Refusals that are the same are one record with a count; so many different ones are kept, the rest
 * are summed. Whoever refuses with words of its own (the network gate) gives them at once. What comes
 * from init has a number instead, and gets its words when the box has ended: supervise/denial/denial_words.h.
 * A zeroed struct is an empty table.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"
#include "init/denial_op.h"

#define DENIALS_MAX 200 /* different ones */

/* In place of a protect rule's number. */
#define DENIAL_NO_RULE (-1)

struct denial {
    enum denial_op op;
    int error;       /* the errno that was answered; 0: not known, or none */
    int nr;          /* of the system call; -1: none */
    int rule;        /* of a protected path, protocol.h; DENIAL_NO_RULE for others */
    int value;       /* of DENIAL_SOCKET: the family */
    int session;     /* whose first it was, by its number in the box; 0: not known */
    char *target;    /* as it was asked for, not yet printable */
    char *rule_text; /* NULL: has no words yet */
    char *origin;    /* where the rule stands; NULL: built in */
    char *why;
    char *allow; /* what would permit it; NULL: nothing would */
    uint64_t count;
    uint64_t first_ms; /* since the command was started */
    uint64_t hash;
};

struct denials {
    struct denial *items; /* NULL while there are none */
    size_t n;
    uint64_t more; /* refusals of other kinds than those kept */
    bool failed;   /* out of memory: `more` has the rest */
};

/* What is to be noted; all text is borrowed. */
struct denial_note {
    enum denial_op op;
    int error;
    int nr;
    int rule;
    int value;
    int session;
    const char *target; /* NULL: "" */
    const char *rule_text, *origin, *why, *allow;
    uint64_t count; /* how often since the last note of it; 0 is 1 */
    bool is_total;  /* `count` is how often so far */
    uint64_t at_ms;
};

/* The record's index, or -1: there was no room, and it was added to the sum. */
int denials_note(struct denials *denials, const struct denial_note *note);
/* How often so far, of a record that is there. */
void denials_count(struct denials *denials, int index, uint64_t total);
/* Takes out what has no words. */
void denials_drop_wordless(struct denials *denials);
void denials_done(struct denials *denials);

/* As documents spell it: "read", "file-size" ... */
extern const char *const denial_op_names[DENIAL_OPS];
extern const enum denial_subject denial_subjects[DENIAL_OPS];

/* What was asked for, for people: "read /x", "tmp-size /tmp"; of other limits the target says it all. */
void denial_print_asked(struct buffer *out, const char *op, const char *target);
