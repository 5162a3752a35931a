/*
 * place.h - where a path of the tools leads, as a descriptor
 *
 *   struct place place;
 *   if (place_find(places, "/work/src/a.c", PLACE_READ, &place, &err) == 0)
 *       fd = place_open(&place, O_RDONLY, 0, &err);
 *   place_done(&place);
 *
 * A path means what it means to a command in the box: the most specific mount decides, a link is
 * followed as the box would follow it, and one that leads out of the view leads nowhere. On the way
 * every link is read from a descriptor and the path begun again; the last step opens the path without
 * links beneath the mount's root with openat2(), and no magic links. So what was decided for is what
 * is opened: a directory that becomes a link meanwhile makes the opening fail, and it is tried again.
 *
 * Protected names hold as in the box: what is hidden cannot be opened, what is kept cannot be
 * changed, moved or removed, nor a directory that holds such a thing. `.git/config` is hidden from
 * these tools, though commands may read it.
 */
#pragma once

#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <sys/stat.h>

#include "coop/error.h"
#include "init/git_shape.h"
#include "policy/policy.h"

struct places; /* of one set of tools: roots of the mounts, opened once; any thread may use it */

/* `on_host`: the owner's tools, paths are the host's and nothing is refused. `tmp_fd`: the box's /tmp
 * that outlives a command, -1: it has none, and /tmp cannot be reached. */
struct places_options {
    const coop_policy *policy;
    const char *workspace; /* on the host, absolute */
    const char *view;      /* where the box shows it; NULL: where the policy says */
    const char *directory; /* of relative paths, in the view; NULL: the workspace */
    bool on_host;
    bool takes_own_path; /* the workspace's path on the host means the workspace, too */
    int tmp_fd;
    const char *const
        *roots; /* NULL-ended host directories: nothing else is there; NULL: no limit */
};
/* Borrows the policy, and tmp_fd, until places_free(); copies the rest. */
int places_new(const struct places_options *options, struct places **out, coop_error **err);
void places_free(struct places *places); /* NULL is fine */

/* Whether another directory is at the workspace's path now: it was deleted and made anew. */
bool places_are_stale(const struct places *places);

/* A path as somebody wrote it, as the tools see it: absolute, and what lies in the workspace on the host is
 * at its place in the view, where the options say so. The caller's to free; NULL: out of memory. */
char *places_path(const struct places *places, const char *path);

enum place_use {
    PLACE_READ,   /* it exists and is read */
    PLACE_CHANGE, /* it exists, or is made, and is written */
    PLACE_NAME,   /* the name itself: not followed if it is a link; for moving, removing, making */
    PLACE_LOOK    /* the name itself, only looked at */
};

struct place {
    struct places *places;
    char *path;        /* canonical, as the tools see it */
    int root_fd;       /* of the mount; borrowed */
    const char *below; /* in the mount, no links, "" is the root itself; in `path` */
    bool is_writable;
    enum place_use use;
    bool exists;
    int fd;         /* of what was found, O_PATH: what was decided for; -1: nothing is there */
    struct stat st; /* of that */
    const struct place_root *root; /* private */
};

/* -ENOENT, -EACCES (not in the view, hidden, kept, read-only: the message says which and what may be
 * done instead), -ELOOP. For PLACE_CHANGE and PLACE_NAME the last part need not exist. */
int place_find(struct places *places, const char *path, enum place_use use, struct place *out,
               coop_error **err);
void place_done(struct place *place);
#define auto_place __attribute__((cleanup(place_done)))

/* Opens the very object that was found. Never hangs on a FIFO and never takes a device or socket: only regular files
 * and directories are opened for more than O_PATH. O_CREAT | O_EXCL makes what was not there. */
int place_open(const struct place *place, int flags, mode_t mode, coop_error **err);
/* The directory that holds it, and its last part in *name (in the place); for renameat() and friends.
 * -EBUSY for the root of a mount, which has none. */
int place_open_parent(const struct place *place, const char **name, coop_error **err);

/*
 * Others change the workspace too. From place_lock() until it is released no box and no file tool makes
 * a name or moves a directory to a stricter place, so what was decided for a path holds for the
 * directory that place_open_parent() then opens by it. `is_alone` for moving a directory. A descriptor
 * (init/structure_lock.h), or -EBUSY; on the host, where nothing is refused, PLACE_UNLOCKED.
 */
int place_lock(const struct place *place, bool is_alone, coop_error **err);
/* The same, if the directory that was opened before is still the one that holds the place; -EAGAIN. */
int place_lock_parent(const struct place *place, int parent_fd, coop_error **err);
#define PLACE_UNLOCKED  INT_MAX
#define auto_place_lock __attribute__((cleanup(place_unlock)))
void place_unlock(int *lock);

/* Another name in the same directory, as if it had been found for PLACE_NAME and were not there. */
int place_beside(const struct place *place, const char *name, struct place *out, coop_error **err);

/* Whether the entry `name` of the directory that was opened from `place` may be listed: not what is
 * hidden, and not where another mount stands. For those that walk trees: `below` is the entry's path in
 * the mount. */
bool place_shows(const struct place *place, const char *below, int directory_fd, const char *name,
                 bool is_directory);

/* ---- what is about to be done to a name; each says why not */

enum place_new { PLACE_NEW_FILE, PLACE_NEW_DIRECTORY, PLACE_NEW_LINK };

/* Whether something of that kind may come into being there. */
int place_may_make(const struct place *place, enum place_new kind, coop_error **err);
/* Whether it may be moved there: with what is in it, and what that would become. */
int place_may_move(const struct place *from, const struct place *to, coop_error **err);
/* The same once more for what is in it, with the lock: it may have got something since. */
int place_may_still_move(const struct place *from, const struct place *to, coop_error **err);
/* Whether it may be removed with everything in it. */
int place_may_remove(const struct place *place, coop_error **err);

/* Git directories of any name, asked once more with the lock held: a file that is written, and what comes
 * to a name; `moved_fd` of a directory
 * that was elsewhere, or -1. */
int place_git_changed(const struct place *place, coop_error **err);
int place_git_new(const struct place *place, enum git_shape_kind kind, int moved_fd,
                  coop_error **err);

/* "'PATH' SENTENCE", the path made printable; the kind is COOP_ERROR_DENIED for EACCES and EBUSY. */
int place_fail(coop_error **err, int errnum, const char *path, const char *format, ...)
    __attribute__((format(printf, 4, 5), cold));

/* "file", "directory", "link", "fifo", "socket", "device". */
const char *place_type(mode_t mode);

/* Its path on the host, to be freed; NULL: it has none there, or no memory. */
char *place_host(const struct place *place);
