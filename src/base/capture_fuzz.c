/*
 * A capture against a model that keeps everything. The first six bytes of the input choose the
 * limits; then each piece is a byte of length and its bytes, and a length of 0 reads the capture
 * in between, because reading puts the ring in order and must not disturb what follows.
 */
#include "capture.h"

#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Unlike assert(), also there when NDEBUG is defined. */
#define REQUIRE(claim) \
    do {               \
        if (!(claim))  \
            abort();   \
    } while (0)

struct model {
    const char *all;
    size_t length;
    size_t cap;
    size_t max_lines;
    size_t max_bytes;
};

static size_t count_lines(const char *text, size_t n)
{
    size_t count = 0;

    for (size_t i = 0; i < n; i++)
        count += text[i] == '\n' || i == n - 1;
    return count;
}

/* Tries every beginning in turn, the longest text first. */
static size_t expected_begin(const struct model *model, bool *out_partial)
{
    size_t kept_from = model->length > model->cap ? model->length - model->cap : 0;

    size_t n_lines = count_lines(model->all + kept_from, model->length - kept_from);

    *out_partial = false;
    for (size_t i = kept_from; i < model->length; i++) {
        if (model->length - i <= model->max_bytes && (i == 0 || model->all[i - 1] == '\n') &&
            n_lines <= model->max_lines)
            return i;
        n_lines -= model->all[i] == '\n';
    }
    if (model->max_lines == 0)
        return model->length;
    for (size_t i = kept_from, skipped = 0; i < model->length; i++) {
        if (model->length - i > model->max_bytes)
            continue;
        if (skipped == 3 || !utf8_is_continuation((unsigned char)model->all[i])) {
            *out_partial = true;
            return i;
        }
        skipped++;
    }
    return model->length;
}

static void check_text(struct capture *capture, const struct model *model)
{
    size_t n_kept = model->length < model->cap ? model->length : model->cap;
    size_t n_dropped = model->length - n_kept;
    size_t dropped_lines = 0;
    const char *text;
    size_t length;

    for (size_t i = 0; i < n_dropped; i++)
        dropped_lines += model->all[i] == '\n';
    REQUIRE(capture->capacity <= model->cap);
    REQUIRE(capture_total_bytes(capture) == model->length);
    REQUIRE(capture_total_lines(capture) == count_lines(model->all, model->length));
    REQUIRE(capture_dropped_bytes(capture) == n_dropped);
    REQUIRE(capture_dropped_lines(capture) == dropped_lines);
    capture_text(capture, &text, &length);
    REQUIRE(length == n_kept && memcmp(text, model->all + n_dropped, length) == 0);
    REQUIRE(capture_dropped_lines(capture) == dropped_lines);
}

static void check_shown(struct capture *capture, const struct model *model)
{
    struct buffer out = { 0 };
    struct buffer note = { 0 };
    struct capture_cut cut;
    bool is_partial;
    size_t begin = expected_begin(model, &is_partial);
    size_t n_shown = model->length - begin;

    REQUIRE(capture_shown(capture, model->max_lines, model->max_bytes, &out, &cut) == 0);
    REQUIRE(out.length == n_shown);
    REQUIRE(n_shown == 0 || memcmp(out.data, model->all + begin, n_shown) == 0);
    REQUIRE(cut.partial_line == is_partial);
    REQUIRE(cut.bytes_cut == begin);
    REQUIRE(cut.total_bytes == model->length);
    REQUIRE(cut.total_lines == count_lines(model->all, model->length));
    REQUIRE(cut.lines_cut == cut.total_lines - count_lines(model->all + begin, n_shown));
    REQUIRE(capture_cut_note(&cut, &note) == (begin > 0));
    REQUIRE(!note.failed && (begin > 0) == (note.length > 0));
    buffer_done(&out);
    buffer_done(&note);
}

/* A piece is repeated, so that short inputs reach sizes where blocks grow and rings turn. */
static size_t repetitions(uint8_t first)
{
    return first >= 0xF0 ? (size_t)64 << (first & 3) : 1;
}

static void run(const uint8_t *data, size_t size, struct model *model, char *all, size_t room)
{
    struct capture capture;

    capture_init(&capture, model->cap);
    while (size > 0) {
        size_t n = *data++;

        size--;
        if (n == 0) {
            check_text(&capture, model);
            continue;
        }
        if (n > size)
            n = size;
        size_t times = n > 0 ? repetitions(data[0]) : 0;
        if (n * times > room - model->length)
            break;
        for (size_t i = 0; i < times; i++)
            memcpy(all + model->length + i * n, data, n);
        capture_append(&capture, all + model->length, n * times);
        model->length += n * times;
        data += n;
        size -= n;
    }
    check_shown(&capture, model); /* first: it must not depend on a text already in order */
    check_text(&capture, model);
    capture_done(&capture);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static char all[1 << 18];
    struct model model = { .all = all };

    if (size < 6)
        return 0;
    model.cap = 1 + (size_t)(data[0] | data[1] << 8) % 40000;
    if (data[1] & 0x80)
        model.cap = 1 + data[0] % 64;
    model.max_lines = data[2] | (data[3] & 1) << 8;
    model.max_bytes = data[4] | (size_t)data[5] << 8;
    run(data + 6, size - 6, &model, all, sizeof all);
    return 0;
}
