/*
 * quiet.h - paths that programs look for before they do anything, and do well without
 *
 * A box that does not have them refuses nothing that anybody would want to hear of: they are never told.
 */
#pragma once

#include <stdbool.h>

/* In no order that matters; ends with NULL. A directory stands for all that is in it. */
extern const char *const quiet_paths[];

/* Whether a path is one of them, or of those that have numbers in their names. */
bool quiet_is(const char *path);
