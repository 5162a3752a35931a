/*
 * suggest.h - "did you mean ...?"
 */
#pragma once

/*
 * The candidate that `word` was probably meant to be, NULL if none is near: one that differs by few
 * mistypings (a letter too many, missing, wrong, or two swapped; more are forgiven in longer words,
 * case counts for nothing), or else the only one that begins with `word`. Of equally near ones, the
 * first. `candidates` ends with NULL; the result is one of its strings.
 */
const char *suggest(const char *word, const char *const *candidates);
