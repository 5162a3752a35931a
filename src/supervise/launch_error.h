/*
 * launch_error.h - the sentence for a launch that did not come off
 */
#pragma once

#include "launch/child.h"
#include "supervise/box.h"

int launch_error_of_clone(const struct coop_box *box, int errnum, coop_error **err);
int launch_error_of_step(const struct coop_box *box, const struct child *child, coop_error **err);

/* Whether the step failed because somebody changed the workspace meanwhile: worth another try. */
bool launch_error_is_change(const struct plan *plan, const struct child *child);
