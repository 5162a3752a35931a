/*
 * approval.h - files of projects that their owner lets ask for more
 *
 * What is approved is a path together with every byte of the file: the digest of both is the name
 * of a record in coop/allowed below $XDG_STATE_HOME, which others can neither read nor write. A
 * file that changes is another file. The store lies outside the workspace, where the agent writes.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/sha256.h"
#include "coop/error.h"

/* `path` is canonical. */
void approval_digest(const char *path, const void *bytes, size_t n, char out[SHA256_HEX_SIZE]);

/* The store's directory, whether or not it exists; the caller's to free. `state_home` NULL: as the
 * environment says. -EPERM: it lies in the workspace (canonical; may be NULL). */
int approval_store(const char *state_home, const char *workspace, char **out, coop_error **err);

int approval_is_given(const char *store, const char *digest, bool *out, coop_error **err);
int approval_give(const char *store, const char *digest, const char *path, coop_error **err);

/* Takes back all that were given to the path; *out_n is how many. */
int approval_revoke(const char *store, const char *path, size_t *out_n, coop_error **err);

struct approval {
    const char *digest;
    const char *path;
    long long given; /* seconds since 1970 */
};
/* Calls `each` for every record, in no order, until it returns something else than 0. */
int approval_list(const char *store, int (*each)(void *context, const struct approval *approval),
                  void *context, coop_error **err);
