/*
 * door_project.h - a directory of the host as the box's root: its top level, kept by init
 *
 * Inside the entries of the project everything is the kernel's own. The root itself is a skeleton in
 * memory that nobody inside can write to. Whoever makes, renames or removes a name there asks the
 * door; init does it in the project, by descriptor, and shows the result (project_view.h). What the
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

#include "jail/door_place.h"

/* Takes PROTOCOL_PROJECT_FD, _SKELETON_FD and _WATCH_FD, and shows what has changed since. */
bool door_project_start(void);
bool door_project_is_there(void);

/* Shows what the host has changed; false: nothing. */
bool door_project_changed(void);

/* Whether the name in the root is the project's; else it is the box's own, /usr say. */
bool door_project_owns(const char *name);
bool door_project_hides(const char *name);
/* From now on this name is not to be read; false: that cannot be had. */
bool door_project_hide(const char *name);

/* Something was hidden after the start: from now on, what has mounts below it is not moved. Also where
 * no project is the root. */
void door_project_hold_later(void);
bool door_project_holds_later(const char *path);
int door_project_fd(void);

/* Shows what the project has under this name. */
long door_project_show(const char *name);

/* A name that was just made in the project: shown, or taken back. */
long door_project_made(const char *name, bool is_directory);

/* The directory of `place` on the project's own mount, where it is the very same; else -EXDEV. */
long door_project_directory(const struct place *place);

/* Moves across entries, after -EXDEV. */
long door_project_rename(const struct place *from, const struct place *to, unsigned flags);
long door_project_link(const struct place *from, const struct place *to);

/* Before and after a rename in which both places are at the top, or one is. */
long door_project_may_rename(const struct place *from, const struct place *to, bool is_exchange);
long door_project_renamed(const struct place *from, const struct place *to, bool is_exchange);
