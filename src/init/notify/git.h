/*
 * git.h - git directories of any name, at notify (git_shape.h)
 *
 * Part of the init image: no libc.
 */
#pragma once

#include "init/git_shape.h"
#include "init/notify/request.h"

/* target_rule() and target_reviewed(), also for what is in a git directory of another name than .git. */
int notify_git_rule(const struct target *place);
int notify_git_rule_of(long fd, const char *path); /* of a file that is open, and where it lies */
int notify_git_gate(const struct target *place, enum notify_review_kind *out);

/* Whether a directory that comes to the place is looked through. */
bool notify_git_is_about(const struct target *place);

/* Something comes to the place, `moved_fd` if it is a directory that was elsewhere. 0; -EACCES, and it was
 * told; NOTIFY_GIT_CONFIG: a new directory may, but there is a configuration that nobody has looked at. */
#define NOTIFY_GIT_CONFIG 1
long notify_git_judge(const struct notify_request *request, const struct target *place,
                      enum git_shape_kind kind, int moved_fd);

/* It is there. 0; -EACCES: the caller removes it again; -EINPROGRESS: the supervisor looks at the
 * configuration, and the call has succeeded. */
long notify_git_made(const struct notify_request *request, const struct target *place,
                     enum git_shape_kind kind);
