/*
 * refusal.h - the sentence for a launch that did not come off
 */
#pragma once

#include "jail/box.h"
#include "jail/child.h"

int refusal_of_clone(const struct coop_box *box, int errnum, coop_error **err);
int refusal_of_step(const struct coop_box *box, const struct child *child, coop_error **err);

/* Whether the step failed because somebody changed the workspace meanwhile: worth another try. */
bool refusal_is_of_change(const struct plan *plan, const struct child *child);
