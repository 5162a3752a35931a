/*
 * secret_places.h - where people and programs keep what no command may read, as one table
 *
 * Well-known paths: of every home directory, and of the host. They are hidden wherever a mount shows
 * them, except by a mount that names one of them, or something in it: then it is meant. Coop's own
 * files (configuration, approvals, audit log, caches) are never shown, not even so.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct secret_place {
    const char *path; /* below a home, or absolute; the last name may have one '*' */
    bool is_own;      /* coop's */
};

extern const struct secret_place secret_places[];
extern const size_t secret_n_places;

/* Whether a path of the host lies among its programs and settings, which are not searched for secrets of
 * other names. */
bool secret_is_system(const char *path);
