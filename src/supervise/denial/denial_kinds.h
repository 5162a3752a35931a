/*
 * denial_kinds.h - which refusals of a box would have been recorded, and the words of limits
 *
 * An empty list of refusals says something only if one knows what was looked for.
 */
#pragma once

#include "coop/policy.h"
#include "coop/result.h"
#include "init/denial_op.h"

struct coop_box;

#define DENIAL_KINDS_MAX 32

/* Static texts; how many there are. */
size_t denial_kinds(const struct coop_box *box, coop_watched out[DENIAL_KINDS_MAX]);

/* How a limit that was hit is put into words: `before`, the limit's number, `after`. */
struct limit_words {
    enum denial_op op;
    coop_limit limit;
    const char *target, *rule, *before, *after, *allow;
};
/* Ends with a NULL target. */
extern const struct limit_words denial_limits[];
