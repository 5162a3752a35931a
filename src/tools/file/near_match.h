/*
 * near_match.h - text that was looked for and is not there: what may have been meant
 */
#pragma once

#include <stddef.h>

#include "base/buffer.h"

/*
 * Appends up to three places of `text` that are like `wanted`, each with its line number: first where
 * it would stand but for white space, else lines like its first. Nothing where nothing is near. Takes
 * time linear in the text.
 */
void near_match_append(struct buffer *out, const char *text, size_t n, const char *wanted,
                       size_t n_wanted);
