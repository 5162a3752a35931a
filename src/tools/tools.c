/*
 * tools.c - the table of the tools: what a model is told of each, and who may use it
 */
#include "tools.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/suggest.h"

#define JSON(...) #__VA_ARGS__
/* Both are texts: what is in JSON() is not expanded. */
#define OBJECT(properties, required) \
    "{ \"type\": \"object\", \"properties\": { " properties " }, \"required\": " required " }"

/* clang-format off */
/* What a command printed, and how it ended. */
#define STATE_SCHEMA JSON("job": { "type": "integer" }, \
        "shell": { "type": "string", "description": "Its name, if it is one" }, \
        "running": { "type": "boolean" }, \
        "exit_code": { "type": "integer", "description": "-1 if it is running or a signal ended it" }, \
        "signal": { "type": "integer", "description": "0 if it exited" }, \
        "timed_out": { "type": "boolean" }, \
        "duration_ms": { "type": "integer" }, \
        "bytes": { "type": "integer", "description": "Bytes of output so far" })

#define JOB_PROPERTIES JSON( \
        "exit_code": { "type": "integer", "description": "-1 if a signal ended it" }, \
        "signal": { "type": "integer", "description": "0 if it exited" }, \
        "timed_out": { "type": "boolean" }, \
        "cancelled": { "type": "boolean" }, \
        "out_of_memory": { "type": "boolean" }, \
        "duration_ms": { "type": "integer" }, \
        "output": { "type": "string" }, \
        "truncated": { "type": "boolean" }, \
        "output_file": { "type": "string", "description": "File with the full output, if it was truncated and kept" }, \
        "tier": { "type": "string", "description": "How strongly the command was isolated: full, namespaces, landlock or none" }, \
        "denials": { "type": "array", "items": { "type": "object" } }, \
        "ended_processes": { "type": "integer", "description": "Number of background processes that were ended with the command" }, \
        "records": { "type": "object", "description": "not_watched: kinds of denials that would not be listed, and why" })

#define JOB_SCHEMA OBJECT(JOB_PROPERTIES, JSON(["exit_code", "signal", "timed_out", "cancelled", "out_of_memory", "duration_ms", "output", "truncated", "tier", "denials"]))

static const struct tool table[] = {
    { { "bash", "Run a command",
        "Run a command with bash and wait for it to end. Returns its standard output and standard error together, at most the "
        "last 2000 lines or 50,000 bytes; if there was more, a note names the file with the full output. An exit code other "
        "than 0 comes first. A plain call starts a new shell in a new box and ends everything it started; files persist, also "
        "in /tmp. With shell, the command runs in a shell of that name that keeps its working directory, variables and "
        "functions. With background, it runs on as a job (for servers and long builds): see job_output, job_input, job_stop "
        "and jobs. Jobs and shells share one box and its loopback: use shell, not a plain call, to reach a server in a job. "
        "Denials by the sandbox are listed at the end.",
        JSON({ "type": "object",
               "properties": {
                   "command": { "type": "string", "minLength": 1, "description": "The command, in shell syntax; may have several lines" },
                   "timeout_seconds": { "type": "integer", "minimum": 1, "maximum": 86400, "default": 120, "description": "End the command and everything it started after this many seconds" },
                   "directory": { "type": "string", "minLength": 1, "maxLength": 4096, "description": "Working directory; default: the workspace" },
                   "background": { "type": "boolean", "default": false, "description": "Start the command as a job and do not wait; it may run for timeout_seconds, by default for a day" },
                   "shell": { "type": "string", "minLength": 1, "maxLength": 64, "description": "Run the command in the shell of this name; the first call starts it" },
                   "pty": { "type": "boolean", "default": false, "description": "With background, or in the first call with shell: use a terminal" },
                   "description": { "type": "string", "description": "What the command is for, in a few words, for the user to see" } },
               "required": ["command"], "additionalProperties": false }),
        OBJECT(JOB_PROPERTIES ", " JSON("job": { "type": "integer", "description": "With background or shell: its number" },
                   "shell": { "type": "string" }, "running": { "type": "boolean" }, "bytes": { "type": "integer" }),
               JSON(["exit_code", "signal", "timed_out", "duration_ms"])),
        COOP_TOOL_DESTRUCTIVE | COOP_TOOL_OPEN_WORLD }, TOOL_COMMANDS, tool_bash },

    { { "job_output", "Read the output of a job",
        "Read the output of a job or shell, from an offset or from where the last call ended. Can wait for a text in it, or for "
        "the end of the job. The last MiB of each job is kept.",
        JSON({ "type": "object",
               "properties": {
                   "job": { "type": "integer", "minimum": 1, "maximum": 1000000000, "description": "Number of the job" },
                   "offset": { "type": "integer", "minimum": 0, "maximum": 1000000000000, "description": "In bytes from the beginning; default: where the last call ended" },
                   "wait_for": { "type": "string", "minLength": 1, "maxLength": 4096, "description": "Wait until this text appears" },
                   "wait_exit": { "type": "boolean", "default": false, "description": "Wait until the job has ended" },
                   "timeout_seconds": { "type": "integer", "minimum": 1, "maximum": 3600, "default": 30, "description": "Wait no longer than this" } },
               "required": ["job"], "additionalProperties": false }),
        OBJECT(STATE_SCHEMA ", " JSON("offset": { "type": "integer" }, "next_offset": { "type": "integer" }, "output": { "type": "string" }),
               JSON(["job", "running", "exit_code", "offset", "next_offset", "output"])),
        COOP_TOOL_READ_ONLY }, TOOL_COMMANDS, tool_job_output },

    { { "job_input", "Write to a job",
        "Write to the standard input of a job, or type on its terminal.",
        JSON({ "type": "object",
               "properties": {
                   "job": { "type": "integer", "minimum": 1, "maximum": 1000000000, "description": "Number of the job" },
                   "input": { "type": "string", "maxLength": 1000000, "description": "Text to write, with newlines where lines end" },
                   "end": { "type": "boolean", "default": false, "description": "Close the input afterwards" } },
               "required": ["job"], "additionalProperties": false }),
        OBJECT(STATE_SCHEMA, JSON(["job", "running", "exit_code"])),
        COOP_TOOL_DESTRUCTIVE | COOP_TOOL_OPEN_WORLD }, TOOL_COMMANDS, tool_job_input },

    { { "job_stop", "Stop a job",
        "End a job or shell and what it started: with SIGTERM, and after two seconds with SIGKILL.",
        JSON({ "type": "object",
               "properties": {
                   "job": { "type": "integer", "minimum": 1, "maximum": 1000000000, "description": "Number of the job" } },
               "required": ["job"], "additionalProperties": false }),
        OBJECT(STATE_SCHEMA, JSON(["job", "running", "exit_code"])),
        COOP_TOOL_DESTRUCTIVE | COOP_TOOL_IDEMPOTENT }, TOOL_COMMANDS, tool_job_stop },

    { { "jobs", "List jobs",
        "List jobs and shells, with the latest of those that have ended.",
        JSON({ "type": "object", "properties": { }, "additionalProperties": false }),
        "{ \"type\": \"object\", \"properties\": { \"jobs\": { \"type\": \"array\", \"items\": "
        OBJECT(STATE_SCHEMA ", " JSON("command": { "type": "string" }), JSON(["job", "running", "exit_code", "command"]))
        " } }, \"required\": [\"jobs\"] }",
        COOP_TOOL_READ_ONLY | COOP_TOOL_IDEMPOTENT }, TOOL_COMMANDS, tool_jobs },

    { { "read_file", "Read a file",
        "Read a text file, at most 2000 lines at a time; offset and limit choose which lines. Images and audio are returned as such; other binary files are described. In a large file, use grep first to find the right lines.",
        JSON({ "type": "object",
               "properties": {
                   "path": { "type": "string", "minLength": 1, "maxLength": 4096, "description": "Absolute, or relative to the workspace" },
                   "offset": { "type": "integer", "minimum": 1, "default": 1, "description": "First line to show, counting from 1" },
                   "limit": { "type": "integer", "minimum": 1, "maximum": 2000, "default": 2000, "description": "Number of lines" },
                   "line_numbers": { "type": "boolean", "default": false, "description": "Prefix each line with its number and a tab" } },
               "required": ["path"], "additionalProperties": false }),
        JSON({ "type": "object",
               "properties": {
                   "path": { "type": "string" }, "kind": { "type": "string", "enum": ["text", "binary", "image", "audio"] }, "size": { "type": "integer" },
                   "shown_from": { "type": "integer" }, "shown_to": { "type": "integer" }, "total_lines": { "type": "integer" },
                   "truncated": { "type": "boolean" }, "mime_type": { "type": "string" } },
               "required": ["path", "kind", "size"] }),
        COOP_TOOL_READ_ONLY | COOP_TOOL_IDEMPOTENT }, TOOL_READS, tool_read_file },

    { { "write_file", "Write a file",
        "Write a whole file, creating or overwriting it atomically. To change part of a file, use edit_file.",
        JSON({ "type": "object",
               "properties": {
                   "path": { "type": "string", "minLength": 1, "maxLength": 4096, "description": "Absolute, or relative to the workspace" },
                   "content": { "type": "string", "description": "The complete new content of the file" },
                   "create_parents": { "type": "boolean", "default": false, "description": "Create missing parent directories" } },
               "required": ["path", "content"], "additionalProperties": false }),
        JSON({ "type": "object",
               "properties": { "path": { "type": "string" }, "bytes": { "type": "integer" }, "created": { "type": "boolean" } },
               "required": ["path", "bytes", "created"] }),
        COOP_TOOL_DESTRUCTIVE | COOP_TOOL_IDEMPOTENT }, TOOL_WRITES, tool_write_file },

    { { "edit_file", "Edit a file",
        "Replace exact text in a file: old_string by new_string, or several edits in order, all or none. The old text must occur "
        "exactly once, including spaces and newlines, unless replace_all is set; include a few surrounding lines to make it "
        "unique. Returns a unified diff.",
        JSON({ "type": "object",
               "properties": {
                   "path": { "type": "string", "minLength": 1, "maxLength": 4096, "description": "Absolute, or relative to the workspace" },
                   "old_string": { "type": "string", "minLength": 1, "description": "The exact current text, to replace by new_string; instead of edits" },
                   "new_string": { "type": "string", "description": "The new text" },
                   "replace_all": { "type": "boolean", "default": false, "description": "With old_string: replace every occurrence" },
                   "edits": { "type": "array", "minItems": 1, "maxItems": 100,
                              "items": { "type": "object",
                                         "properties": {
                                             "old_text": { "type": "string", "minLength": 1, "description": "The exact current text" },
                                             "new_text": { "type": "string", "description": "The new text" },
                                             "replace_all": { "type": "boolean", "default": false, "description": "Replace every occurrence" } },
                                         "required": ["old_text", "new_text"], "additionalProperties": false } },
                   "dry_run": { "type": "boolean", "default": false, "description": "Only show the diff" } },
               "required": ["path"], "additionalProperties": false }),
        JSON({ "type": "object",
               "properties": { "path": { "type": "string" }, "replacements": { "type": "integer" }, "changed": { "type": "boolean" }, "diff": { "type": "string" } },
               "required": ["path", "replacements", "changed", "diff"] }),
        COOP_TOOL_DESTRUCTIVE }, TOOL_WRITES, tool_edit_file },

    { { "list_dir", "List a directory",
        "List one directory, with types and sizes. For whole trees, use glob.",
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
        "Find files whose path matches a pattern, newest first, except those ignored by .gitignore. A pattern without '/' matches names at any depth: '*.c' finds all C files; 'src/**/*.{c,h}' those below src.",
        JSON({ "type": "object",
               "properties": {
                   "pattern": { "type": "string", "minLength": 1, "maxLength": 4096, "description": "'*', '?' and '[a-z]' within a name, '**' any directories, '{a,b}' alternatives; a trailing '/' matches directories" },
                   "path": { "type": "string", "minLength": 1, "maxLength": 4096, "description": "Directory to search in; default: the workspace" },
                   "limit": { "type": "integer", "minimum": 1, "maximum": 10000, "default": 200, "description": "At most this many paths" },
                   "sort": { "type": "string", "enum": ["modified", "name"], "default": "modified", "description": "Newest first, or by path" },
                   "include_ignored": { "type": "boolean", "default": false, "description": "Include files ignored by .gitignore" } },
               "required": ["pattern"], "additionalProperties": false }),
        JSON({ "type": "object",
               "properties": {
                   "pattern": { "type": "string" }, "path": { "type": "string" }, "files": { "type": "array", "items": { "type": "string" } },
                   "matched": { "type": "integer" }, "truncated": { "type": "boolean" }, "errors": { "type": "integer" } },
               "required": ["pattern", "path", "files", "matched", "truncated"] }),
        COOP_TOOL_READ_ONLY | COOP_TOOL_IDEMPOTENT }, TOOL_READS, tool_glob },

    { { "grep", "Search in files",
        "Search the lines of files for a regular expression, except binary files and those ignored by .gitignore. "
        "Extended syntax with \\d \\w \\s \\b, non-greedy quantifiers and (?i); no backreferences and no look-around.",
        JSON({ "type": "object",
               "properties": {
                   "pattern": { "type": "string", "minLength": 1, "maxLength": 4096, "description": "Regular expression, matched against each line" },
                   "path": { "type": "string", "minLength": 1, "maxLength": 4096, "description": "Directory or one file; default: the workspace" },
                   "glob": { "type": "string", "minLength": 1, "maxLength": 4096, "description": "Only files that match this pattern, for example '*.c' or 'src/**/*.{c,h}'" },
                   "ignore_case": { "type": "boolean", "default": false, "description": "Ignore case" },
                   "literal": { "type": "boolean", "default": false, "description": "Treat the pattern as plain text" },
                   "context": { "type": "integer", "minimum": 0, "maximum": 50, "default": 0, "description": "Lines to show before and after each match" },
                   "output": { "type": "string", "enum": ["content", "files", "count"], "default": "content", "description": "Show matching lines, only file names, or the number of matches per file" },
                   "limit": { "type": "integer", "minimum": 1, "maximum": 10000, "default": 200, "description": "At most this many matching lines, or files" },
                   "include_ignored": { "type": "boolean", "default": false, "description": "Include files ignored by .gitignore" } },
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
        "Show a path's type, size, mode, modification time and, for a link, its target.",
        JSON({ "type": "object",
               "properties": {
                   "path": { "type": "string", "minLength": 1, "maxLength": 4096, "description": "Absolute, or relative to the workspace" },
                   "follow": { "type": "boolean", "default": true, "description": "Describe the target of a link; false: the link itself" } },
               "required": ["path"], "additionalProperties": false }),
        JSON({ "type": "object",
               "properties": {
                   "path": { "type": "string" }, "type": { "type": "string" }, "size": { "type": "integer" }, "mode": { "type": "string" },
                   "modified": { "type": "string" }, "writable": { "type": "boolean" }, "target": { "type": "string" },
                   "links": { "type": "integer" }, "uid": { "type": "integer" }, "gid": { "type": "integer" } },
               "required": ["path", "type", "size", "mode", "modified", "writable"] }),
        COOP_TOOL_READ_ONLY | COOP_TOOL_IDEMPOTENT }, TOOL_READS, tool_stat },

    { { "move", "Move or rename",
        "Move or rename a file or directory. An existing destination is kept unless overwrite is set.",
        JSON({ "type": "object",
               "properties": {
                   "source": { "type": "string", "minLength": 1, "maxLength": 4096, "description": "What to move" },
                   "destination": { "type": "string", "minLength": 1, "maxLength": 4096, "description": "The new path, including the name" },
                   "overwrite": { "type": "boolean", "default": false, "description": "Replace an existing file" } },
               "required": ["source", "destination"], "additionalProperties": false }),
        JSON({ "type": "object",
               "properties": { "source": { "type": "string" }, "destination": { "type": "string" }, "replaced": { "type": "boolean" } },
               "required": ["source", "destination", "replaced"] }),
        COOP_TOOL_DESTRUCTIVE }, TOOL_WRITES, tool_move },

    { { "remove", "Remove",
        "Remove a file, a link or an empty directory; with recursive, also a directory and everything in it. This cannot be undone.",
        JSON({ "type": "object",
               "properties": {
                   "path": { "type": "string", "minLength": 1, "maxLength": 4096, "description": "Absolute, or relative to the workspace" },
                   "recursive": { "type": "boolean", "default": false, "description": "Also remove the contents of a directory" } },
               "required": ["path"], "additionalProperties": false }),
        JSON({ "type": "object",
               "properties": { "path": { "type": "string" }, "removed": { "type": "integer" } },
               "required": ["path", "removed"] }),
        COOP_TOOL_DESTRUCTIVE }, TOOL_WRITES, tool_remove },

    { { "make_dir", "Make a directory",
        "Create a directory; with parents, also create missing parents and accept an existing directory.",
        JSON({ "type": "object",
               "properties": {
                   "path": { "type": "string", "minLength": 1, "maxLength": 4096, "description": "Absolute, or relative to the workspace" },
                   "parents": { "type": "boolean", "default": false, "description": "Also create missing parent directories" } },
               "required": ["path"], "additionalProperties": false }),
        JSON({ "type": "object",
               "properties": { "path": { "type": "string" }, "created": { "type": "boolean" } },
               "required": ["path", "created"] }),
        0 }, TOOL_WRITES, tool_make_dir },

    { { "symlink", "Make a link",
        "Create a symbolic link. Its target must be visible to these tools.",
        JSON({ "type": "object",
               "properties": {
                   "target": { "type": "string", "minLength": 1, "maxLength": 4096, "description": "The target of the link, relative to its own directory or absolute" },
                   "path": { "type": "string", "minLength": 1, "maxLength": 4096, "description": "The path of the new link" } },
               "required": ["target", "path"], "additionalProperties": false }),
        JSON({ "type": "object",
               "properties": { "path": { "type": "string" }, "target": { "type": "string" } },
               "required": ["path", "target"] }),
        0 }, TOOL_WRITES, tool_symlink },

    { { "git_status", "What has changed",
        "Show the branch and what has changed since the last commit, like 'git status --short --branch': the first letter is for staged changes, the second for unstaged ones.",
        JSON({ "type": "object",
               "properties": {
                   "directory": { "type": "string", "minLength": 1, "maxLength": 4096, "description": "A directory of the repository; default: the workspace" } },
               "additionalProperties": false }),
        JOB_SCHEMA, COOP_TOOL_READ_ONLY | COOP_TOOL_IDEMPOTENT }, TOOL_COMMANDS, tool_git_status },

    { { "git_diff", "Show differences",
        "Show changes as a unified diff: unstaged changes by default; staged ones with staged; against a commit, or between two, with revision.",
        JSON({ "type": "object",
               "properties": {
                   "staged": { "type": "boolean", "default": false, "description": "Show what would be committed" },
                   "revision": { "type": "string", "minLength": 1, "maxLength": 1000, "description": "A commit, such as 'HEAD~2', or two, such as 'main..HEAD'" },
                   "paths": { "type": "array", "maxItems": 1000, "items": { "type": "string", "minLength": 1, "maxLength": 4096 }, "description": "Only these files or directories" },
                   "stat": { "type": "boolean", "default": false, "description": "Only the number of changed lines per file" },
                   "context": { "type": "integer", "minimum": 0, "maximum": 1000, "default": 3, "description": "Lines around each change" },
                   "directory": { "type": "string", "minLength": 1, "maxLength": 4096, "description": "A directory of the repository; default: the workspace" } },
               "additionalProperties": false }),
        JOB_SCHEMA, COOP_TOOL_READ_ONLY | COOP_TOOL_IDEMPOTENT }, TOOL_COMMANDS, tool_git_diff },

    { { "git_stage", "Stage changes",
        "Stage the current state of files for the next commit, including new and deleted ones; '.' stages everything.",
        JSON({ "type": "object",
               "properties": {
                   "paths": { "type": "array", "minItems": 1, "maxItems": 1000, "items": { "type": "string", "minLength": 1, "maxLength": 4096 }, "description": "Files or directories, named as for the other tools; not patterns" },
                   "directory": { "type": "string", "minLength": 1, "maxLength": 4096, "description": "A directory of the repository; default: the workspace" } },
               "required": ["paths"], "additionalProperties": false }),
        JOB_SCHEMA, COOP_TOOL_IDEMPOTENT }, TOOL_COMMANDS, tool_git_stage },

    { { "git_commit", "Commit",
        "Commit what is staged. Check it first with git_diff and staged.",
        JSON({ "type": "object",
               "properties": {
                   "message": { "type": "string", "minLength": 1, "description": "A short summary line; then, if needed, an empty line and the reason for the change" },
                   "author": { "type": "string", "minLength": 1, "maxLength": 1000, "description": "'Name <mail@example.org>'; default: from git's configuration" },
                   "directory": { "type": "string", "minLength": 1, "maxLength": 4096, "description": "A directory of the repository; default: the workspace" } },
               "required": ["message"], "additionalProperties": false }),
        JOB_SCHEMA, 0 }, TOOL_COMMANDS, tool_git_commit },

    { { "git_log", "Show commits",
        "Show commits, newest first.",
        JSON({ "type": "object",
               "properties": {
                   "limit": { "type": "integer", "minimum": 1, "maximum": 1000, "default": 20, "description": "At most this many" },
                   "revision": { "type": "string", "minLength": 1, "maxLength": 1000, "description": "Where to start, such as 'main', or a range, such as 'main..HEAD'; default: HEAD" },
                   "paths": { "type": "array", "maxItems": 1000, "items": { "type": "string", "minLength": 1, "maxLength": 4096 }, "description": "Only these files or directories" },
                   "stat": { "type": "boolean", "default": false, "description": "Also list the files that each commit changed" },
                   "directory": { "type": "string", "minLength": 1, "maxLength": 4096, "description": "A directory of the repository; default: the workspace" } },
               "additionalProperties": false }),
        JOB_SCHEMA, COOP_TOOL_READ_ONLY | COOP_TOOL_IDEMPOTENT }, TOOL_COMMANDS, tool_git_log },

    { { "git_push", "Push commits",
        "Push commits to a remote repository. Needs the network; uses only credentials that were granted to the sandbox.",
        JSON({ "type": "object",
               "properties": {
                   "remote": { "type": "string", "minLength": 1, "maxLength": 1000, "description": "Name of the remote; default: the branch's remote, or origin" },
                   "branch": { "type": "string", "minLength": 1, "maxLength": 1000, "description": "What to push, such as 'main' or 'HEAD:refs/heads/topic'; default: the current branch" },
                   "set_upstream": { "type": "boolean", "default": false, "description": "Set the upstream of this branch" },
                   "directory": { "type": "string", "minLength": 1, "maxLength": 4096, "description": "A directory of the repository; default: the workspace" } },
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
