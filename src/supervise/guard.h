/*
 * guard.h - what others make or replace while a box runs
 *
 * Masks lie on what existed when the box was made. An editor on the host that saves by renaming takes
 * a mask away with the old file, and a file that comes later never had one. Once a run has lived a
 * while the supervisor watches the workspace (plan/protect_watch.h), and what appears under a name that
 * may not be read gets its mask then. Until then it can be read: the result says so. Where a mask cannot
 * be had, the box ends; where the kernel watches no more, the result says so.
 *
 * What the box itself makes stays readable for it: init knows what that is (init/notify/made.h).
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct coop_box;
struct guard;

/* Takes what the plan knows; box->guard stays NULL where there is nothing to guard. `at_once`: others
 * are known to be at work. */
void guard_take(struct coop_box *box, bool at_once);
void guard_free(struct guard *guard); /* NULL is fine */

/* When it wants to begin, or to go on after a pause, on the clock of base/clock.h; 0: it waits for its
 * descriptor, or for nothing. While it is due, the descriptor is not to be waited for. */
uint64_t guard_due(const struct guard *guard);
/* That time has come. */
void guard_go_on(struct coop_box *box);

int guard_fd(const struct guard *guard); /* -1: none */
/* It is readable. */
void guard_serve(struct coop_box *box);
/* init has answered. */
void guard_answered(struct coop_box *box, unsigned slot, bool is_own);

/* The box is gone, init's last words are taken: tells of what it was ended for. */
void guard_end(struct coop_box *box);

/* A git configuration was written, by its path in the box: what covers it is shown anew. */
void guard_show_config(struct coop_box *box, const char *path);
