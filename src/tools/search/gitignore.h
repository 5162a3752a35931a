// The patterns below would end the other kind of comment.
//
// gitignore.h - what a repository does not want to be looked at
//
// The rules of one file, and of those further out: `.gitignore` of a directory, those of the directories
// above it up to the repository's root, then `.git/info/exclude`. The last rule that matches decides,
// of the innermost file that has one. A directory that is ignored is not entered, so nothing below it can
// be wanted again.
//
//   *.o             at any depth, files and directories      /build    only beside the file
//   build/          directories only                         a/b       beside the file, for it has a slash
//   doc/**/*.pdf    at any depth below doc                   doc/**    everything below doc
//   !keep.o         after all not                            \#x \!x   these names
//
// As git has it, but for one thing: `?` and [...] stand for a whole character of UTF-8, not for a byte.
// What is tracked is not asked. Patterns of more than 1024 bytes, and those that git would never match,
// are passed over.
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct gitignore;

/* `directory_length`: of the path of the directory that it stands in, as its paths will begin, with the
 * '/' behind it. `outer` is borrowed, NULL: none. NULL: no memory. */
struct gitignore *gitignore_new(const char *text, size_t n, size_t directory_length,
                                const struct gitignore *outer);
void gitignore_free(struct gitignore *rules); /* NULL is fine; not the outer ones */

/* Whether it is ignored, given that what it lies in is not. `name` is the last part, in the path. NULL
 * ignores nothing. */
bool gitignore_ignores(const struct gitignore *rules, const char *path, const char *name,
                       bool is_directory);
