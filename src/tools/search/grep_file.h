/*
 * grep_file.h - the lines of one file that match
 *
 * Files are read in blocks of whole lines, never mapped: one that shrinks meanwhile ends early, and that
 * is all. A line longer than GREP_LINE_MAX is taken for several.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/regex/regex.h"
#include "tools/search/walk.h"

#define GREP_BLOCK         (128 * 1024)
#define GREP_LINE_MAX      (1024 * 1024)
#define GREP_CONTEXT_BYTES (64 * 1024) /* lines before a match that are still there when it comes */

struct grep_line {
    const char *text; /* without its end */
    size_t n;
    size_t hit; /* where in it */
    uint64_t number;
    bool is_match;       /* else it is context */
    bool begins_a_group; /* lines are missing between the one before, of this file, and this one */
};

/* False: enough, the rest of the file is not wanted. */
typedef bool grep_line_fn(void *context, const struct grep_line *line);

/* What to do, and the room to do it in: used for one file after the other. */
struct grep_reader {
    struct regex *regex;
    struct walk_watch *watch;
    unsigned n_context;
    uint64_t n_left;  /* matching lines that may still be told */
    bool has_more;    /* a match was not told for that */
    bool only_counts; /* no line is told */
    bool only_first;  /* one match is enough */
    grep_line_fn *each;
    void *context;
    char *buffer; /* NULL at first; grep_reader_done() */
    size_t capacity;
};
void grep_reader_done(struct grep_reader *reader);

struct grep_counts {
    uint64_t n_matches; /* lines */
    bool is_binary;     /* then only what stood before that was seen counts */
};

/* 0, -ENOMEM, or what reading fails with. `size` as fstat() told it. */
int grep_file(struct grep_reader *reader, int fd, off_t size, struct grep_counts *out);
