/*
 * door_patience.h - a call that may wait, of which init awaits no more than a moment
 *
 *   door_patience_begin(); r = raw(SYS_connect, ...); door_patience_end();
 *
 * In between an alarm interrupts what waits, as often as it takes: the call gives -EINTR then. All
 * other signals stay blocked. Part of the init image: no libc.
 */
#pragma once

void door_patience_begin(void);
void door_patience_end(void);
