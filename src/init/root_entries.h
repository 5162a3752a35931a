/*
 * root_entries.h - the entries of one directory of the host, shown in the box's root
 *
 * The root of a box is a skeleton in memory, read-only for everybody inside. Each entry of the
 * project stands in it as a mount of its own on an empty file or directory; links are copied. These
 * functions make what is shown for one name be what the project has there: they look at both and
 * change what differs, so that calling them once more, or late, does no harm.
 *
 * Used while the box is made and by its init: system calls only.
 */
#pragma once

#include <stdbool.h>
#include <sys/stat.h>

struct root_entries {
    int root_view_fd; /* the directory, on a mount of its own that nobody inside can reach */
    int skeleton_fd;  /* the box's root once more, on a mount that can be written */
    int root_fd;      /* the box's root as everybody sees it */
};

#define ROOT_ENTRY_HIDDEN    1u /* its name may be seen, and nothing else of it */
#define ROOT_ENTRY_READ_ONLY 2u /* shown read-only */

#define ROOT_ENTRY_NAME_MAX 256

/* 0; -EAGAIN where the host changes it faster than it can be looked at; or -errno. */
long root_entry_show(const struct root_entries *view, const char *name, unsigned flags);

/* Makes room in the root for a directory that will be called so; nothing is seen of it yet. */
long root_entry_reserve(const struct root_entries *view, const char *name);
/* The directory `from` has become `to`: what is mounted in it moves along. */
long root_entry_move(const struct root_entries *view, const char *from, const char *to);

/* Looks at a name without following it; 0 or -errno. */
long root_entry_look(int directory_fd, const char *name, struct stat *out);

/* Calls `each` for every name of a directory. `directory_fd` may be O_PATH. */
long root_entry_list(int directory_fd, void (*each)(void *context, const char *name),
                     void *context);
