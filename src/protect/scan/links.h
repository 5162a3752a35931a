/*
 * links.h - other names of files
 *
 * A file may have names that no rule is about. Looked for only when a protected file has more names
 * than were found: it costs a walk through everything, dependency trees and git directories too.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

#include "coop/error.h"

struct link_wanted {
    dev_t dev;
    ino_t ino;
    size_t data;
};

/* Calls `found` for each file below the directory that has several names. */
int links_gather(int root_fd, const char *directory,
                 int (*found)(void *context, const struct link_wanted *wanted, const char *path,
                              coop_error **err),
                 void *context, coop_error **err);

/* Calls `found` for each name below `root_fd` of one of the files, which are sorted by links_sort(). */
int links_find(int root_fd, const struct link_wanted *wanted, size_t n,
               int (*found)(void *context, const struct link_wanted *wanted, const char *path,
                            coop_error **err),
               void *context, coop_error **err);
void links_sort(struct link_wanted *wanted, size_t n);
