/*
 * protect.h - protected paths, as steps
 *
 *   plan_protect()         looks at the trees and at the rules; before the view is made
 *   plan_protect_emit()    by the view, after each mount: the masks that lie on it
 *   plan_protect_done()    when all steps stand
 */
#pragma once

#include "plan/plan.h"

int plan_protect(struct plan *plan, const struct plan_request *request, coop_error **err);
void plan_protect_emit(struct plan *plan, const char *mount_target);
void plan_protect_emit_all(struct plan *plan); /* where the mounts stand already */
void plan_protect_done(struct plan *plan);

/* Names of the workspace's top level that are to be hidden. */
void plan_protect_each_hidden(const struct plan *plan,
                              void (*each)(void *context, const char *name), void *context);
