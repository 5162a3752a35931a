/*
 * decode.h - a document as tagged JSON
 *
 * The form of the public TOML conformance tests: a table is an object, an array an array, every
 * scalar an object {"type": "integer", "value": "42"}.
 */
#pragma once

#include "base/buffer.h"
#include "config/node.h"

/* Running out of memory shows in the buffer. */
void decode_print(struct buffer *out, const struct document *document);
