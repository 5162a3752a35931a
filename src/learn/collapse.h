/*
 * collapse.h - from single paths to the few lines that a person would write
 *
 * A program under /opt/NAME, or in a bin directory, comes with the tree that it belongs to; several
 * files of one directory become the directory; what lies in another line is part of it. Where there
 * are too many lines for anybody to read, directories further up take their place, and what is left
 * over is counted. Never does a line become one that classify.h would not suggest. Text only.
 */
#pragma once

#include "learn/classify.h"
#include "learn/need.h"

#define LEARN_EXAMPLES 3
#define LEARN_TOGETHER 4 /* so many of one directory are the directory */

struct grant {
    char *path;
    bool is_written;
    uint64_t n_read, n_executed, n_written; /* how often it was refused */
    size_t n_paths;                         /* how many different ones it stands for */
    const char *examples[LEARN_EXAMPLES];   /* the first of them; borrowed from the needs */
};

struct learn_grants {
    struct grant *items; /* sorted by path, read-only ones first */
    size_t n;
    size_t n_dropped; /* there were more than LEARN_GRANTS_MAX */
};

/* Of all paths whose verdict is NEED_OPEN and that `wanted` (may be NULL) agrees to. -ENOMEM. */
typedef bool learn_wanted(void *context, const struct need *need);
int learn_collapse(const struct learn_needs *needs, const struct learn_places *places,
                   learn_wanted *wanted, void *context, struct learn_grants *out);
void learn_grants_done(struct learn_grants *grants);
