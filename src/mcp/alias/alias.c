/*
 * alias.c - the table of the aliases
 *
 * Names, arguments and the form of the answers are those of @modelcontextprotocol/server-filesystem,
 * so that a client finds what it knows.
 */
#include "alias.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/error.h"

#define JSON(...) #__VA_ARGS__

/* Nearly all answer so. */
#define TEXT                                                  \
    JSON({                                                    \
        "type" : "object",                                    \
        "properties" : { "content" : { "type" : "string" } }, \
        "required" : ["content"],                             \
        "additionalProperties" : false                        \
    })

/* clang-format off */
static const struct alias table[] = {
    { { "read_file", "Read a file (old name)",
        "Read a whole file as text. Deprecated: use read_text_file.",
        JSON({"type": "object", "properties": {"path": {"type": "string"}, "tail": {"type": "number", "description": "Read only this many lines from the end"}, "head": {"type": "number", "description": "Read only this many lines from the beginning"}}, "required": ["path"], "additionalProperties": false}),
        TEXT, COOP_TOOL_READ_ONLY }, "read_file", alias_read_text },

    { { "read_text_file", "Read a file as text",
        "Read a whole file as text, whatever its name; with 'head' or 'tail', only that many lines.",
        JSON({"type": "object", "properties": {"path": {"type": "string"}, "tail": {"type": "number", "description": "Read only this many lines from the end"}, "head": {"type": "number", "description": "Read only this many lines from the beginning"}}, "required": ["path"], "additionalProperties": false}),
        TEXT, COOP_TOOL_READ_ONLY }, "read_file", alias_read_text },

    { { "read_media_file", "Read an image or audio file",
        "Read a binary file: images and audio as such, by their extension, anything else as an embedded resource.",
        JSON({"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"], "additionalProperties": false}),
        JSON({"type": "object", "properties": {"content": {"type": "array", "items": {"anyOf": [
            {"type": "object", "properties": {"type": {"type": "string", "enum": ["image", "audio"]}, "data": {"type": "string"}, "mimeType": {"type": "string"}},
             "required": ["type", "data", "mimeType"], "additionalProperties": false},
            {"type": "object", "properties": {"type": {"type": "string", "const": "resource"}, "resource": {"type": "object",
                 "properties": {"uri": {"type": "string"}, "mimeType": {"type": "string"}, "blob": {"type": "string"}},
                 "required": ["uri", "blob"], "additionalProperties": false}},
             "required": ["type", "resource"], "additionalProperties": false}]}}},
            "required": ["content"], "additionalProperties": false}), COOP_TOOL_READ_ONLY }, "read_file", alias_read_media },

    { { "read_multiple_files", "Read several files",
        "Read several files as text, each after its path. A file that cannot be read is reported in its place and does not stop the others.",
        JSON({"type": "object", "properties": {"paths": {"type": "array", "items": {"type": "string"}, "minItems": 1, "description": "Paths of the files"}}, "required": ["paths"], "additionalProperties": false}),
        TEXT, COOP_TOOL_READ_ONLY }, "read_file", alias_read_several },

    { { "write_file", "Write a file",
        "Write a whole file, creating it or overwriting it without asking.",
        JSON({"type": "object", "properties": {"path": {"type": "string"}, "content": {"type": "string"}}, "required": ["path", "content"], "additionalProperties": false}),
        TEXT, COOP_TOOL_DESTRUCTIVE | COOP_TOOL_IDEMPOTENT }, "write_file", alias_write },

    { { "edit_file", "Edit a file",
        "Apply edits to a text file in order, all or none, and return a diff. With 'dryRun', return only the diff.",
        JSON({"type": "object", "properties": {"path": {"type": "string"}, "edits": {"type": "array", "items": {"type": "object", "properties": {"oldText": {"type": "string", "description": "The current text"}, "newText": {"type": "string", "description": "The new text"}}, "required": ["oldText", "newText"], "additionalProperties": false}}, "dryRun": {"type": "boolean", "default": false, "description": "Only show the diff"}}, "required": ["path", "edits"], "additionalProperties": false}),
        TEXT, COOP_TOOL_DESTRUCTIVE }, "edit_file", alias_edit },

    { { "create_directory", "Make a directory",
        "Create a directory and its missing parents. Succeeds if it already exists.",
        JSON({"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"], "additionalProperties": false}),
        TEXT, COOP_TOOL_IDEMPOTENT }, "make_dir", alias_make_directory },

    { { "list_directory", "List a directory",
        "List a directory, with [FILE] or [DIR] before each name.",
        JSON({"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"], "additionalProperties": false}),
        TEXT, COOP_TOOL_READ_ONLY }, "list_dir", alias_list },

    { { "list_directory_with_sizes", "List a directory with sizes",
        "List a directory with sizes, sorted by name or largest first, and the total.",
        JSON({"type": "object", "properties": {"path": {"type": "string"}, "sortBy": {"type": "string", "enum": ["name", "size"], "default": "name", "description": "By name, or largest first"}}, "required": ["path"], "additionalProperties": false}),
        TEXT, COOP_TOOL_READ_ONLY }, "list_dir", alias_list_sizes },

    { { "directory_tree", "Show a tree",
        "Show a directory tree as JSON: each entry has a 'name' and a 'type', file or directory; directories also have 'children'.",
        JSON({"type": "object", "properties": {"path": {"type": "string"}, "excludePatterns": {"type": "array", "items": {"type": "string"}, "default": []}}, "required": ["path"], "additionalProperties": false}),
        TEXT, COOP_TOOL_READ_ONLY }, "list_dir", alias_tree },

    { { "move_file", "Move or rename",
        "Move or rename a file or directory. Never overwrites.",
        JSON({"type": "object", "properties": {"source": {"type": "string"}, "destination": {"type": "string"}}, "required": ["source", "destination"], "additionalProperties": false}),
        TEXT, COOP_TOOL_DESTRUCTIVE }, "move", alias_move },

    { { "search_files", "Find files by name",
        "Finds files and directories below a directory whose path there matches a pattern: '*.c' in that directory itself, '**/*.c' at any depth.",
        JSON({"type": "object", "properties": {"path": {"type": "string"}, "pattern": {"type": "string"}, "excludePatterns": {"type": "array", "items": {"type": "string"}, "default": []}}, "required": ["path", "pattern"], "additionalProperties": false}),
        TEXT, COOP_TOOL_READ_ONLY }, "glob", alias_search },

    { { "get_file_info", "Look at a file",
        "Tells size, times, permissions and kind of a file or directory.",
        JSON({"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"], "additionalProperties": false}),
        TEXT, COOP_TOOL_READ_ONLY }, "stat", alias_info },

    { { "list_allowed_directories", "What can be reached",
        "Lists the directories in which these tools act; what is below them is reachable too.",
        JSON({"type": "object", "properties": {}}),
        TEXT, COOP_TOOL_READ_ONLY }, "stat", alias_allowed },
};
/* clang-format on */

const struct alias *alias_at(size_t i)
{
    return i < COUNT(table) ? &table[i] : NULL;
}

const struct alias *alias_find(const char *name)
{
    for (size_t i = 0; i < COUNT(table); i++)
        if (strcmp(table[i].face.name, name) == 0)
            return &table[i];
    return NULL;
}

int alias_read_schemas(struct json_document **out, coop_error **err)
{
    struct json_document *schemas = calloc(COUNT(table), sizeof *schemas);
    int r = schemas ? 0 : fail_no_memory(err);

    for (size_t i = 0; r == 0 && i < COUNT(table); i++)
        r = json_read(table[i].face.input_schema, strlen(table[i].face.input_schema), &schemas[i],
                      err);
    if (r == 0)
        *out = schemas;
    else
        free(schemas);
    return r;
}

/* The same thing under two names would only puzzle a model. glob finds more than search_files does:
 * both stay. */
bool alias_replaces(const char *tool)
{
    for (size_t i = 0; i < COUNT(table); i++)
        if (strcmp(tool, table[i].counterpart) == 0 && strcmp(tool, "glob") != 0)
            return true;
    return false;
}
