/*
 * lock.h - notify's share of the lock of all boxes (structure_lock.h)
 *
 * A call says what it wants, takes the lock before it asks the kernel where the place is, and holds it
 * until it has acted.
 *
 *   notify_lock_want(NOTIFY_LOCK_SHARED);
 *   r = target_find(&place, ...);      tries, and waits only for a place that the rules are about
 *   r = the rules, then the call
 *   notify_lock_end();                  for every call, before it is answered
 *
 * Part of the init image: no libc.
 */
#pragma once

#include <stdbool.h>

enum notify_lock_kind { NOTIFY_LOCK_NONE, NOTIFY_LOCK_SHARED, NOTIFY_LOCK_ALONE };

/* Takes PROTOCOL_LOCK_FD; false: there is none. */
bool notify_lock_open(void);

void notify_lock_want(enum notify_lock_kind kind);

/* Whether the call has what it wants; the one does not wait for it, the other does: -EBUSY at last. */
bool notify_lock_try(void);
long notify_lock_wait(void);

bool notify_lock_is_alone(void);
/* Whoever could not have it is to be told: then true. */
bool notify_lock_end(void);
