/*
 * json_copy.h - a JSON value that was read, written again
 *
 * Numbers come out as they were written, texts with the escapes that json_write.h chooses: the same
 * value, and for a number the same characters.
 */
#pragma once

#include "base/json_read.h"
#include "base/json_write.h"

/* With the members of an object in their order; the value's own name is not written. */
void json_copy(struct json_writer *json, const struct json_value *value);
