/*
 * mount_table.h - which host path a path in the box stands for, and who may write there
 *
 *   root = "/home/user/project"           /src/app.ts     /home/user/project/src/app.ts
 *   /cache from /home/user/.cache         /cache/npm/x    /home/user/.cache/npm/x
 *
 * The longest target wins, the later of two that are equal. Paths mean the same for all that use a
 * table or one narrowed from it: restricted to "/src", "/src/app.ts" is still "/src/app.ts", and what
 * lies elsewhere is not there.
 *
 * Everything here is text. A restriction therefore keeps the mounts as they are and a limit beside
 * them: were it a mount of its own with the source /home/user/project/src, whoever may write in
 * the project could make that a symbolic link to anywhere. For the same reason the file behind a
 * path is opened from a descriptor of its mount's source, with `below` resolved beneath it.
 *
 * A table never changes and may be used by any number of threads.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/finding.h"

struct mount_entry {
    const char *source; /* host path */
    const char *target; /* path in the box */
    bool readonly;
    struct origin origin;
};

struct mount_config {
    const char *root;        /* host path of "/"; NULL where a restriction leaves nothing of it */
    bool readonly;           /* the root; each mount has its own */
    const char *restrict_to; /* only what is here or below; NULL: everything */
    const struct mount_entry *mounts;
    size_t n_mounts;
    struct origin origin; /* of the root */
};

struct mount_table;

/* Copies. NULL if there are mistakes, each of them a finding, or without memory (findings->failed).
 * A mount that another one hides is a warning. */
struct mount_table *mount_table_new(const struct mount_config *config, struct findings *findings);
void mount_table_free(struct mount_table *table); /* NULL is fine */

/* What is in force: normal paths, sorted by target, nothing that is hidden or out of reach. The
 * table's; a table made of it is the same again. */
const struct mount_config *mount_table_config(const struct mount_table *table);

/* The same as TOML, for people and logs. */
struct buffer;
void mount_table_print(const struct mount_table *table, struct buffer *out);

struct mount_place {
    const struct mount_entry *mount; /* the table's */
    char *host;                      /* mount->source and `below`, joined */
    const char *below;               /* relative to the mount's source; "" is the source itself */
};

/* Fails with -EACCES outside the table. path_resolve() says what becomes of "..". */
int mount_table_resolve(const struct mount_table *table, const char *path, struct mount_place *out,
                        coop_error **err);
void mount_place_done(struct mount_place *place);

/* False also for what is no path. */
bool mount_table_can_read(const struct mount_table *table, const char *path);
bool mount_table_can_write(const struct mount_table *table, const char *path);

enum mount_readonly { MOUNT_READONLY_INHERIT, MOUNT_READONLY_YES, MOUNT_READONLY_NO };

struct mount_request {
    const char *restrict_to; /* NULL: all that the parent has */
    enum mount_readonly readonly;
};

/*
 * The only way to derive a table at run time. For each mount that is left:
 *
 *   parent        asked for     child
 *   read-write    INHERIT, NO   read-write
 *   read-write    YES           read-only
 *   read-only     INHERIT, YES  read-only
 *   read-only     NO            an error
 *
 * A restriction to what the parent does not have, or to more than it has, is an error too. The child
 * is independent of the parent.
 */
int mount_table_restrict(const struct mount_table *parent, const struct mount_request *request,
                         struct mount_table **out, coop_error **err);

enum mount_excess_kind {
    MOUNT_EXCESS_NONE,
    MOUNT_EXCESS_READ,   /* the parent cannot read the path */
    MOUNT_EXCESS_WRITE,  /* the parent can read it, not write */
    MOUNT_EXCESS_SOURCE, /* it stands for another file than in the parent */
    MOUNT_EXCESS_LINK,   /* the same file, as long as no part of its path is a symbolic link */
};

struct mount_excess {
    enum mount_excess_kind kind;
    const char *path; /* one of the tables' */
};

/*
 * Whether the child can do no more than the parent, anywhere. If it can, *out (may be NULL) is the
 * first path, by its bytes, where it does; MOUNT_EXCESS_LINK only where there is nothing worse.
 */
bool mount_table_is_within(const struct mount_table *child, const struct mount_table *parent,
                           struct mount_excess *out);
