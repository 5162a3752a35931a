/*
 * head_start.h - a box that is begun while its plan is still being compiled
 *
 * Making namespaces takes the kernel as long as compiling a plan takes us, and the network's longer
 * still; none of them depends on the plan. So where the policy alone says enough, a first process
 * makes them beside us. The box then waits for the go-ahead on its control socket, which says that
 * the plan is there; end-of-file there means that we are gone, and the box goes too. Nothing of the
 * plan is known to it before, and nothing but empty namespaces exists.
 *
 * What cannot be begun so (root's boxes, cgroups, terminals, nat, rules about commands, traps), and
 * what fails before the go-ahead, is made whole by launch() as if nothing had been tried.
 */
#pragma once

#include "jail/box.h"
#include "plan/plan.h"

/* After the request has been made and before the plan. Never fails: see box->head_start. */
void head_start(struct coop_box *box, const struct plan_request *request);
/* The plan is there: goes on. 1: nothing was begun, or it is of no use, and is gone. */
int head_start_finish(struct coop_box *box, coop_error **err);
/* There will be no plan. Nothing happens if nothing was begun. */
void head_start_drop(struct coop_box *box);
