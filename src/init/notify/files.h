/*
 * files.h - calls that write or make names, done on behalf of the caller
 *
 * The command has a backstop, a second Landlock layer that lets it write and make nothing in
 * the protected roots. What it may do there, init does for it: it finds the place once, asks the
 * rules about that place, and acts on it by descriptor. Everything else goes on in the kernel, where
 * the backstop decides.
 *
 * Part of the init image: no libc.
 */
#pragma once

#include "init/notify/call.h"

/* Packed rules (plan/rules/packed.h), and the file mode creation mask that everybody starts with. */
bool notify_files_open(char *rules, unsigned umask, bool has_own_tmp);

/* True if the call was one of these, and has been answered. */
bool notify_files_serve(const struct seccomp_notif *asked);
