// The patterns below would end the other kind of comment.
//
// glob_set.h - many patterns at once: which rule is a path under?
//
// The most specific pattern that matches wins (glob_compare()), the later one of equals. A rule is
// about the path that it matches and says nothing about what lies below it.
//
//   { "**/.env.*", 9, HIDE, ... }, { "**/.env.example", 15, SHOW, ... }      .env.example is shown
//
// A whole path is decided with glob_set_decide(). Who walks a tree keeps a state for each directory
// instead, which knows how far each pattern has come, so that only names are ever compared and a
// directory where nothing can match any more need not be read:
//
//   void walk(int fd, const uint64_t *state, unsigned depth)
//   {
//       uint64_t *below = states + (depth + 1) * glob_set_words(set);
//
//       while ((entry = next_entry(fd))) {
//           size_t n = strlen(entry->name);
//           rule = glob_set_decide_name(set, state, entry->name, n, entry->is_directory);
//           if (rule)
//               act(rule, fd, entry->name);
//           if (entry->is_directory && glob_set_enter(set, state, entry->name, n, below))
//               walk(openat(fd, entry->name, ...), below, depth + 1);
//       }
//   }
//
//   glob_set_start(set, states);
//   walk(workspace_fd, states, 0);
//
// A set never changes and may be used by any number of threads. A state is plain words, to be copied
// or kept as one likes. What a name costs depends on the patterns of the kinds *text*, a*b, ? and
// [...]; the others (text, text*, *text, however many) are found by what the name is or begins or
// ends with.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/finding.h"

struct glob_rule {
    const char *pattern;
    size_t length;
    int action; /* whatever it means to the caller */
    struct origin origin;
};

struct glob_set;

/* Copies the rules. NULL if there are mistakes, each of them a finding, or without memory
 * (findings->failed). */
struct glob_set *glob_set_new(const struct glob_rule *rules, size_t n_rules, bool ignore_case,
                              struct findings *findings);
void glob_set_free(struct glob_set *set); /* NULL is fine */

/* The rule that `path` is under, NULL for none; it is the set's. `path` as for glob_match(). */
const struct glob_rule *glob_set_decide(const struct glob_set *set, const char *path,
                                        bool is_directory);

/* Whether something below the directory could match. */
bool glob_set_may_match_below(const struct glob_set *set, const char *directory);

size_t glob_set_words(const struct glob_set *set); /* of a state; at least 1 */

/* The state of the workspace itself. */
void glob_set_start(const struct glob_set *set, uint64_t *state);

/* As glob_set_decide() for `name` in the directory of `state`. */
const struct glob_rule *glob_set_decide_name(const struct glob_set *set, const uint64_t *state,
                                             const char *name, size_t length, bool is_directory);

/* The state of the directory `name` in that of `state`; false if nothing below it can match. `child`
 * is not `state`. */
bool glob_set_enter(const struct glob_set *set, const uint64_t *state, const char *name,
                    size_t length, uint64_t *child);

/* The state of any directory, to begin a walk there. `spare` is as large as `state`. */
bool glob_set_seek(const struct glob_set *set, const char *directory, uint64_t *state,
                   uint64_t *spare);
