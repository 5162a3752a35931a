/*
 * record_kinds.h - which refusals of a box would have been recorded
 *
 * An empty list of refusals says something only if one knows what was looked for.
 */
#pragma once

#include "coop/result.h"

struct coop_box;

#define RECORD_KINDS 18

/* Static texts. */
void record_kinds(const struct coop_box *box, coop_watched out[RECORD_KINDS]);
