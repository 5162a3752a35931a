/*
 * copy.h - a JSON value that was read, written again
 *
 * Numbers come out as they were written, texts with the escapes that base/json/write.h chooses: the same
 * value, and for a number the same characters.
 */
#pragma once

#include "base/json/read.h"
#include "base/json/write.h"

/* With the members of an object in their order; the value's own name is not written. */
void json_copy(struct json_writer *json, const struct json_value *value);
