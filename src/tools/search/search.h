/*
 * search.h - what glob and grep have in common: where they search, and how they name what they find
 */
#pragma once

#include "base/buffer.h"
#include "tools/path/place.h"
#include "tools/search/walk.h"
#include "tools/tool.h"

struct search_call {
    struct tool_call *call;
    struct place place; /* where */
    bool is_directory;
    struct buffer
        prefix; /* of the paths that are told: the argument, with a '/' behind it; may be empty */
    struct walk_watch watch;
    struct walk_options options;
    struct walk_result result;
};

/* Finds the place that `path` names, NULL: the directory of the tools. search_done() in any case. */
int search_init(struct search_call *search, struct tool_call *call, const char *path,
                coop_error **err);
void search_done(struct search_call *search);
#define auto_search __attribute__((cleanup(search_done)))

/* As it is told to the model, in one line whatever the name holds; other tools take it as it is. */
void search_append_path(struct buffer *out, const struct search_call *search, const char *path);
/* The same with all its bytes, for JSON. */
void search_join_path(struct buffer *out, const struct search_call *search, const char *path);

/* What was left out, for the end of the text; nothing if nothing was. */
void search_append_notes(struct buffer *out, const struct search_call *search);
