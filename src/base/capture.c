#include "capture.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/quantity.h"
#include "base/utf8.h"

enum { SMALLEST = 4096 };

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

void capture_init(struct capture *capture, size_t cap)
{
    *capture = (struct capture){ .cap = cap ? cap : CAPTURE_CAP, .kept_begins_line = true };
}

void capture_done(struct capture *capture)
{
    free(capture->data);
    *capture = (struct capture){ 0 };
}

/*
 * Eight bytes at a time, because memchr() per line is slow where lines are short, and output of
 * that kind (`yes`) is the output that comes in gigabytes.
 */
static size_t count_newlines(const char *bytes, size_t n)
{
    const uint64_t ones = UINT64_C(0x0101010101010101);
    const uint64_t low7 = ones * 0x7F;
    size_t count = 0;

    while (n >= sizeof(uint64_t)) {
        size_t n_words = smaller(n / sizeof(uint64_t), 255); /* a lane of `lanes` counts to 255 */
        uint64_t lanes = 0;

        for (size_t i = 0; i < n_words; i++, bytes += sizeof(uint64_t)) {
            uint64_t word;

            memcpy(&word, bytes, sizeof word);
            word ^= ones * '\n';
            /* The high bit of each byte that is zero, with no carry from one byte to the next. */
            word = ~(((word & low7) + low7) | word | low7);
            lanes += word >> 7;
        }
        n -= n_words * sizeof(uint64_t);
        for (; lanes; lanes >>= 8)
            count += lanes & 0xFF;
    }
    for (; n > 0; n--)
        count += *bytes++ == '\n';
    return count;
}

static void grow(struct capture *capture, size_t more)
{
    size_t room = capture->cap - capture->length;
    size_t needed = capture->length + smaller(more, room);

    if (needed <= capture->capacity)
        return;
    /* The ring turns only when it has its final size, so a block that grows is in order. */
    assert(capture->start == 0);
    size_t capacity = capture->capacity <= capture->cap / 2 ? capture->capacity * 2 : capture->cap;
    if (capacity < needed)
        capacity = needed;
    if (capacity < SMALLEST)
        capacity = smaller(SMALLEST, capture->cap);
    char *data = realloc(capture->data, capacity);
    if (data) {
        capture->data = data;
        capture->capacity = capacity;
    } else if (capture->capacity > 0) {
        capture->cap = capture->capacity;
    }
}

/* Where more comes at once than can be kept at all. */
static void replace_all(struct capture *capture, const char *bytes, size_t n)
{
    size_t skip = n - capture->capacity;

    if (skip > 0)
        capture->kept_begins_line = bytes[skip - 1] == '\n';
    if (capture->capacity > 0)
        memcpy(capture->data, bytes + skip, capture->capacity);
    capture->start = 0;
    capture->length = capture->capacity;
}

static void drop_oldest(struct capture *capture, size_t n)
{
    size_t last = (capture->start + (n - 1)) % capture->capacity;

    capture->kept_begins_line = capture->data[last] == '\n';
    capture->start = (last + 1) % capture->capacity;
    capture->length -= n;
}

void capture_append(struct capture *capture, const void *bytes, size_t n)
{
    const char *from = bytes;

    if (n == 0)
        return;
    capture->total_bytes += n;
    capture->total_newlines += count_newlines(from, n);
    grow(capture, n);
    if (capture->length > 0 && n > capture->capacity - capture->length)
        drop_oldest(capture, smaller(capture->length, n - (capture->capacity - capture->length)));
    capture->ends_in_newline = from[n - 1] == '\n';
    if (n > capture->capacity) {
        replace_all(capture, from, n);
        return;
    }
    size_t at = (capture->start + capture->length) % capture->capacity;
    size_t n_first = smaller(n, capture->capacity - at);
    memcpy(capture->data + at, from, n_first);
    memcpy(capture->data, from + n_first, n - n_first);
    capture->length += n;
}

uint64_t capture_total_bytes(const struct capture *capture)
{
    return capture->total_bytes;
}

uint64_t capture_total_lines(const struct capture *capture)
{
    return capture->total_newlines + (capture->total_bytes > 0 && !capture->ends_in_newline);
}

uint64_t capture_dropped_bytes(const struct capture *capture)
{
    return capture->total_bytes - capture->length;
}

/* Counted in what is kept, once, so that append need not look at what it drops. */
uint64_t capture_dropped_lines(const struct capture *capture)
{
    size_t n_first = smaller(capture->length, capture->capacity - capture->start);

    if (capture->length == 0)
        return capture_total_lines(capture);
    return capture->total_newlines - count_newlines(capture->data + capture->start, n_first) -
           count_newlines(capture->data, capture->length - n_first);
}

static void swap_blocks(char *a, char *b, size_t n, char *held, size_t n_held)
{
    while (n > 0) {
        size_t piece = smaller(n, n_held);

        memcpy(held, a, piece);
        memcpy(a, b, piece);
        memcpy(b, held, piece);
        a += piece;
        b += piece;
        n -= piece;
    }
}

/*
 * Brings data[by] to the front, in place, because this is no time to ask for another cap of memory:
 * the shorter end is swapped to where it belongs, and what remains is the same task on fewer bytes.
 */
static void rotate(char *data, size_t n, size_t by)
{
    char held[4096];

    while (by > sizeof held && n - by > sizeof held) {
        size_t behind = n - by;

        if (by <= behind) {
            swap_blocks(data, data + by, by, held, sizeof held);
            data += by;
            n -= by;
        } else {
            swap_blocks(data + (by - behind), data + by, behind, held, sizeof held);
            n -= behind;
            by -= behind;
        }
    }
    if (by <= sizeof held) {
        memcpy(held, data, by);
        memmove(data, data + by, n - by);
        memcpy(data + (n - by), held, by);
    } else {
        memcpy(held, data + by, n - by);
        memmove(data + (n - by), data, by);
        memcpy(data, held, n - by);
    }
}

void capture_text(struct capture *capture, const char **out_data, size_t *out_length)
{
    if (capture->start > 0) {
        assert(capture->length == capture->capacity);
        rotate(capture->data, capture->length, capture->start);
        capture->start = 0;
    }
    *out_data = capture->length > 0 ? capture->data : "";
    *out_length = capture->length;
}

/*
 * Where the shown text begins: at the earliest start of a line that the limits allow. The length
 * of the text if they allow none.
 */
static size_t first_shown_line(const char *text, size_t length, bool begins_line, size_t max_lines,
                               size_t max_bytes, size_t *out_n_lines)
{
    size_t earliest = length - smaller(length, max_bytes);
    size_t begin = length;
    size_t n_lines = 0;

    while (begin > 0 && n_lines < max_lines) {
        const char *newline = memrchr(text, '\n', begin - 1); /* its own, at begin - 1, left out */
        size_t previous = newline ? (size_t)(newline - text) + 1 : 0;

        if (previous < earliest || (!newline && !begins_line))
            break;
        begin = previous;
        n_lines++;
    }
    *out_n_lines = n_lines;
    return begin;
}

/* The last max_bytes bytes, fewer where they would begin within a character. */
static size_t tail_of_line(const char *text, size_t length, size_t max_bytes)
{
    size_t begin = length - smaller(length, max_bytes);

    for (int i = 0; i < 3 && begin < length && utf8_is_continuation((unsigned char)text[begin]);
         i++)
        begin++;
    return begin;
}

int capture_shown(struct capture *capture, size_t max_lines, size_t max_bytes, struct buffer *out,
                  struct capture_cut *cut)
{
    const char *text;
    size_t length;
    size_t n_lines;

    capture_text(capture, &text, &length);
    size_t begin =
        first_shown_line(text, length, capture->kept_begins_line, max_lines, max_bytes, &n_lines);
    bool is_partial = false;
    if (n_lines == 0 && max_lines > 0) {
        begin = tail_of_line(text, length, max_bytes);
        is_partial = begin < length;
        n_lines = is_partial;
    }
    buffer_append(out, text + begin, length - begin);
    *cut = (struct capture_cut){
        .bytes_cut = capture->total_bytes - (length - begin),
        .lines_cut = capture_total_lines(capture) - n_lines,
        .partial_line = is_partial,
        .total_lines = capture_total_lines(capture),
        .total_bytes = capture->total_bytes,
    };
    return out->failed ? -ENOMEM : 0;
}

/* 12345 as "12,345" */
static void append_grouped(struct buffer *out, uint64_t value)
{
    char digits[24];
    int n = snprintf(digits, sizeof digits, "%" PRIu64, value);

    for (int i = 0; i < n; i++) {
        if (i > 0 && (n - i) % 3 == 0)
            buffer_append_char(out, ',');
        buffer_append_char(out, digits[i]);
    }
}

static void append_first_lines(struct buffer *out, uint64_t n)
{
    buffer_append_string(out, "the first ");
    if (n != 1) {
        append_grouped(out, n);
        buffer_append_char(out, ' ');
    }
    buffer_append_string(out, n == 1 ? "line" : "lines");
}

bool capture_cut_note(const struct capture_cut *cut, struct buffer *out)
{
    char size[32];

    if (cut->bytes_cut == 0)
        return false;
    quantity_format_size(cut->bytes_cut, size);
    buffer_append_string(out, "[cut: ");
    if (cut->partial_line && cut->lines_cut == 0) {
        buffer_printf(out, "the first %s of the only line are not shown]", size);
    } else if (cut->partial_line) {
        append_first_lines(out, cut->lines_cut);
        buffer_printf(out, " and the beginning of the last (%s) are not shown]", size);
    } else {
        append_first_lines(out, cut->lines_cut);
        buffer_printf(out, " (%s) of ", size);
        append_grouped(out, cut->total_lines);
        buffer_append_string(out, cut->lines_cut == 1 ? " is not shown]" : " are not shown]");
    }
    return true;
}
