// The patterns below would end the other kind of comment.
//
// glob.h - path patterns, compiled once and matched fast
//
// A pattern is relative to the workspace; a '/' in front changes nothing. It is matched against the
// whole path, component by component:
//
//   *        any characters within one component, also none; a leading dot is like any other
//   **       as a whole component: any number of components, also none
//   ?        one character
//   [a-z_]   one character of these; [!...] or [^...] one that is not of them; a ']' in front is
//            one of them
//   \x       x itself
//   x/       directories only
//
//   .env     the one at the top          **/.env   one at any depth, the top included
//   a/**     a and everything below it   a/*/b     a/x/b, not a/b and not a/x/y/b
//
// A character is a whole UTF-8 sequence; a byte that is no part of one is a character of its own. In
// patterns that ignore case, names are compared as name_fold.h says.
//
// Matching allocates nothing and never takes more than (length of the pattern) times (length of the
// path) steps, whatever they hold.
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/finding.h"

#define GLOB_PATTERN_MAX 4096 /* bytes */
#define GLOB_PATH_MAX    4096 /* bytes; what is longer matches nothing, and no kernel opens it */

struct glob;

/* Copies `text`. NULL if the pattern is wrong, which is a finding then, or without memory
 * (findings->failed). */
struct glob *glob_new(const char *text, size_t length, bool ignore_case, struct origin origin,
                      struct findings *findings);
void glob_free(struct glob *glob); /* NULL is fine */

const char *glob_text(const struct glob *glob); /* as it was written */

/* `path` is relative to the workspace and normal; slashes too many are ignored. "" is the workspace. */
bool glob_match(const struct glob *glob, const char *path, bool is_directory);

/* Whether something below the directory could match. */
bool glob_may_match_below(const struct glob *glob, const char *directory);

// Which of two patterns says more, > 0 if it is `a`. The first difference decides:
//
//   1. a pattern without any wildcard beats all others
//   2. more components without a wildcard
//   3. more characters that stand for themselves, slashes not counted
//   4. more components other than **
//   5. fewer **
//   6. fewer *
//   7. more ? and [...] together
//   8. more [...]
//   9. directories only
//
// A class of one character, [.], counts as that character. So, growing:
//
//   **   **/*   *   ?*   **/*.pem   *.pem   **/*.key.pem   **/.env   **/secrets/.env   .env   a/.env
int glob_compare(const struct glob *a, const struct glob *b);
