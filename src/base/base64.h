/*
 * base64.h - bytes as text of 64 letters (RFC 4648, padded, in one line)
 */
#pragma once

#include <stddef.h>

#include "base/buffer.h"

/* `bytes` must not lie in the buffer. To write in pieces, let all but the last be multiples of 3. */
void base64_append(struct buffer *out, const void *bytes, size_t n);
