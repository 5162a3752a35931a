/*
 * tools.c - the table of the tools: what a model is told of each, and who may use it
 */
#include "tools.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/suggest.h"

#define JSON(...) #__VA_ARGS__

/* clang-format off */
/* What a command printed, and how it ended. */
#define JOB_SCHEMA JSON({ "type": "object", \
    "properties": { \
        "exit_code": { "type": "integer", "description": "-1 where a signal ended it" }, \
        "signal": { "type": "integer", "description": "0 where it exited" }, \
        "timed_out": { "type": "boolean" }, \
        "cancelled": { "type": "boolean" }, \
        "out_of_memory": { "type": "boolean" }, \
        "duration_ms": { "type": "integer" }, \
        "output": { "type": "string" }, \
        "truncated": { "type": "boolean" }, \
        "output_file": { "type": "string", "description": "Where the whole output is, if it was truncated and kept" }, \
        "tier": { "type": "string", "description": "How well the command was held: full, namespaces, landlock or none" }, \
        "denials": { "type": "array", "items": { "type": "object" } }, \
        "records": { "type": "object", "description": "not_watched: kinds of refusals that would not be listed, and why" } }, \
    "required": ["exit_code", "signal", "timed_out", "cancelled", "out_of_memory", "duration_ms", "output", "truncated", "tier", "denials"] })

static const struct tool table[] = {
    { { "bash", "Run a command",
        "Runs a command with bash and waits for its end. The result is what it printed, standard output and standard error "
        "together, at most the last 2000 lines or 50,000 bytes; where more was printed, a note says in which file the whole is. "
        "An exit code other than 0 stands first. Each call is a new shell: directories and variables do not last, files do, "
        "and so does /tmp. What the sandbox refused is told at the end.",
        JSON({ "type": "object",
               "properties": {
                   "command": { "type": "string", "minLength": 1, "description": "What to run, as a shell reads it; may have several lines" },
                   "timeout_seconds": { "type": "integer", "minimum": 1, "maximum": 86400, "default": 120, "description": "After this many seconds the command and all it started is ended" },
                   "directory": { "type": "string", "minLength": 1, "maxLength": 4096, "description": "Directory to start in; default: the workspace" },
                   "description": { "type": "string", "description": "What the command is for, in a few words, for whoever watches" } },
               "required": ["command"], "additionalProperties": false }),
        JOB_SCHEMA,
        COOP_TOOL_DESTRUCTIVE | COOP_TOOL_OPEN_WORLD }, TOOL_COMMANDS, tool_bash },

    { { "read_file", "Read a file",
        "Reads a file of text, at most 2000 lines at a time; offset and limit choose which. Pictures and sounds are given as such, "
        "other binary files are described. Use grep to find a place in a large file first.",
        JSON({ "type": "object",
               "properties": {
                   "path": { "type": "string", "minLength": 1, "maxLength": 4096, "description": "Absolute, or relative to the workspace" },
                   "offset": { "type": "integer", "minimum": 1, "default": 1, "description": "First line to show; lines count from 1" },
                   "limit": { "type": "integer", "minimum": 1, "maximum": 2000, "default": 2000, "description": "How many lines" } },
               "required": ["path"], "additionalProperties": false }),
        JSON({ "type": "object",
               "properties": {
                   "path": { "type": "string" }, "kind": { "type": "string", "enum": ["text", "binary", "image", "audio"] }, "size": { "type": "integer" },
                   "shown_from": { "type": "integer" }, "shown_to": { "type": "integer" }, "total_lines": { "type": "integer" },
                   "truncated": { "type": "boolean" }, "mime_type": { "type": "string" } },
               "required": ["path", "kind", "size"] }),
        COOP_TOOL_READ_ONLY | COOP_TOOL_IDEMPOTENT }, TOOL_READS, tool_read_file },

    { { "write_file", "Write a file",
        "Writes a whole file, a new one or over an old one, at once or not at all. For a change within a file use edit_file.",
        JSON({ "type": "object",
               "properties": {
                   "path": { "type": "string", "minLength": 1, "maxLength": 4096, "description": "Absolute, or relative to the workspace" },
                   "content": { "type": "string", "description": "All that the file is to hold" },
                   "create_parents": { "type": "boolean", "default": false, "description": "Make the directories above it that are not there" } },
               "required": ["path", "content"], "additionalProperties": false }),
        JSON({ "type": "object",
               "properties": { "path": { "type": "string" }, "bytes": { "type": "integer" }, "created": { "type": "boolean" } },
               "required": ["path", "bytes", "created"] }),
        COOP_TOOL_DESTRUCTIVE | COOP_TOOL_IDEMPOTENT }, TOOL_WRITES, tool_write_file },

    { { "edit_file", "Edit a file",
        "Replaces exact text in a file. Each old_text must occur exactly once as it stands, spaces and newlines included, unless "
        "replace_all is set; give a few lines around the change to make it unique. Several edits are made in order, all or none. "
        "Answers with a unified diff.",
        JSON({ "type": "object",
               "properties": {
                   "path": { "type": "string", "minLength": 1, "maxLength": 4096, "description": "Absolute, or relative to the workspace" },
                   "edits": { "type": "array", "minItems": 1, "maxItems": 100,
                              "items": { "type": "object",
                                         "properties": {
                                             "old_text": { "type": "string", "minLength": 1, "description": "What stands there now, exactly" },
                                             "new_text": { "type": "string", "description": "What is to stand there" },
                                             "replace_all": { "type": "boolean", "default": false, "description": "Replace every occurrence" } },
                                         "required": ["old_text", "new_text"], "additionalProperties": false } },
                   "dry_run": { "type": "boolean", "default": false, "description": "Only show the diff" } },
               "required": ["path", "edits"], "additionalProperties": false }),
        JSON({ "type": "object",
               "properties": { "path": { "type": "string" }, "replacements": { "type": "integer" }, "changed": { "type": "boolean" }, "diff": { "type": "string" } },
               "required": ["path", "replacements", "changed", "diff"] }),
        COOP_TOOL_DESTRUCTIVE }, TOOL_WRITES, tool_edit_file },

    { { "list_dir", "List a directory",
        "Lists what is in one directory, with type and size. For whole trees use glob.",
        JSON({ "type": "object",
               "properties": {
                   "path": { "type": "string", "minLength": 1, "maxLength": 4096, "description": "Default: the workspace" },
                   "limit": { "type": "integer", "minimum": 1, "maximum": 10000, "default": 1000, "description": "At most this many entries" } },
               "additionalProperties": false }),
        JSON({ "type": "object",
               "properties": {
                   "path": { "type": "string" },
                   "entries": { "type": "array",
                                "items": { "type": "object",
                                           "properties": { "name": { "type": "string" }, "type": { "type": "string" }, "size": { "type": "integer" }, "target": { "type": "string" } },
                                           "required": ["name", "type"] } },
                   "hidden": { "type": "integer" }, "truncated": { "type": "boolean" } },
               "required": ["path", "entries", "truncated"] }),
        COOP_TOOL_READ_ONLY | COOP_TOOL_IDEMPOTENT }, TOOL_READS, tool_list_dir },

    { { "glob", "Find files by name",
        "Finds files whose path matches a pattern, the newest first, without what .gitignore leaves out. A pattern without '/' "
        "matches names at any depth: '*.c' finds all C files; 'src/**/*.{c,h}' those below src.",
        JSON({ "type": "object",
               "properties": {
                   "pattern": { "type": "string", "minLength": 1, "maxLength": 4096, "description": "'*', '?' and '[a-z]' within a name, '**' any directories, '{a,b}' alternatives; '/' at the end: directories" },
                   "path": { "type": "string", "minLength": 1, "maxLength": 4096, "description": "Directory to search in; default: the workspace" },
                   "limit": { "type": "integer", "minimum": 1, "maximum": 10000, "default": 200, "description": "At most this many paths" },
                   "sort": { "type": "string", "enum": ["modified", "name"], "default": "modified", "description": "Newest first, or by path" },
                   "include_ignored": { "type": "boolean", "default": false, "description": "Also what .gitignore leaves out" } },
               "required": ["pattern"], "additionalProperties": false }),
        JSON({ "type": "object",
               "properties": {
                   "pattern": { "type": "string" }, "path": { "type": "string" }, "files": { "type": "array", "items": { "type": "string" } },
                   "matched": { "type": "integer" }, "truncated": { "type": "boolean" }, "errors": { "type": "integer" } },
               "required": ["pattern", "path", "files", "matched", "truncated"] }),
        COOP_TOOL_READ_ONLY | COOP_TOOL_IDEMPOTENT }, TOOL_READS, tool_glob },

    { { "grep", "Search in files",
        "Searches the lines of files for a regular expression, without what .gitignore leaves out and without binary files. "
        "Extended syntax with \\d \\w \\s \\b, non-greedy quantifiers and (?i); no backreferences and no look-around.",
        JSON({ "type": "object",
               "properties": {
                   "pattern": { "type": "string", "minLength": 1, "maxLength": 4096, "description": "Regular expression, for each line" },
                   "path": { "type": "string", "minLength": 1, "maxLength": 4096, "description": "Directory or one file; default: the workspace" },
                   "glob": { "type": "string", "minLength": 1, "maxLength": 4096, "description": "Only files that match, as '*.c' or 'src/**/*.{c,h}'" },
                   "ignore_case": { "type": "boolean", "default": false, "description": "Upper and lower case are the same" },
                   "literal": { "type": "boolean", "default": false, "description": "The pattern is plain text" },
                   "context": { "type": "integer", "minimum": 0, "maximum": 50, "default": 0, "description": "Lines to show before and after each match" },
                   "output": { "type": "string", "enum": ["content", "files", "count"], "default": "content", "description": "Matching lines, only the files, or how many in each" },
                   "limit": { "type": "integer", "minimum": 1, "maximum": 10000, "default": 200, "description": "At most this many matching lines, or files" },
                   "include_ignored": { "type": "boolean", "default": false, "description": "Also what .gitignore leaves out" } },
               "required": ["pattern"], "additionalProperties": false }),
        JSON({ "type": "object",
               "properties": {
                   "pattern": { "type": "string" }, "path": { "type": "string" }, "output": { "type": "string" },
                   "matches": { "type": "integer" }, "files_matched": { "type": "integer" }, "files_searched": { "type": "integer" },
                   "binary_files": { "type": "integer" }, "truncated": { "type": "boolean" },
                   "results": { "type": "array",
                                "items": { "type": "object",
                                           "properties": { "path": { "type": "string" }, "line": { "type": "integer" }, "text": { "type": "string" }, "count": { "type": "integer" } },
                                           "required": ["path"] } },
                   "errors": { "type": "integer" } },
               "required": ["pattern", "path", "output", "matches", "files_matched", "files_searched", "truncated", "results"] }),
        COOP_TOOL_READ_ONLY | COOP_TOOL_IDEMPOTENT }, TOOL_READS, tool_grep },

    { { "stat", "Look at a file",
        "Tells of one path what it is: type, size, mode, when it was changed, where a link leads.",
        JSON({ "type": "object",
               "properties": {
                   "path": { "type": "string", "minLength": 1, "maxLength": 4096, "description": "Absolute, or relative to the workspace" },
                   "follow": { "type": "boolean", "default": true, "description": "Of a link, tell where it leads to; false: of the link itself" } },
               "required": ["path"], "additionalProperties": false }),
        JSON({ "type": "object",
               "properties": {
                   "path": { "type": "string" }, "type": { "type": "string" }, "size": { "type": "integer" }, "mode": { "type": "string" },
                   "modified": { "type": "string" }, "writable": { "type": "boolean" }, "target": { "type": "string" },
                   "links": { "type": "integer" }, "uid": { "type": "integer" }, "gid": { "type": "integer" } },
               "required": ["path", "type", "size", "mode", "modified", "writable"] }),
        COOP_TOOL_READ_ONLY | COOP_TOOL_IDEMPOTENT }, TOOL_READS, tool_stat },

    { { "move", "Move or rename",
        "Moves or renames a file or directory. What is at the destination already stays unless overwrite is set.",
        JSON({ "type": "object",
               "properties": {
                   "source": { "type": "string", "minLength": 1, "maxLength": 4096, "description": "What to move" },
                   "destination": { "type": "string", "minLength": 1, "maxLength": 4096, "description": "Its new path, the name included" },
                   "overwrite": { "type": "boolean", "default": false, "description": "Replace a file that is there" } },
               "required": ["source", "destination"], "additionalProperties": false }),
        JSON({ "type": "object",
               "properties": { "source": { "type": "string" }, "destination": { "type": "string" }, "replaced": { "type": "boolean" } },
               "required": ["source", "destination", "replaced"] }),
        COOP_TOOL_DESTRUCTIVE }, TOOL_WRITES, tool_move },

    { { "remove", "Remove",
        "Removes a file, a link or an empty directory; with recursive also a directory and all that is in it. There is no way back.",
        JSON({ "type": "object",
               "properties": {
                   "path": { "type": "string", "minLength": 1, "maxLength": 4096, "description": "Absolute, or relative to the workspace" },
                   "recursive": { "type": "boolean", "default": false, "description": "Also what is in a directory" } },
               "required": ["path"], "additionalProperties": false }),
        JSON({ "type": "object",
               "properties": { "path": { "type": "string" }, "removed": { "type": "integer" } },
               "required": ["path", "removed"] }),
        COOP_TOOL_DESTRUCTIVE }, TOOL_WRITES, tool_remove },

    { { "make_dir", "Make a directory",
        "Makes a directory; with parents also those above it, and one that is there already is fine then.",
        JSON({ "type": "object",
               "properties": {
                   "path": { "type": "string", "minLength": 1, "maxLength": 4096, "description": "Absolute, or relative to the workspace" },
                   "parents": { "type": "boolean", "default": false, "description": "Make the directories above it too" } },
               "required": ["path"], "additionalProperties": false }),
        JSON({ "type": "object",
               "properties": { "path": { "type": "string" }, "created": { "type": "boolean" } },
               "required": ["path", "created"] }),
        0 }, TOOL_WRITES, tool_make_dir },

    { { "symlink", "Make a link",
        "Makes a symbolic link. What it points to must lie in what these tools can see.",
        JSON({ "type": "object",
               "properties": {
                   "target": { "type": "string", "minLength": 1, "maxLength": 4096, "description": "What the link says: relative to its own directory, or absolute" },
                   "path": { "type": "string", "minLength": 1, "maxLength": 4096, "description": "Where the link is to be" } },
               "required": ["target", "path"], "additionalProperties": false }),
        JSON({ "type": "object",
               "properties": { "path": { "type": "string" }, "target": { "type": "string" } },
               "required": ["path", "target"] }),
        0 }, TOOL_WRITES, tool_symlink },

    { { "git_status", "What has changed",
        "Shows the branch and what has changed since the last commit, as 'git status --short --branch' does: the first letter is "
        "about what is staged, the second about what is not.",
        JSON({ "type": "object",
               "properties": {
                   "directory": { "type": "string", "minLength": 1, "maxLength": 4096, "description": "In which repository: a directory of it; default: the workspace" } },
               "additionalProperties": false }),
        JOB_SCHEMA, COOP_TOOL_READ_ONLY | COOP_TOOL_IDEMPOTENT }, TOOL_COMMANDS, tool_git_status },

    { { "git_diff", "Show differences",
        "Shows changes as a unified diff: of the files against what is staged; of what is staged with staged; against a commit, or "
        "between two, with revision.",
        JSON({ "type": "object",
               "properties": {
                   "staged": { "type": "boolean", "default": false, "description": "What would be committed" },
                   "revision": { "type": "string", "minLength": 1, "maxLength": 1000, "description": "A commit, as 'HEAD~2', or two, as 'main..HEAD'" },
                   "paths": { "type": "array", "maxItems": 1000, "items": { "type": "string", "minLength": 1, "maxLength": 4096 }, "description": "Only these files or directories" },
                   "stat": { "type": "boolean", "default": false, "description": "Only how many lines of which files" },
                   "context": { "type": "integer", "minimum": 0, "maximum": 1000, "default": 3, "description": "Lines around each change" },
                   "directory": { "type": "string", "minLength": 1, "maxLength": 4096, "description": "In which repository: a directory of it; default: the workspace" } },
               "additionalProperties": false }),
        JOB_SCHEMA, COOP_TOOL_READ_ONLY | COOP_TOOL_IDEMPOTENT }, TOOL_COMMANDS, tool_git_diff },

    { { "git_stage", "Stage changes",
        "Stages files for the next commit as they are now, also those that are new or gone; '.' is all.",
        JSON({ "type": "object",
               "properties": {
                   "paths": { "type": "array", "minItems": 1, "maxItems": 1000, "items": { "type": "string", "minLength": 1, "maxLength": 4096 }, "description": "Files or directories, as other tools name them; not patterns" },
                   "directory": { "type": "string", "minLength": 1, "maxLength": 4096, "description": "In which repository: a directory of it; default: the workspace" } },
               "required": ["paths"], "additionalProperties": false }),
        JOB_SCHEMA, COOP_TOOL_IDEMPOTENT }, TOOL_COMMANDS, tool_git_stage },

    { { "git_commit", "Commit",
        "Commits what is staged. Look at it first with git_diff and staged.",
        JSON({ "type": "object",
               "properties": {
                   "message": { "type": "string", "minLength": 1, "description": "A short line that says what the change does; then an empty line and why, if it needs saying" },
                   "author": { "type": "string", "minLength": 1, "maxLength": 1000, "description": "'Name <mail@example.org>'; default: whom the configuration of git names" },
                   "directory": { "type": "string", "minLength": 1, "maxLength": 4096, "description": "In which repository: a directory of it; default: the workspace" } },
               "required": ["message"], "additionalProperties": false }),
        JOB_SCHEMA, 0 }, TOOL_COMMANDS, tool_git_commit },

    { { "git_log", "Show commits",
        "Shows commits, the newest first.",
        JSON({ "type": "object",
               "properties": {
                   "limit": { "type": "integer", "minimum": 1, "maximum": 1000, "default": 20, "description": "At most this many" },
                   "revision": { "type": "string", "minLength": 1, "maxLength": 1000, "description": "Where to begin, as 'main', or a range, as 'main..HEAD'; default: HEAD" },
                   "paths": { "type": "array", "maxItems": 1000, "items": { "type": "string", "minLength": 1, "maxLength": 4096 }, "description": "Only these files or directories" },
                   "stat": { "type": "boolean", "default": false, "description": "Also which files each changed" },
                   "directory": { "type": "string", "minLength": 1, "maxLength": 4096, "description": "In which repository: a directory of it; default: the workspace" } },
               "additionalProperties": false }),
        JOB_SCHEMA, COOP_TOOL_READ_ONLY | COOP_TOOL_IDEMPOTENT }, TOOL_COMMANDS, tool_git_log },

    { { "git_push", "Push commits",
        "Sends commits to a remote repository. Needs the network; uses no credentials but those that were granted to the sandbox.",
        JSON({ "type": "object",
               "properties": {
                   "remote": { "type": "string", "minLength": 1, "maxLength": 1000, "description": "Its name; default: that of the branch, or origin" },
                   "branch": { "type": "string", "minLength": 1, "maxLength": 1000, "description": "What to push, as 'main' or 'HEAD:refs/heads/topic'; default: the current branch" },
                   "set_upstream": { "type": "boolean", "default": false, "description": "Remember where this branch was pushed to" },
                   "directory": { "type": "string", "minLength": 1, "maxLength": 4096, "description": "In which repository: a directory of it; default: the workspace" } },
               "additionalProperties": false }),
        JOB_SCHEMA, COOP_TOOL_OPEN_WORLD }, TOOL_ALL, tool_git_push },
};
/* clang-format on */

_Static_assert(COUNT(table) <= TOOLS_MAX, "a set of tools has room for each row");

const struct tool *tool_row(size_t i)
{
    return i < COUNT(table) ? &table[i] : NULL;
}

const coop_tool *coop_tool_at(size_t i)
{
    return i < COUNT(table) ? &table[i].face : NULL;
}

const struct tool *tool_find(const char *name, size_t *index)
{
    for (size_t i = 0; i < COUNT(table); i++)
        if (strcmp(table[i].face.name, name) == 0) {
            *index = i;
            return &table[i];
        }
    return NULL;
}

const char *tool_suggest(const char *name)
{
    const char *names[COUNT(table) + 1] = { NULL };

    for (size_t i = 0; i < COUNT(table); i++)
        names[i] = table[i].face.name;
    return suggest(name, names);
}
