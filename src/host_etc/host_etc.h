/*
 * host_etc.h - the host's /etc by rule (rule.h), as a tree that boxes are given read-only
 *
 *   host_etc_current(AT_FDCWD, store, &base, err);         once a start; nearly always a few stats
 *   host_etc_with(base, pieces, n, &tree, err);            base, and what is the box's own
 *   ... bind tree.path, tree.fd at /etc ...
 *   host_etc_tree_done(&tree);
 *
 * Trees lie in a directory of the caller's cache that no box can write. A tree never changes: it is made
 * beside its place and renamed, and a host that changed gets another one. It shows only what everybody could
 * read when it was made, so one that is out of date tells nothing that is not public.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "coop/error.h"

enum host_etc_kind {
    HOST_ETC_FILE,     /* with `text` in it */
    HOST_ETC_LINK,     /* to `text` */
    HOST_ETC_POINT,    /* a file to mount on: what is there, or an empty one */
    HOST_ETC_DIRECTORY /* a directory to mount on, likewise */
};

struct host_etc_piece {
    const char *name; /* below /etc */
    enum host_etc_kind kind;
    const char *text;
};

/* While the descriptor is open nobody removes the tree. */
struct host_etc_tree {
    char *path;
    int fd;
};

/* Where trees are kept: "coop/etc" in the caller's cache. *out is the caller's to free, NULL: nowhere. */
int host_etc_store(char **out, coop_error **err);

/*
 * The tree of the rule, for the host below the directory `root_fd`; made if there is none for the host as it is
 * now. *out is the caller's to free. Fails where the store cannot be written or is open to others.
 */
int host_etc_current(int root_fd, const char *store, char **out, coop_error **err);

/* Whether the rule's tree has the name, which is below /etc; "" is /etc itself. */
bool host_etc_has(const char *base, const char *name);

/* The rule's tree with pieces of the box's own. */
int host_etc_with(const char *base, const struct host_etc_piece *pieces, size_t n,
                  struct host_etc_tree *out, coop_error **err);
void host_etc_tree_done(struct host_etc_tree *tree);
