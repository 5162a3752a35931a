/*
 * walk.h - through a tree of files, as the tools may see it
 *
 *   struct walk_watch watch;
 *   walk_watch_init(&watch, call);
 *   walk_place(&place, &options, &watch, each, context, &result, &err);
 *
 * By descriptor: a directory is opened by its name in the one above, and never if it is a link. What
 * place.h hides is not there, nor is `.git`, nor what .gitignore leaves out, unless it is asked for.
 * FIFOs, devices and sockets are passed over. Entries come in the order of their names. A tree costs a
 * few descriptors, however deep it is.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "tools/path/place.h"
#include "tools/tool.h"

#define WALK_ENTRIES_MAX 1000000
#define WALK_DEPTH_MAX   128
#define WALK_SECONDS     60 /* a search that takes longer ends with what it has */

/* Whether to go on: a search that is cancelled, or takes too long, ends. */
struct walk_watch {
    const struct tool_call *call;
    int64_t end_ms; /* of the monotonic clock */
    bool is_cancelled;
    bool is_late;
};
void walk_watch_init(struct walk_watch *watch, const struct tool_call *call);
/* Asks the kernel: not for every byte. */
bool walk_watch_ends(struct walk_watch *watch);

enum walk_kind { WALK_FILE, WALK_DIRECTORY, WALK_LINK };

/* Where the entry may be opened or looked at with the *at() calls, without following. All borrowed. */
struct walk_entry {
    int directory_fd;
    const char *name;
    const char *path; /* below the place where the walk began; ends in `name` */
    enum walk_kind kind;
};

enum { WALK_ON, WALK_PASS_OVER /* a directory is not entered */, WALK_STOP };
/* One of these, or a negative errno that ends the walk. */
typedef int walk_fn(void *context, const struct walk_entry *entry, coop_error **err);

struct walk_options {
    bool includes_ignored;
};

struct walk_result {
    size_t n_entries;
    size_t n_unreadable; /* directories */
    bool is_cut;         /* too many entries, too deep, or too late: there may be more */
};

/* `place` is a directory. -ECANCELED: somebody did not want it any more. */
int walk_place(const struct place *place, const struct walk_options *options,
               struct walk_watch *watch, walk_fn *each, void *context, struct walk_result *result,
               coop_error **err);

/* Opens a regular file; -errno, and -EINVAL for anything else. Never hangs. */
int walk_open_file(int directory_fd, const char *name, struct stat *st);
