/*
 * shell_word.h - a text as one word for a shell: what can be copied from a message and typed
 */
#pragma once

#include "base/buffer.h"

/* Quoted only where it must be; control characters stay as they are. */
void shell_word_append(struct buffer *out, const char *text);
