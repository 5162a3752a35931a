/*
 * make_dir.h - directories that are not there yet
 */
#pragma once

#include "tools/place.h"

/* The directories above `path`, as far as they are missing. */
int make_parents(struct places *places, const char *path, coop_error **err);
