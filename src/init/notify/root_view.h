/*
 * root_view.h - a directory of the host as the box's root: its top level, kept by init
 *
 * Inside the entries of the project everything is the kernel's own. The root itself is a skeleton in
 * memory that nobody inside can write to. Whoever makes, renames or removes a name there asks the
 * door; init does it in the project, by descriptor, and shows the result (root_entries.h). What the
 * host changes there, it hears from inotify. Nothing is ever made in the project that nobody asked
 * for.
 *
 * The entries are mounts of their own, so that moving a file from one to another would be refused
 * (EXDEV). The project as a whole is one mount, out of everybody's reach: there init moves it, after
 * having looked that nothing protected comes along uncovered.
 *
 * Part of the init image: no libc.
 */
#pragma once

#include <stdbool.h>

#include "init/notify/target.h"

/* Takes PROTOCOL_ROOT_VIEW_FD, _SKELETON_FD and _WATCH_FD, and shows what has changed since. */
bool notify_root_view_start(void);
bool notify_root_view_is_there(void);

/* Shows what the host has changed; false: nothing. */
bool notify_root_view_changed(void);

/* Whether the name in the root is the project's; else it is the box's own, /usr say. */
bool notify_root_view_owns(const char *name);
bool notify_root_view_hides(const char *name);
/* From now on this name is not to be read; false: that cannot be had. */
bool notify_root_view_hide(const char *name);

/* Something was hidden after the start: from now on, what has mounts below it is not moved. Also where
 * no project is the root. */
void notify_root_view_hold_later(void);
bool notify_root_view_holds_later(const char *path);
int notify_root_view_fd(void);

/* Shows what the project has under this name. */
long notify_root_view_show(const char *name);

/* A name that was just made in the project: shown, or taken back. */
long notify_root_view_made(const char *name, bool is_directory);

/* The directory of `place` on the project's own mount, where it is the very same; else -EXDEV. */
long notify_root_view_directory(const struct target *place);

/* Moves across entries, after -EXDEV. */
long notify_root_view_rename(const struct target *from, const struct target *to, unsigned flags);
long notify_root_view_link(const struct target *from, const struct target *to);

/* Before and after a rename in which both places are at the top, or one is. */
long notify_root_view_may_rename(const struct target *from, const struct target *to,
                                 bool is_exchange);
long notify_root_view_renamed(const struct target *from, const struct target *to, bool is_exchange);
