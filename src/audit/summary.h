/*
 * summary.h - texts for records and messages: short, printable, and without secrets
 *
 *   struct summary *summary;
 *   summary_new(policy, &summary, &err) -> summary_words(), summary_text() -> summary_free()
 *
 * Values that the policy gives as secrets, and those that the caller's own environment or --env hold
 * in variables whose names tell of one, are taken out wherever they stand; then whatever looks like
 * a secret (base/scrub.h). Control characters become visible (printable.h). A summary is used by one thread
 * at a time.
 */
#pragma once

#include <stddef.h>

#include "base/buffer.h"
#include "coop/policy.h"

#define SUMMARY_MAX 1000 /* bytes of a command */

struct summary;

/* Copies what it needs. NULL for the policy: there is none. */
int summary_new(const coop_policy *policy, struct summary **out, coop_error **err);
void summary_free(struct summary *summary); /* NULL is fine */
void summary_free_at_exit(struct summary **summary);
#define auto_summary __attribute__((cleanup(summary_free_at_exit)))

/* At most `max` bytes; what is cut off is marked by an ellipsis. */
void summary_text(struct summary *summary, const char *text, size_t n, size_t max,
                  struct buffer *out);
/* A command as it could be typed. */
void summary_words(struct summary *summary, char *const *argv, size_t max, struct buffer *out);
