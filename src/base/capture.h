/*
 * capture.h - what one stream of a command wrote
 *
 *   capture_init() -> capture_append(), any number of times -> read it -> capture_done()
 *
 * Up to a cap everything is kept; beyond it the oldest bytes make room for the newest, and are
 * counted. Memory grows with the output by doubling, up to the cap and never above, so a command
 * that prints gigabytes costs no more than one that prints the cap. Where memory runs out earlier,
 * what there is becomes the cap: nothing here fails.
 *
 * A line ends with '\n'; bytes after the last '\n' are a line too.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"

#define CAPTURE_CAP         ((size_t)10 << 20)
#define CAPTURE_SHOWN_LINES ((size_t)2000)
#define CAPTURE_SHOWN_BYTES ((size_t)50000)

/* The fields are capture.c's own. */
struct capture {
    char *data; /* a ring: the oldest byte is at `start` */
    size_t start;
    size_t length;
    size_t capacity;
    size_t cap;
    uint64_t total_bytes;
    uint64_t total_newlines;
    bool ends_in_newline;
    bool kept_begins_line; /* the byte before the oldest one, now gone, was a newline */
};

/* What a shown text leaves out, always from the beginning. */
struct capture_cut {
    uint64_t bytes_cut;
    uint64_t lines_cut; /* of which nothing is shown */
    bool partial_line;  /* the text is the tail of the last line, its only one */
    uint64_t total_lines;
    uint64_t total_bytes;
};

void capture_init(struct capture *capture, size_t cap); /* 0: CAPTURE_CAP */
void capture_done(struct capture *capture);

void capture_append(struct capture *capture, const void *bytes, size_t n);

uint64_t capture_total_bytes(const struct capture *capture);
uint64_t capture_total_lines(const struct capture *capture);
uint64_t capture_dropped_bytes(const struct capture *capture);
uint64_t capture_dropped_lines(const struct capture *capture); /* of which no byte is kept */

/*
 * Everything that is kept, as one piece without a NUL; lent until the next append. After a drop it
 * may begin within a line and within a character.
 */
void capture_text(struct capture *capture, const char **out_data, size_t *out_length);

/*
 * Appends the last lines to `out`: at most max_lines, at most max_bytes, whole lines only. Where
 * the last line alone is too long, it is the tail of that line, not beginning within a UTF-8
 * character. -ENOMEM if `out` has failed; *cut is filled in any case.
 */
int capture_shown(struct capture *capture, size_t max_lines, size_t max_bytes, struct buffer *out,
                  struct capture_cut *cut);

/*
 * Appends a sentence such as "[cut: the first 12,345 lines (1.2 MiB) of 14,345 are not shown]",
 * without a newline. False, and nothing is appended, where nothing was cut.
 */
bool capture_cut_note(const struct capture_cut *cut, struct buffer *out);
