/*
 * scan.h - reads the lines of a log, fast
 *
 * A log may have millions of lines. They are read by large blocks, and of each only so much is looked
 * at as is asked for: no document is made of it. Memory does not depend on the log.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/buffer.h"
#include "coop/error.h"

/* A value as it stands in the line: of a text what is between the quotes. */
struct scan_piece {
    const char *bytes; /* NULL: it is null, or not there */
    size_t n;
};

/* All pieces are the line's. */
struct scan_record {
    uint64_t seq;
    uint64_t denied;
    struct scan_piece time, event, user, identity, uid, trust, session;
    /* with scan_rest() */
    struct scan_piece of, tool, command, end, status, error, file, duration_us, workspace, policy,
        tier, denials, torn, pruned, prev;
};

/* What stands at the beginning, up to "denied". False: it is no record of ours. */
bool scan_record(const char *line, size_t n, struct scan_record *out);
/* The rest of it. */
bool scan_rest(const char *line, size_t n, struct scan_record *out);

/* The members of an object, or those of each object in an array: `take` gets name and value. */
typedef void scan_member_fn(void *context, struct scan_piece name, struct scan_piece value);
void scan_members(struct scan_piece object, scan_member_fn *take, void *context);
/* The next object of an array, which `array` loses; false: there is none. */
bool scan_next(struct scan_piece *array, struct scan_piece *object);

uint64_t scan_number(struct scan_piece piece);
bool scan_equals(struct scan_piece piece, const char *text);
/* Without the escapes of JSON; what a terminal would obey is left visible. */
void scan_append(struct buffer *out, struct scan_piece piece);

/* ---- files */

/* A line without its end; false ends the reading. */
typedef bool scan_line_fn(void *context, const char *line, size_t n);

struct scan_file {
    int fd;
    off_t at;       /* where the next line begins */
    char *block;    /* what was read last */
    size_t size, n; /* of the block, and of what is in it */
};
void scan_file_done(struct scan_file *file); /* closes it too */

/* Every whole line from `at` up to `limit` (-1: the end). Returns 1 when `take` ended it. */
int scan_lines(struct scan_file *file, off_t limit, scan_line_fn *take, void *context,
               coop_error **err);

/*
 * All files of a log, oldest first. `since` NULL: all; else files that end before it are not read.
 * `begin` (may be NULL) is told each file's name.
 */
struct scan_log {
    int dir_fd;
    const char *since;
    bool (*begin)(void *context, const char *name);
    scan_line_fn *take;
    void *context;
    uint64_t after; /* only files whose first record is above this */
};
/* Leaves the current file open in `current` (fd -1: there is none), to go on with. */
int scan_log(const struct scan_log *log, struct scan_file *current, coop_error **err);
