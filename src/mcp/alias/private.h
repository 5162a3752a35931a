/*
 * private.h - what the aliases share
 */
#pragma once

#include "base/json/read.h"
#include "mcp/alias/alias.h"

#define ALIAS_FILE_MAX (32u * 1024 * 1024) /* bytes that are read at once */

/* A text that must be there, since the schema says so. */
const char *alias_text(const struct alias_call *call, const char *name);

/* The path with a leading "~/" as that server reads it; the caller's to free. NULL: no memory. */
char *alias_path(const char *path);

/* All that is in a file, appended. */
int alias_read(const struct alias_call *call, const char *path, struct buffer *out,
               coop_error **err);

/* Runs one of coop's own tools; what it refuses is the error. *out is its structured answer. */
int alias_execute(const struct alias_call *call, const char *tool, const struct buffer *arguments,
                  struct json_document *out, coop_error **err);
