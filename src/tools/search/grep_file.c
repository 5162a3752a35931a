#include "grep_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/find_bytes.h"
#include "base/media.h"

#define SAMPLE 512 /* bytes that are looked at for more than a NUL */

/* The file being read. Offsets are in the buffer. */
struct reading {
    struct grep_reader *reader;
    struct grep_counts *counts;
    size_t n;        /* bytes in the buffer */
    size_t from;     /* searched up to here */
    size_t told;     /* told, or known to be left out, up to here */
    size_t numbered; /* `number` is that of the line that begins here */
    uint64_t number;
    unsigned n_after; /* lines of context still to be told */
    bool has_told;
    bool has_gap; /* lines that were not told are in the buffer no more */
    bool is_over;
};

void grep_reader_done(struct grep_reader *reader)
{
    free(reader->buffer);
    reader->buffer = NULL;
    reader->capacity = 0;
}

static uint64_t number_at(struct reading *reading, size_t at)
{
    reading->number +=
        count_bytes(reading->reader->buffer + reading->numbered, at - reading->numbered, '\n');
    reading->numbered = at;
    return reading->number;
}

/* ---- telling */

static void tell(struct reading *reading, const struct regex_line *line, bool is_match)
{
    const char *text = reading->reader->buffer + line->begin;
    struct grep_line out = { .text = text,
                             .n = line->end - line->begin,
                             .hit = line->hit - line->begin,
                             .number = number_at(reading, line->begin),
                             .is_match = is_match,
                             .begins_a_group = reading->has_told &&
                                               (reading->has_gap || line->begin > reading->told) };

    if (out.n > 0 && text[out.n - 1] == '\r')
        out.n--;
    if (out.hit > out.n)
        out.hit = out.n;
    reading->told = line->next;
    reading->has_told = true;
    reading->has_gap = false;
    if (!reading->reader->each(reading->reader->context, &out))
        reading->is_over = true;
}

static void line_at(const struct reading *reading, size_t begin, size_t limit,
                    struct regex_line *out)
{
    const char *newline = memchr(reading->reader->buffer + begin, '\n', limit - begin);

    out->begin = out->hit = begin;
    out->end = newline ? (size_t)(newline - reading->reader->buffer) : limit;
    out->next = newline ? out->end + 1 : limit;
}

/* Up to so many lines of context, up to `limit`. */
static void tell_context(struct reading *reading, size_t from, size_t limit, unsigned n_lines)
{
    struct regex_line line;

    for (; n_lines > 0 && from < limit && !reading->is_over; n_lines--, from = line.next) {
        line_at(reading, from, limit, &line);
        tell(reading, &line, false);
    }
}

/* What still stands behind the last match, up to `limit`. */
static void tell_after(struct reading *reading, size_t limit)
{
    while (reading->n_after > 0 && reading->told < limit && !reading->is_over) {
        reading->n_after--;
        tell_context(reading, reading->told, limit, 1);
    }
}

/* Where the lines before `at` begin that are to be told with it; none that was told already. */
static size_t lines_before(const struct reading *reading, size_t at, size_t least)
{
    for (unsigned n = reading->reader->n_context; n > 0 && at > least; n--) {
        const char *newline = memrchr(reading->reader->buffer + least, '\n', at - 1 - least);
        at = newline ? (size_t)(newline - reading->reader->buffer) + 1 : least;
    }
    return at;
}

static void tell_match(struct reading *reading, const struct regex_line *line)
{
    unsigned n_context = reading->reader->n_context;

    if (n_context > 0) {
        tell_after(reading, line->begin);
        tell_context(reading, lines_before(reading, line->begin, reading->told), line->begin,
                     n_context);
    }
    if (!reading->is_over)
        tell(reading, line, true);
    reading->n_after = n_context;
}

/* ---- blocks */

/* The lines up to `end`, which ends one. */
static void search(struct reading *reading, size_t end)
{
    struct grep_reader *reader = reading->reader;
    struct regex_line line = { .next = reading->from };

    while (!reading->is_over && regex_next(reader->regex, reader->buffer, end, line.next, &line)) {
        if (!reader->only_counts && reader->n_left == 0) {
            tell_after(reading, line.begin);
            reader->has_more = true;
            reading->is_over = true;
            break;
        }
        reading->counts->n_matches++;
        if (!reader->only_counts) {
            reader->n_left--;
            tell_match(reading, &line);
        }
        reading->is_over |= reader->only_first;
    }
    reading->from = end;
    tell_after(reading, end); /* unless it is over */
}

/* Makes room behind what is still needed: the line that is not whole, and context before it. */
static int make_room(struct reading *reading)
{
    struct grep_reader *reader = reading->reader;
    size_t least = reading->from > GREP_CONTEXT_BYTES ? reading->from - GREP_CONTEXT_BYTES : 0;
    size_t keep = reading->from;

    if (reader->n_context > 0)
        keep = lines_before(reading, reading->from, reading->told > least ? reading->told : least);
    if (!reader->only_counts)
        (void)number_at(reading, keep);
    reading->has_gap |= reading->told < keep;
    if (keep > 0 && reading->n > keep)
        memmove(reader->buffer, reader->buffer + keep, reading->n - keep);
    reading->n -= keep;
    reading->from -= keep;
    reading->told = reading->told > keep ? reading->told - keep : 0;
    reading->numbered = 0;
    if (reader->capacity - reading->n >= GREP_BLOCK)
        return 0;
    char *more = realloc(reader->buffer, reading->n + GREP_BLOCK);
    if (!more)
        return -ENOMEM;
    reader->buffer = more;
    reader->capacity = reading->n + GREP_BLOCK;
    return 0;
}

/* Judges what has just been read; true: it is no text. */
static bool is_binary(const struct reading *reading, size_t n_new, bool is_first)
{
    const char *block = reading->reader->buffer + reading->n - n_new;

    if (memchr(block, '\0', n_new))
        return true;
    return is_first && media_is_binary(block, n_new < SAMPLE ? n_new : SAMPLE);
}

/* As far as there are whole lines. */
static void search_block(struct reading *reading, bool is_last)
{
    const char *buffer = reading->reader->buffer;
    const char *newline = memrchr(buffer + reading->from, '\n', reading->n - reading->from);

    if (is_last || (!newline && reading->n - reading->from >= GREP_LINE_MAX))
        search(reading, reading->n);
    else if (newline)
        search(reading, (size_t)(newline - buffer) + 1);
}

static ssize_t read_some(int fd, char *to, size_t n)
{
    ssize_t got;

    do {
        got = read(fd, to, n);
    } while (got < 0 && errno == EINTR);
    return got < 0 ? -errno : got;
}

int grep_file(struct grep_reader *reader, int fd, off_t size, struct grep_counts *out)
{
    struct reading reading = { .reader = reader, .counts = out, .number = 1 };
    off_t n_read = 0;
    bool is_last = false;

    *out = (struct grep_counts){ 0 };
    while (!is_last && !reading.is_over) {
        int r = make_room(&reading);
        if (r < 0)
            return r;
        ssize_t n = read_some(fd, reader->buffer + reading.n, GREP_BLOCK);
        if (n < 0)
            return (int)n;
        bool is_first = n_read == 0;
        n_read += n;
        /* the size may be wrong (/proc), or change: only if it is reached at once is it believed */
        is_last = n == 0 || (is_first && n == size && n < GREP_BLOCK);
        reading.n += (size_t)n;
        if (n > 0 && is_binary(&reading, (size_t)n, is_first)) {
            out->is_binary = true;
            return 0;
        }
        if (is_first && n >= 3 && memcmp(reader->buffer, "\xEF\xBB\xBF", 3) == 0)
            reading.from = reading.told = reading.numbered = 3;
        search_block(&reading, is_last);
        if (!is_first && walk_watch_ends(reader->watch))
            break;
    }
    return 0;
}
