/*
 * Any bytes, cut anywhere (the first byte says how), must give the same output; filtering the output
 * again must change nothing; and the output must be made of complete, harmless sequences, as judged
 * by a reader that shares no code with the filter.
 */
#include "base/term/filter.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void demand(bool is_true)
{
    if (!is_true)
        abort();
}

static size_t skip_while(const uint8_t *p, size_t i, size_t n, uint8_t low, uint8_t high)
{
    while (i < n && p[i] >= low && p[i] <= high)
        i++;
    return i;
}

/* An OSC, from behind ESC ]. Returns where it ends. */
static size_t check_osc(const uint8_t *p, size_t i, size_t n)
{
    size_t begin = i;

    while (i < n && p[i] >= 0x20 && p[i] != 0x7f)
        i++;
    demand(i < n && (p[i] == 0x07 || (p[i] == 0x1b && i + 1 < n && p[i + 1] == '\\')));
    demand(i > begin && strchr("01248", p[begin]) != NULL);
    demand(i - begin <= 2083);
    if (strchr("012", p[begin]) && (i - begin == 1 || p[begin + 1] == ';'))
        demand(i - begin <= 256);
    else if (p[begin] != '8')
        demand(memchr(p + begin, '?', i - begin) == NULL);
    return i + (p[i] == 0x07 ? 1 : 2);
}

/* A CSI, from behind ESC [. */
static size_t check_csi(const uint8_t *p, size_t i, size_t n)
{
    size_t begin = i;

    i = skip_while(p, i, n, 0x30, 0x3f);
    size_t end = i;
    i = skip_while(p, i, n, 0x20, 0x2f);
    demand(i < n && p[i] >= 0x40 && p[i] <= 0x7e && i - end <= 1);
    demand(strchr("ixyvwRz{|}~ojkNOQUVWYp^]\\[", p[i]) == NULL || (p[i] == 'p' && i > end));
    if (p[i] == 't')
        demand(end - begin >= 2 && p[begin] == '2' && strchr("23", p[begin + 1]));
    if (p[i] == 'n')
        demand(strchr("056", p[begin]) && strchr("56", p[end - 1]) && p[begin] != '?');
    if (p[i] == 'c')
        demand(p[begin] != '=');
    return i + 1;
}

static size_t check_escape(const uint8_t *p, size_t i, size_t n)
{
    demand(i < n);
    if (p[i] == '[')
        return check_csi(p, i + 1, n);
    if (p[i] == ']')
        return check_osc(p, i + 1, n);
    if (p[i] >= 0x20 && p[i] <= 0x2f) {
        demand(i + 1 < n && strchr("()*+#", p[i]) && p[i + 1] >= '0' && p[i + 1] < 'C');
        return i + 2;
    }
    demand(p[i] != 0 && strchr("=>6789DEHMc", p[i]));
    return i + 1;
}

static void check_harmless(const uint8_t *p, size_t n, bool is_8bit)
{
    for (size_t i = 0; i < n;) {
        uint8_t c = p[i++];

        if (c == 0x1b) {
            i = check_escape(p, i, n);
        } else if (c < 0x20) {
            demand(c >= 0x07 && c <= 0x0f);
        } else if (is_8bit) {
            demand(c != 0x7f && (c < 0x80 || c >= 0xa0));
        } else if (c >= 0x80) {
            demand(c >= 0xc2 && c <= 0xf4 && i < n);
            demand(c != 0xc2 || p[i] >= 0xa0);
            demand((c != 0xe0 || p[i] >= 0xa0) && (c != 0xf0 || p[i] >= 0x90));
            for (int more = c >= 0xf0 ? 3 : c >= 0xe0 ? 2 : 1; more > 0; more--)
                demand(i < n && (p[i++] & 0xc0) == 0x80);
        } else {
            demand(c != 0x7f);
        }
    }
}

static struct term_filter new_filter(bool is_8bit)
{
    struct term_filter filter;

    if (is_8bit)
        term_filter_init_8bit(&filter);
    else
        term_filter_init(&filter);
    return filter;
}

static size_t run_whole(const char *in, size_t n, bool is_8bit, char *out, struct term_modes *modes)
{
    struct term_filter filter = new_filter(is_8bit);
    size_t n_out = term_filter_run(&filter, in, n, out);

    *modes = filter.modes;
    return n_out;
}

static size_t run_cut(const char *in, size_t n, bool is_8bit, size_t chunk, char *out)
{
    struct term_filter filter = new_filter(is_8bit);
    size_t n_out = 0;

    for (size_t i = 0; i < n; i += chunk) {
        size_t size = n - i < chunk ? n - i : chunk;
        char *piece =
            malloc(TERM_FILTER_OUT_SIZE(size)); /* exactly as promised, for the sanitizer */
        size_t n_piece = term_filter_run(&filter, in + i, size, piece);

        memcpy(out + n_out, piece, n_piece);
        n_out += n_piece;
        free(piece);
    }
    return n_out;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2)
        return 0;
    const char *in = (const char *)data + 1;
    size_t n = size - 1;
    bool is_8bit = data[0] & 0x80;
    size_t chunk = 1 + (data[0] & 0x7f);
    char *once = malloc(TERM_FILTER_OUT_SIZE(n));
    char *cut = malloc(TERM_FILTER_OUT_SIZE(n));
    char *twice = malloc(TERM_FILTER_OUT_SIZE(3 * n));
    struct term_modes modes;
    struct term_modes modes_again;
    char undo[TERM_FILTER_UNDO_SIZE];

    size_t n_once = run_whole(in, n, is_8bit, once, &modes);
    size_t n_cut = run_cut(in, n, is_8bit, chunk, cut);
    demand(n_once <= 3 * n);
    demand(n_once == n_cut && memcmp(once, cut, n_once) == 0);
    check_harmless((const uint8_t *)once, n_once, is_8bit);

    size_t n_twice = run_whole(once, n_once, is_8bit, twice, &modes_again);
    demand(n_once == n_twice && memcmp(once, twice, n_once) == 0);
    demand(modes.changed == modes_again.changed && modes.has_asked == modes_again.has_asked);

    struct term_filter filter = { .modes = modes };
    check_harmless((const uint8_t *)undo, term_filter_undo(&filter, undo), is_8bit);
    check_harmless((const uint8_t *)undo, term_filter_redo(&filter, undo), is_8bit);
    free(once);
    free(cut);
    free(twice);
    return 0;
}
