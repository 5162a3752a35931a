/*
 * arguments.h - whether arguments fit the schema that a model was shown
 *
 * The check reads the text of the schema itself, so the two cannot disagree. Of JSON Schema it knows
 * what the table uses: type, properties, required, additionalProperties (false), items, enum,
 * minimum, maximum, minLength, maxLength, minItems, maxItems; title, description and default are for
 * the reader.
 */
#pragma once

#include "base/json/read.h"
#include "coop/error.h"

/* -EINVAL: the message has a line for each mistake, and says what the tool takes. */
int arguments_check(const char *tool, const struct json_value *schema,
                    const struct json_value *arguments, coop_error **err);
