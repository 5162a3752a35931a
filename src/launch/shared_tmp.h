/*
 * shared_tmp.h - one /tmp for all boxes of a sandbox, in memory, that outlives each of them
 *
 *   shared_tmp_new() -> shared_tmp_mount() for each box -> shared_tmp_free()
 *
 * A mount namespace in which nobody lives has a file system in memory as its root, and nothing else;
 * descriptors keep it, so it is gone when they are closed, or when their process is gone. Each box
 * attaches a clone of that mount. It has nothing to do with templates: one that is made anew, because
 * the workspace was replaced, leaves this as it is.
 *
 * Boxes may put anything there: links that lead anywhere, FIFOs, sparse files. Whoever looks from
 * outside opens what is beneath `root_fd`, follows no link of theirs, and opens no special file.
 */
#pragma once

#include "plan/plan.h"

#define SHARED_TMP_SPARES 4

struct shared_tmp {
    int root_fd;  /* its root, for the parent: O_PATH */
    int user_fd;  /* -1: root's, which owns it in its own user namespace */
    int mount_fd; /* the namespace */
    int spares[SHARED_TMP_SPARES];
    size_t n_spares;
};

/* Why boxes of this policy cannot share one, as the end of a sentence; NULL: they can. `plan` is from
 * plan_locate(). */
const char *shared_tmp_why_not(const struct plan *plan, const struct host *host);

int shared_tmp_new(const struct plan *plan, const struct host *host, struct shared_tmp **out,
                   coop_error **err);
/* A mount of it that is attached nowhere yet: a descriptor, the caller's. */
int shared_tmp_mount(struct shared_tmp *tmp, coop_error **err);
void shared_tmp_free(struct shared_tmp *tmp); /* NULL is fine */
