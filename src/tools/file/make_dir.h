/*
 * make_dir.h - directories that are not there yet
 */
#pragma once

#include "tools/path/place.h"

/* The directories above `path`, as far as they are missing. */
int make_dir_parents(struct places *places, const char *path, coop_error **err);
