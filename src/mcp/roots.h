/*
 * roots.h - the directories that a client works in narrow what the tools reach
 *
 *   roots_ask()     after 'initialized', and when the client says that they have changed
 *   roots_answer()  what it said; the session gets other tools
 *   roots_await()   a call waits for that answer, some seconds at most
 *
 * Only what lies in the workspace, or holds it, counts; other roots are ignored, and the client is
 * told. Without any that counts nothing is narrowed.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct call;
struct json_value;
struct session;

struct roots {    /* under the session's lock */
    bool can_ask; /* the client has that capability */
    bool is_awaited;
    bool is_broken;   /* they could not be applied */
    unsigned n_asked; /* the last one's answer is the one that counts */
    uint64_t deadline_ms;
};

void roots_ask(struct session *session);
/* Whether this answer is one to a question of ours. `result` NULL: an error. */
bool roots_answer(struct session *session, const struct json_value *id,
                  const struct json_value *result);
/* New tools, if another directory is at the workspace's path now. Jobs and shells of the old ones end. */
void roots_refresh(struct session *session);
/* 0, or the call's fault: what the client asked for could not be done, and less would be wrong. */
int roots_await(struct session *session, struct call *call);
