/*
 * tool.h - what a tool is made of
 *
 *   coop_execute()  finds the row of the table, asks whether this identity may, checks the arguments
 *                   against the row's schema, calls its function
 *   the function    reads its arguments, opens what they name through place.h, fills the reply
 *
 * One file per tool or per family of tools; the table is tools.c.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/buffer.h"
#include "base/json/read.h"
#include "coop/tools.h"

struct places; /* place.h: where paths lead */
struct tool_audit;

/* What somebody must be allowed in order to use a tool. */
enum tool_need {
    TOOL_READS,    /* the file tools that only read */
    TOOL_WRITES,   /* the file tools that change something */
    TOOL_COMMANDS, /* bash, and git in a box */
    TOOL_ALL       /* only who may use everything: git_push */
};

struct tool_reply {
    struct buffer text;       /* for the model */
    struct buffer data;       /* base64 of a picture; empty: none */
    const char *mime_type;    /* of the data, static */
    struct buffer structured; /* a JSON object; empty: none */
    bool is_error;
};

/* One call. Everything in it is borrowed by the tool. */
struct tool_call {
    coop_tools *tools;
    struct places *places;
    const struct json_value *arguments; /* an object that fits the schema */
    const coop_execute_options *options;
    struct tool_reply *reply;
    struct tool_audit *audit; /* audit.h */
};

/* What went wrong and what to do is the error's message, which becomes the reply's text: only
 * -ENOMEM is handed on as a failure of the call. */
typedef int tool_fn(struct tool_call *call, coop_error **err);

struct tool {
    coop_tool face;
    enum tool_need need;
    tool_fn *run;
};

/* ---- arguments; they have been checked against the schema, so what is there has its type */

/* NULL: not given. */
const char *tool_text(const struct tool_call *call, const char *name);
/* `otherwise` where it is not given. Whole numbers within what the schema allows. */
int64_t tool_number(const struct tool_call *call, const char *name, int64_t otherwise);
bool tool_flag(const struct tool_call *call, const char *name, bool otherwise);
/* The member itself, for arrays and objects; NULL: not given. */
const struct json_value *tool_argument(const struct tool_call *call, const char *name);

/* Whether somebody has cancelled the call; long work looks now and then. */
bool tool_is_cancelled(const struct tool_call *call);

/* ---- the tools */

tool_fn tool_bash;
tool_fn tool_job_output, tool_job_input, tool_job_stop, tool_jobs;
tool_fn tool_read_file, tool_write_file, tool_edit_file;
tool_fn tool_list_dir, tool_glob, tool_grep, tool_stat;
tool_fn tool_move, tool_remove, tool_make_dir, tool_symlink;
tool_fn tool_git_status, tool_git_diff, tool_git_stage, tool_git_commit, tool_git_log,
    tool_git_push;
