/*
 * door_place.h - where a call would act, and whether it may
 *
 * A string of the caller's is read once and resolved once, to a descriptor of the directory that is
 * meant. Where that directory lies, the kernel says; the caller's words decide nothing.
 *
 * Part of the init image: no libc.
 */
#pragma once

#include <stdbool.h>

#include "jail/door_call.h"

#define PLACE_PATH_MAX 4096

struct place {
    int parent_fd;           /* the directory, O_PATH; -1: none */
    int act_fd;              /* where names are made: parent_fd, or of a project that is the root */
    bool is_inside;          /* within a protected root */
    bool is_top;             /* the directory is the root, and the name the project's there */
    bool is_taken;           /* likewise, but the name is the box's own: /usr, say */
    bool is_own_descriptors; /* the directory is init's own /proc/self/fd: the caller's is meant */
    bool had_slash;          /* the path ended in one */
    char path[2 * PLACE_PATH_MAX + 2]; /* of the box; the directory and the name */
    char *name;                        /* its last component, in `path` */
};

/* Reads the rules from the descriptor; false: something is wrong with them. */
bool place_rules_load(int fd);

/* Where a project is the root: what of it is the box's own or another mount, or below such. */
bool place_is_outside(const char *path);
bool place_is_in_project(const char *path);
/* Names of the project's top level that may not be read. */
bool place_is_hidden(const char *name);
/* One more, while the box runs; false: there is no room. */
bool place_hide(const char *name);

/*
 * Resolves all but the last component of `path`, from the caller's directory or the descriptor
 * `start_fd` of ours. 0; DOOR_CONTINUE: the kernel shall say what is wrong with it, or the wall
 * decide; or -errno.
 */
long place_find(struct place *place, const struct seccomp_notif *asked, int directory,
                const char *path);
long place_find_from(struct place *place, int start_fd, const char *path);

/* The caller's working directory, or the one behind its descriptor; -errno. */
long place_start(const struct seccomp_notif *asked, int directory);

/* Makes a place of the directory itself, for files without a name. */
long place_of_directory(struct place *place, int fd);
void place_done(struct place *place);

/* The path under which the rules know a place that is shown twice; `path` has room for `size`. */
void place_canonical(char *path, size_t size);

/* Whether something hidden lies below the directory: it must stay where the next box looks for it. */
bool place_holds_hidden(const char *path);

/* The rule that forbids writing or making this path or something above it; -1: none does. */
int place_rule(const char *path);

/* The rule that the path itself is under, if the rule has a gate (door_gate.h); else -1. */
int place_gate(const char *path);

/* What stands on the way to something protected must be a directory: the rule that forbids a file,
 * or moving the directory; -1: none. Of patterns with wildcards only their literal beginning counts:
 * else no file could be made anywhere. */
int place_rule_below(const char *path);

/* The same for a symbolic link, which could lead to what was made elsewhere: here the words behind a
 * wildcard count as well. */
int place_rule_link(const char *path);

/* Whether something below the one path is protected that would not be below the other. */
bool place_is_stricter(const char *path, const char *other);

/* The rule about something in the directory that is protected below `path`, but not below `other`;
 * also where it cannot be looked through. -1: there is nothing. */
int place_rule_within(const char *path, const char *other, int directory_fd);

/* Whether the path lies in a protected root. */
bool place_is_inside(const char *path);
