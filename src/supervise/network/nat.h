/*
 * nat.h - the supervisor's side of a box's way out, where its network is 'nat'
 *
 *   network_nat_start() -> launch sends it the namespace and waits for its answer
 *     -> network_nat_took(), or network_nat_explain()
 *
 * coop-nat is a process with the life of a gate (supervise/network/gate.h), and tells what is refused as one
 * does. Only it is there before the box, because the box waits for it.
 */
#pragma once

#include "supervise/network/gate.h"

int network_nat_start(struct network_gate *gate, const struct plan_nat *plan,
                      const struct host *host, coop_error **err);

/* The box has it: by which method, for the result. */
void network_nat_took(struct plan *plan, uint32_t method);

/* The box was not made: if that was coop-nat's doing, its words take the place of ours. */
int network_nat_explain(struct network_gate *gate, int r, coop_error **err);
