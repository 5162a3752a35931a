/*
 * lines.h - messages that end with a newline, read from a descriptor
 *
 *   while ((r = lines_next(&lines, &text, &n)) > 0)
 *       ...
 *
 * A message that is longer than the limit is passed over up to its end, and told once; what follows
 * is read as if nothing had been. Memory is bounded by the limit.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/buffer.h"

struct lines {
    int fd;       /* borrowed */
    size_t limit; /* bytes of one message */
    struct buffer read;
    size_t begin, scanned; /* where the next message begins; up to where there is no newline */
    bool is_skipping, has_ended;
};

/* 1: *text is the lines' until the next call, without its newline. 0: the end; a message that has no
 * newline there counts as one. -E2BIG: one was too long. Other errors are read()'s. */
int lines_next(struct lines *lines, const char **text, size_t *n);
void lines_done(struct lines *lines);
