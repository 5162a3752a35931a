/*
 * box_denials.h - from what init and the supervisor saw to the records of a box
 */
#pragma once

#include "init/protocol.h"
#include "supervise/box.h"

/* One of init's messages, of `length` bytes. */
void box_denials_take(struct coop_box *box, struct protocol_denied *message, size_t length);

/* A refusal that the supervisor itself decided. */
void box_denials_note_refusal(struct coop_box *box, int rule, const char *path, const char *why);

struct protect_rule;
/* Something that came to a protected name while the box ran. `rule` may be NULL. */
void box_denials_note_late(struct coop_box *box, const struct protect_rule *rule, const char *path,
                           const char *why);

/* The box has ended: limits that were hit, and words for all that has none. */
void box_denials_finish(struct coop_box *box);
