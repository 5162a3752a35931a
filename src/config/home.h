/*
 * home.h - where a user's own files are
 */
#pragma once

#include "coop/error.h"

/*
 * `given`, or else the environment variable if it is an absolute path, as the XDG specification
 * wants it, or else `below` in $HOME, or else NULL: nobody knows. *out is the caller's to free.
 */
int home_directory(const char *given, const char *variable, const char *below, char **out,
                   coop_error **err);
