/*
 * reach.h - how far a path goes into a pattern
 *
 * glob_match() says whether a path is what a pattern is about. Who guards names needs more: whether
 * something above the path is, and what could still match below it. All of that comes out of one pass
 * over the path, whose names are made ready once for all patterns.
 *
 * Allocates nothing and needs no libc.
 */
#pragma once

#include "glob/private.h"

#define GLOB_NAMES_MAX (GLOB_PATH_MAX / 2 + 1)

struct glob_path {
    size_t n;
    struct glob_name names[GLOB_NAMES_MAX];
    char folded[GLOB_PATH_MAX];
};

/* A bit for each component of the pattern that the next name could be; the last for none. */
struct glob_reach {
    uint64_t bits[GLOB_PATTERN_MAX / 2 / 64 + 1];
};

/* Borrows `text`, whose length is at most GLOB_PATH_MAX; false if it is longer. */
bool glob_path_init(struct glob_path *path, const char *text, bool ignore_case);

/* Whether the path or something above it matches. If not, *out says what is left to match. */
bool glob_reach(const struct glob *glob, const struct glob_path *path, struct glob_reach *out);

/*
 * The same, prefix by prefix, for who goes on after a match: *n names of the path are behind, 0 after
 * glob_reach_start(). True: the first *n names match.
 */
void glob_reach_start(const struct glob *glob, struct glob_reach *out);
bool glob_reach_next(const struct glob *glob, const struct glob_path *path, size_t *n,
                     struct glob_reach *reach);

/* Whether just the first `n` names match, whatever is above them; *out says what is left below. */
bool glob_reach_exactly(const struct glob *glob, const struct glob_path *path, size_t n,
                        struct glob_reach *out);

/* Whether all that could match below `a` could also below `b`. */
bool glob_reach_is_within(const struct glob *glob, const struct glob_reach *a,
                          const struct glob_reach *b);

/* Whether anything could match below. */
bool glob_reach_goes_on(const struct glob *glob, const struct glob_reach *reach);

/* Whether a name beyond the first `n_root` of the path was the pattern's own word for it, not just
 * passed over by a wildcard: what stands there is on the way to something that matches. */
bool glob_reach_is_meant(const struct glob *glob, const struct glob_reach *reach, size_t n_root);

/* Whether the path is a directory on the way, every component of the pattern up to there literal:
 * who exchanges it, exchanges what is protected. */
bool glob_path_is_literal_ancestor(const struct glob *glob, const struct glob_path *path);
