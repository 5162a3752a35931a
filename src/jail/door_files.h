/*
 * door_files.h - calls that write or make names, done on behalf of the caller
 *
 * The command stands behind a wall, a second Landlock layer that lets it write and make nothing in
 * the protected roots. What it may do there, init does for it: it finds the place once, asks the
 * rules about that place, and acts on it by descriptor. Everything else goes on in the kernel, where
 * the wall decides.
 *
 * Part of the init image: no libc.
 */
#pragma once

#include "jail/door_call.h"

/* Rules from the descriptor, and the file mode creation mask that everybody starts with. */
bool door_files_open(int rules_fd, unsigned umask);

/* True if the call was one of these, and has been answered. */
bool door_files_serve(const struct seccomp_notif *asked);
