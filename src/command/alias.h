/*
 * alias.h - sub-commands that have several spellings, and the one that is kept
 *
 * What is kept is a path: `docker run` is "container run", so that a rule about "container" is about it
 * too. Patterns and commands are read by the same tables; after that only paths are compared.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct command_names {
    const char *names[2];
    size_t n;       /* 0: none */
    size_t n_taken; /* so many words of the command they stand for */
};

/* `next` is the word behind it; NULL: there is none, or it cannot be told. Borrows both. */
struct command_names command_alias_names(const char *program, const char *word, const char *next);

/* The name of a word that stands behind the kept one: "list" behind "container" is "ls". */
const char *command_alias_behind(const char *program, const char *first, const char *word);

/* Whether `first` only groups others: flags are those of the word behind it. */
bool command_alias_is_group(const char *program, const char *first);

/* What is of a group by one of its spellings and kept elsewhere, the i-th; none: that was all. */
struct command_names command_alias_elsewhere(const char *program, const char *group, size_t i);

/* Whether a first word is in these tables as it stands. */
bool command_alias_is_spelling(const char *program, const char *word);
/* What the i-th spelling that begins with `word` goes by; none: that was all. */
struct command_names command_alias_begun(const char *program, const char *word, size_t i);
