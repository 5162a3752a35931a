/*
 * redact.h - takes the values of secrets out of a stream of bytes
 *
 *   redact_new() -> redact_run(), any number of times -> redact_end() -> redact_free()
 *
 * Wherever a value stands, also across two pieces of input, "[secret NAME]" goes out instead. Of
 * values that overlap none is left in part: every byte that belongs to one is taken out, and each
 * value is named. How the input is cut into pieces makes no difference.
 *
 * What may be the beginning of a value is held back until that is decided: fewer bytes than the
 * longest value has. The time is linear in the input, whatever it is; the memory in the values. It
 * is wiped at the end, since it holds them.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#define REDACT_MIN 4 /* bytes: a shorter value would be found everywhere, and is left alone */

struct redact_secret {
    const char *name;
    const char *value;
    size_t length;
};

struct redact;

/* Takes what goes out; called from within redact_run(), redact_flush() and redact_end(). */
typedef void redact_put(void *context, const char *bytes, size_t n);

/* Copies names and values. *out is NULL where no value is long enough. `as_terminal` also finds
 * values whose newlines a terminal has turned into CR LF. -ENOMEM. */
int redact_new(const struct redact_secret *secrets, size_t n, bool as_terminal,
               struct redact **out);
void redact_free(struct redact *redact); /* NULL is fine */

void redact_run(struct redact *redact, const char *bytes, size_t n, redact_put *put, void *context);

/* Bytes are held back. */
bool redact_is_holding(const struct redact *redact);

/* Hands out what is held back, because somebody waits for it. Of a value that goes on after this,
 * the rest is still taken out. */
void redact_flush(struct redact *redact, redact_put *put, void *context);

/* The same at the end of the stream; another may follow. */
void redact_end(struct redact *redact, redact_put *put, void *context);
