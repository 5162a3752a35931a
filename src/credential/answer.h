/*
 * answer.h - the head of the host's answer, as the box gets it
 *
 * It goes on as it is, but for three things: the connection ends after it, a field that repeats the
 * secret's value has "[secret NAME]" in its place, and what speaks of the connection to the host is
 * left out. Pure.
 */
#pragma once

#include "base/buffer.h"
#include "base/redact.h"
#include "net/wire/http_head.h"

#define CREDENTIAL_ANSWER_MAX (64 * 1024) /* bytes of a head */

struct credential_answer {
    size_t length; /* of the head with its empty line */
    unsigned status;
    bool is_framed; /* the box can tell whether the body has come whole */
};

/* n: all bytes that have come. HTTP_BAD: no HTTP/1, or the head is too long. */
enum http_state credential_answer_parse(const char *bytes, size_t n, struct credential_answer *out);

/* An answer that is followed by another: 100, 103 and the like, but not 101. */
bool credential_answer_is_interim(const struct credential_answer *answer);

/* Appends the head. `redact` may be NULL. */
void credential_answer_write(const char *bytes, const struct credential_answer *answer,
                             struct redact *redact, struct buffer *out);
