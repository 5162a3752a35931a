/*
 * directories.h - a directory of the user's own, and those that lead there
 */
#pragma once

#include "coop/error.h"

/* Makes what is missing, for nobody else to enter. What is there stays as it is. */
int directories_make(const char *path, coop_error **err);
