/*
 * private.h - trees of /etc on disk
 *
 *   STORE/index         what the current tree was made from, and its name: index.c
 *   STORE/DIGEST/base   the rule's tree: base.c
 *   STORE/DIGEST/v-KEY  with pieces of a box: pieces.c
 *   STORE/t-*           being made
 *   STORE/x-*           being removed: remove.c
 */
#pragma once

#include <sys/stat.h>

#include "base/buffer.h"
#include "base/sha256.h"
#include "host_etc/host_etc.h"

#define HOST_ETC_BASE "base"
#define HOST_ETC_HEX  32 /* of a digest, as a name */
#define HOST_ETC_MAX  4096

/* How the host looked when a tree was made. */
struct etc_stamps {
    struct buffer first; /* lines that are compared at every start */
    struct buffer all;   /* and from time to time */
    long long newest;    /* time of the last change, in ns */
    long long begun;     /* when somebody began to look */
};

/* Makes a directory with a name of its own, which begins with `prefix`. The descriptor, or -errno. */
int etc_make_directory(int store_fd, const char *prefix, char name[64]);
/* Closed to others and the caller's own; -errno. */
int etc_open_own(int at_fd, const char *name);

/* The rule's tree into the empty directory, and its digest. */
int etc_base_make(int root_fd, int tree_fd, struct etc_stamps *stamps,
                  char digest[HOST_ETC_HEX + 1], coop_error **err);

/* One line: how a path below the root is, or was when somebody looked. Returns the time of its change, in ns. */
long long etc_stamp(struct buffer *out, const struct stat *st, const char *path);
/* Those that are compared at every start. */
void etc_stamp_first(struct etc_stamps *stamps, int root_fd);
/* True: the index is of the host as it is now, and *digest its tree. */
bool etc_index_is_current(int store_fd, int root_fd, char digest[HOST_ETC_HEX + 1]);
int etc_index_write(int store_fd, const char *digest, const struct etc_stamps *stamps,
                    coop_error **err);

/* A directory with all that is in it; what goes wrong costs room only. */
void etc_remove(int at_fd, const char *name);
/* What nobody uses, but for the current tree. */
void etc_remove_old(int store_fd, const char *digest);
/* Of the trees with pieces, all but the newest few. */
void etc_remove_surplus(int digest_fd);
