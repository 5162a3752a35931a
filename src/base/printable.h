/*
 * printable.h - text from inside a box, made safe for a terminal and for one line
 *
 * Every message that names something a command chose (a path, an argument, a host name) passes it
 * through here. Control characters (ESC, DEL and C1 among them), line and paragraph separators,
 * characters that turn the writing direction, and bytes that are not UTF-8 come out as \xNN per
 * byte; a newline comes out as \n. All else stays as it is, backslashes too: the text is for
 * reading and cannot be turned back without doubt.
 */
#pragma once

#include <stddef.h>

#include "base/buffer.h"

void printable_append(struct buffer *out, const char *bytes, size_t n);
