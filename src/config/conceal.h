/*
 * conceal.h - what is wrong in [secrets] is told without what is written there
 *
 * A reader quotes what it stumbled over, and that may be the secret itself: value = sk-123, its
 * quotes forgotten.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/finding.h"

/* Takes the words out of the findings from number `first` on that lie in a section on secrets. */
void conceal_secrets(const char *text, size_t n, bool is_yaml, struct findings *findings,
                     size_t first);
