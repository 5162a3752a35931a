/*
 * made.h - what notify has made, to be told from what others make
 *
 * The supervisor hides what appears under a protected name while the box runs (guard.h), but what the
 * box made itself stays its own. Nothing comes into the protected roots from inside but through the
 * door, so notify knows.
 *
 * Part of the init image: no libc.
 */
#pragma once

#include <stdbool.h>

#include "init/file_id.h"

/* Made, or given its name, by the box. The last few thousand are remembered. */
void notify_made(const struct file_id *identity);
/* What is there now by this name; with the name "", the descriptor's own. */
void notify_made_name(int directory_fd, const char *name);
bool notify_made_is(const struct file_id *identity);
