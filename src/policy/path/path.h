/*
 * path.h - paths as text: absolute, normal, without ways out
 */
#pragma once

#include <stdbool.h>

#include "coop/error.h"

/* Checks a path that names something on the host: not empty, no newline, not too long. */
int path_check(const char *what, const char *path, coop_error **err);

/* A path in the box: absolute, no "..", "//" and "/./" folded, no slash at the end.
 * *out is the caller's to free. */
int path_normalise(const char *what, const char *path, char **out, coop_error **err);

/*
 * As path_normalise(), but ".." takes away the component before it: "/a/../b" is "/b". One that would
 * leave "/" is refused with -EACCES. This is about text only: where "/a" is a symbolic link, the
 * kernel sees it otherwise, so whoever opens the result walks down from a descriptor and lets no
 * link lead out.
 */
int path_resolve(const char *what, const char *path, char **out, coop_error **err);

/* As path_resolve(), but ".." of "/" is "/", as the kernel has it in a box. */
int path_resolve_in_box(const char *what, const char *path, char **out, coop_error **err);

/* True when `path` is `ancestor` or lies below it; both normal. */
bool path_is_within(const char *path, const char *ancestor);

/* `below` (relative, may be empty) in the directory `base` (normal); NULL without memory. */
char *path_join(const char *base, const char *below);

/* Number of components of a normal absolute path; 0 for "/". */
unsigned path_depth(const char *path);
