/*
 * alias.h - tools with the names, arguments and answers of the reference filesystem server
 *
 * For clients whose configuration, or whose model, knows that server. They act through the same
 * places as coop's own tools: what those may not reach, these may not either. Where a name is one of
 * coop's own too (read_file, write_file, edit_file), the alias takes its place.
 */
#pragma once

#include <stdbool.h>

#include "base/buffer.h"
#include "base/json/read.h"
#include "coop/tools.h"
#include "mcp/toolset.h"

struct alias_call {
    const struct toolset *toolset;
    const struct json_value *arguments; /* that fit the schema */
    const coop_execute_options *options;
    struct buffer text; /* the answer */
    struct buffer data; /* base64, instead of text */
    const char *mime_type;
    struct buffer uri;
};

/* The error's message becomes the answer; only -ENOMEM is handed on. */
typedef int alias_fn(struct alias_call *call, coop_error **err);

struct alias {
    coop_tool face;
    const char *counterpart; /* who may use that one may use this one */
    alias_fn *run;
};

const struct alias *alias_at(size_t i);           /* NULL behind the last */
const struct alias *alias_find(const char *name); /* NULL: there is none */
/* The schemas of the arguments, read: one for each row, the caller's to keep. */
int alias_read_schemas(struct json_document **out, coop_error **err);
/* A tool of coop's for which an alias stands. */
bool alias_replaces(const char *tool);

alias_fn alias_read_text, alias_read_media, alias_read_several;
alias_fn alias_write, alias_edit, alias_make_directory, alias_move;
alias_fn alias_list, alias_list_sizes, alias_tree, alias_search;
alias_fn alias_info, alias_allowed;
