/*
 * supervise.h - watching a box until it ends
 */
#pragma once

#include "supervise/box.h"

int supervise_start(struct coop_box *box, coop_error **err);
int supervise_wait(struct coop_box *box, coop_error **err);
void supervise_abort(struct coop_box *box); /* ends a box that cannot be watched */

/* Takes one message of init's, if there is one. */
bool supervise_read_control(struct coop_box *box);
