/*
 * target.h - where a call would act, and whether it may
 *
 * A string of the caller's is read once and resolved once, to a descriptor of the directory that is
 * meant. Where that directory lies, the kernel says; the caller's words decide nothing.
 *
 * Part of the init image: no libc.
 */
#pragma once

#include <stdbool.h>

#include "init/notify/call.h"
#include "plan/rules/packed.h"

#define PLACE_PATH_MAX 4096

struct target {
    int parent_fd;           /* the directory, O_PATH; -1: none */
    bool is_borrowed;        /* parent_fd is another's */
    int act_fd;              /* where names are made: parent_fd, or of a project that is the root */
    bool is_inside;          /* within a protected root */
    bool is_top;             /* the directory is the root, and the name the project's there */
    bool is_taken;           /* likewise, but the name is the box's own: /usr, say */
    bool is_own_descriptors; /* the directory is init's own /proc/self/fd: the caller's is meant */
    bool had_slash;          /* the path ended in one */
    char path[2 * PLACE_PATH_MAX + 2]; /* of the box; the directory and the name */
    char *name;                        /* its last component, in `path` */
};

/* Takes packed rules, which stay where they are and are written to; false: something is wrong with
 * them. */
bool target_rules_load(char *rules);

/* Where a project is the root: what of it is the box's own or another mount, or below such. */
bool target_is_outside(const char *path);
bool target_is_in_root_view(const char *path);
/* Names of the project's top level that may not be read. */
bool target_is_hidden(const char *name);
/* One more, while the box runs; false: there is no room. */
bool target_hide(const char *name);

/*
 * Resolves all but the last component of `path`, from the caller's directory or the descriptor
 * `start_fd` of ours. 0; NOTIFY_CONTINUE: the kernel shall say what is wrong with it, or the backstop
 * decide; or -errno.
 */
long target_find(struct target *place, const struct seccomp_notif *asked, int directory,
                 const char *path);
long target_find_from(struct target *place, int start_fd, const char *path);

/* The place of another name in the directory of `other`, which lives longer. False if `path` is more than a
 * name. */
bool target_beside(struct target *place, const struct target *other, const char *path);

/* The caller's working directory, or the one behind its descriptor; -errno. */
long target_start(const struct seccomp_notif *asked, int directory);

/* Makes a place of the directory itself, for files without a name. */
long target_of_directory(struct target *place, int fd);
void target_done(struct target *place);

/* The path under which the rules know a place that is shown twice; `path` has room for `size`. */
void target_canonical(char *path, size_t size);

/* Whether something hidden lies below the directory: it must stay where the next box looks for it. */
bool target_holds_hidden(const char *path);

/* The rule that forbids writing or making this path or something above it; -1: none does. */
int target_rule(const char *path);

/* The rule that the path itself is under, if git may write there all the same, and how; else -1. */
int target_reviewed(const char *path, enum notify_review_kind *out);

/* What stands on the way to something protected must be a directory: the rule that forbids a file,
 * or moving the directory; -1: none. Of patterns with wildcards only their literal beginning counts:
 * else no file could be made anywhere. */
int target_rule_below(const char *path);

/* The same for a symbolic link, which could lead to what was made elsewhere: here the words behind a
 * wildcard count as well. */
int target_rule_link(const char *path);

/* Whether something below the one path is protected that would not be below the other. */
bool target_is_stricter(const char *path, const char *other);

/* The rule about something in the directory that is protected below `path`, but not below `other`;
 * also where it cannot be looked through. -1: there is nothing. */
int target_rule_within(const char *path, const char *other, int directory_fd);

/* Whether the path lies in a protected root. */
bool target_is_inside(const char *path);
