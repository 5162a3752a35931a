#include "lines.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#define PIECE (64 * 1024)
#define KEPT  (1024 * 1024) /* memory that a large message took is given back */

static void drop_consumed(struct lines *lines)
{
    if (lines->begin == 0)
        return;
    size_t left = lines->read.length - lines->begin;

    if (left == 0 && lines->read.capacity > KEPT)
        buffer_done(&lines->read);
    else
        memmove(lines->read.data, lines->read.data + lines->begin, left);
    lines->read.length = left;
    lines->scanned -= lines->begin;
    lines->begin = 0;
}

/* 1: there is more; 0: the end. */
static int read_more(struct lines *lines)
{
    ssize_t n;

    drop_consumed(lines);
    if (!buffer_reserve(&lines->read, PIECE))
        return -ENOMEM;
    do
        n = read(lines->fd, lines->read.data + lines->read.length, PIECE);
    while (n < 0 && errno == EINTR);
    if (n < 0)
        return -errno;
    lines->has_ended = n == 0;
    lines->read.length += (size_t)n;
    return n > 0;
}

/* Whether a message is there, in *text. */
static bool next_line(struct lines *lines, const char **text, size_t *n)
{
    const char *begin = lines->read.data + lines->begin;
    const char *newline =
        lines->read.length > lines->scanned
            ? memchr(lines->read.data + lines->scanned, '\n', lines->read.length - lines->scanned)
            : NULL;

    if (!newline && !(lines->has_ended && lines->read.length > lines->begin)) {
        lines->scanned = lines->read.length;
        return false;
    }
    *text = begin;
    *n = newline ? (size_t)(newline - begin) : lines->read.length - lines->begin;
    lines->begin = lines->scanned =
        newline ? (size_t)(newline + 1 - lines->read.data) : lines->read.length;
    return true;
}

int lines_next(struct lines *lines, const char **text, size_t *n)
{
    for (;;) {
        if (next_line(lines, text, n)) {
            if (lines->is_skipping) { /* the rest of what was too long */
                lines->is_skipping = false;
                continue;
            }
            return *n > lines->limit ? -E2BIG : 1;
        }
        if (lines->has_ended)
            return 0;
        if (lines->is_skipping) {
            lines->begin = lines->scanned = lines->read.length;
        } else if (lines->read.length - lines->begin > lines->limit) {
            lines->is_skipping = true;
            lines->begin = lines->scanned = lines->read.length;
            return -E2BIG;
        }
        int r = read_more(lines);
        if (r < 0)
            return r;
    }
}

void lines_done(struct lines *lines)
{
    buffer_done(&lines->read);
}
