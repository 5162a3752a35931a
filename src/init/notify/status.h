/*
 * status.h - what /proc/PID/status says of a process of the box
 *
 * Part of the init image: no libc.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NOTIFY_STATUS_SIZE \
    2048 /* as much as comes before the lists of processors and memory nodes */

/* The text of a process or thread; false, and an empty text, if there is none. */
bool notify_status_read(unsigned long pid, char text[NOTIFY_STATUS_SIZE]);

/* The number behind a line's name ("\nUmask:\t"), in base 8, 10 or 16; `otherwise` if it is not there. */
uint64_t notify_status_number(const char *text, const char *line, unsigned base,
                              uint64_t otherwise);

/*
 * init, a thread of it, or a child that acts for it: nothing else in the box has a capability. What has
 * ended by then is nobody's; a number that comes again is a process of the box, for process 1 ends last.
 */
bool notify_status_is_ours(unsigned long pid);
