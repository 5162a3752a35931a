#include "capture.h"

#include <errno.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "test/check.h"

static void append(struct capture *capture, const char *text)
{
    capture_append(capture, text, strlen(text));
}

static void check_text(struct capture *capture, const char *expected)
{
    const char *data;
    size_t length;

    capture_text(capture, &data, &length);
    if (length != strlen(expected) || memcmp(data, expected, length) != 0)
        printf("# got '%.*s', expected '%s'\n", (int)length, data, expected);
    CHECK(length == strlen(expected));
    CHECK(memcmp(data, expected, length) == 0);
}

TEST(keeps_everything_below_the_cap)
{
    struct capture capture;

    capture_init(&capture, 0);
    check_text(&capture, "");
    CHECK(capture_total_lines(&capture) == 0 && capture_dropped_lines(&capture) == 0);
    append(&capture, "one\ntw");
    append(&capture, "");
    append(&capture, "o\nthree");
    check_text(&capture, "one\ntwo\nthree");
    CHECK(capture_total_bytes(&capture) == 13);
    CHECK(capture_total_lines(&capture) == 3);
    CHECK(capture_dropped_bytes(&capture) == 0);
    CHECK(capture_dropped_lines(&capture) == 0);
    append(&capture, "\n");
    CHECK(capture_total_lines(&capture) == 3);
    capture_done(&capture);
}

TEST(drops_the_head_beyond_the_cap)
{
    struct capture capture;

    capture_init(&capture, 10);
    append(&capture, "a\nb\nc\nd\n");
    append(&capture, "e\nf");
    check_text(&capture, "\nb\nc\nd\ne\nf");
    CHECK(capture_dropped_bytes(&capture) == 1);
    CHECK(capture_dropped_lines(&capture) == 0); /* the newline of the first line is still there */
    append(&capture, "gh");
    check_text(&capture, "\nc\nd\ne\nfgh");
    CHECK(capture_dropped_bytes(&capture) == 3);
    CHECK(capture_dropped_lines(&capture) == 1);
    append(&capture, "0123456789");
    check_text(&capture, "0123456789");
    append(&capture, "xyz\n0123456789ab");
    check_text(&capture, "23456789ab");
    CHECK(capture_total_bytes(&capture) == 39);
    CHECK(capture_dropped_bytes(&capture) == 29);
    CHECK(capture_dropped_lines(&capture) == 6);
    CHECK(capture_total_lines(&capture) == 7);
    capture_done(&capture);
}

TEST(puts_a_turned_ring_in_order_wherever_it_is_turned)
{
    const size_t cap = 20000;
    char *all = malloc(3 * cap);

    CHECK(all);
    for (size_t i = 0; i < 3 * cap; i++)
        all[i] = (char)(i * 2654435761u >> 13);
    for (size_t more = 0; more <= cap; more += 371) {
        struct capture capture;
        const char *data;
        size_t length;

        capture_init(&capture, cap);
        capture_append(&capture, all, cap);
        capture_append(&capture, all + cap, more);
        capture_text(&capture, &data, &length);
        CHECK(length == cap && memcmp(data, all + more, cap) == 0);
        capture_append(&capture, all + cap + more, 1); /* and it goes on from there */
        capture_text(&capture, &data, &length);
        CHECK(length == cap && memcmp(data, all + more + 1, cap) == 0);
        capture_done(&capture);
    }
    free(all);
}

TEST(costs_no_more_than_the_cap_for_a_gigabyte)
{
    static char chunk[65536];
    struct capture capture;

    for (size_t i = 0; i < sizeof chunk; i += 2)
        memcpy(chunk + i, "y\n", 2);
    capture_init(&capture, 0);
    capture_append(&capture, chunk, 10);
    CHECK(capture.capacity <= 4096);
    for (size_t i = 0; i < 16384; i++) {
        capture_append(&capture, chunk, sizeof chunk);
        CHECK(capture.capacity <= CAPTURE_CAP);
        CHECK(capture.capacity <= 2 * capture.length + 4096);
    }
    CHECK(capture_total_bytes(&capture) == (UINT64_C(1) << 30) + 10);
    CHECK(capture_total_lines(&capture) == (UINT64_C(1) << 29) + 5);
    CHECK(capture_dropped_bytes(&capture) == (UINT64_C(1) << 30) + 10 - CAPTURE_CAP);
    CHECK(capture_dropped_lines(&capture) == ((UINT64_C(1) << 30) + 10 - CAPTURE_CAP) / 2);
    capture_done(&capture);
}

TEST(counts_lines_at_every_length_and_offset)
{
    char text[3000];

    for (size_t i = 0; i < sizeof text; i++)
        text[i] = "\n\n\x0b\x8a\xff\0\n\x09"[(i * 5 + i / 7) % 8];
    for (size_t from = 0; from < 9; from++) {
        uint64_t n_newlines = 0;

        for (size_t n = 1; from + n <= sizeof text; n++) {
            struct capture capture;

            n_newlines += text[from + n - 1] == '\n';
            if (n % 37 != 0 && n > 40)
                continue;
            capture_init(&capture, 1);
            capture_append(&capture, text + from, n);
            CHECK(capture_total_lines(&capture) == n_newlines + (text[from + n - 1] != '\n'));
            capture_done(&capture);
        }
    }
}

/* Shows `text`, which came in pieces of n bytes, within the limits; at most cap bytes were kept. */
static void check_pieces_shown(const char *text, size_t n, size_t cap, size_t max_lines,
                               size_t max_bytes, const char *expected, uint64_t lines_cut,
                               bool partial_line)
{
    auto_buffer struct buffer out = { 0 };
    struct capture_cut cut;
    struct capture capture;

    capture_init(&capture, cap);
    for (size_t at = 0; at < strlen(text); at += n)
        capture_append(&capture, text + at, strnlen(text + at, n));
    CHECK(capture_shown(&capture, max_lines, max_bytes, &out, &cut) == 0);
    CHECK_STR(out.data ? out.data : "", expected);
    CHECK(cut.bytes_cut == strlen(text) - strlen(expected));
    CHECK(cut.lines_cut == lines_cut);
    CHECK(cut.partial_line == partial_line);
    CHECK(cut.total_bytes == strlen(text));
    CHECK(cut.total_lines == capture_total_lines(&capture));
    capture_done(&capture);
}

static void check_shown(const char *text, size_t cap, size_t max_lines, size_t max_bytes,
                        const char *expected, uint64_t lines_cut, bool partial_line)
{
    for (size_t n = 1; n <= strlen(text) + 1; n++)
        check_pieces_shown(text, n, cap, max_lines, max_bytes, expected, lines_cut, partial_line);
}

TEST(shows_whole_lines_only)
{
    check_shown("", 0, 10, 10, "", 0, false);
    check_shown("a\nb\nc\n", 0, 10, 10, "a\nb\nc\n", 0, false);
    check_shown("a\nb\nc\n", 0, 3, 6, "a\nb\nc\n", 0, false);
    check_shown("a\nb\nc\n", 0, 2, 10, "b\nc\n", 1, false);
    check_shown("a\nb\nc", 0, 2, 10, "b\nc", 1, false);
    check_shown("a\nb\nc", 0, 10, 4, "b\nc", 1, false);
    check_shown("aa\nbb\ncc\n", 0, 10, 8, "bb\ncc\n", 1, false);
    check_shown("aa\nbb\ncc\n", 0, 10, 3, "cc\n", 2, false);
    check_shown("\n\n\n", 0, 2, 10, "\n\n", 1, false);
    check_shown("\n\n\n", 0, 10, 1, "\n", 2, false);
}

TEST(shows_the_tail_of_a_line_that_is_too_long)
{
    check_shown("abcdefgh", 0, 10, 5, "defgh", 0, true);
    check_shown("abcdefgh\n", 0, 10, 5, "efgh\n", 0, true);
    check_shown("x\ny\nabcdefgh\n", 0, 10, 5, "efgh\n", 2, true);
    check_shown("abcdefgh\nx\n", 0, 10, 5, "x\n", 1, false);
}

TEST(never_begins_within_a_character)
{
    /* three bytes each */
    check_shown("\xE2\x82\xAC\xE2\x82\xAC", 0, 10, 3, "\xE2\x82\xAC", 0, true);
    check_shown("\xE2\x82\xAC\xE2\x82\xAC", 0, 10, 4, "\xE2\x82\xAC", 0, true);
    check_shown("\xE2\x82\xAC\xE2\x82\xAC", 0, 10, 5, "\xE2\x82\xAC", 0, true);
    check_shown("\xF0\x9F\x90\x94!", 0, 10, 4, "!", 0, true);
    check_shown("a\xF0\x9F\x90\x94", 0, 10, 3, "", 1, false);
    check_shown("\xE2\x82\xAC\xE2\x82\xAC", 5, 10, 10, "\xE2\x82\xAC", 0,
                true);                                                      /* cut by the cap */
    check_shown("\x80\x80\x80\x80\x80\x80", 0, 10, 5, "\x80\x80", 0, true); /* not a character */
}

TEST(does_not_show_a_line_whose_head_was_dropped)
{
    check_shown("abc\ndef\nghi\n", 10, 10, 100, "def\nghi\n", 1, false);
    check_shown("abc\ndef\nghi\n", 8, 10, 100, "def\nghi\n", 1, false);
    check_shown("abc\ndef\nghi\n", 7, 10, 100, "ghi\n", 2, false);
    check_shown("abcdefghi", 5, 10, 100, "efghi", 0, true);
    check_shown("x\nabcdefghi", 5, 10, 100, "efghi", 1, true);
}

TEST(shows_nothing_where_nothing_is_allowed)
{
    check_shown("a\nb", 0, 0, 10, "", 2, false);
    check_shown("a\nb", 0, 10, 0, "", 2, false);
}

TEST(shows_the_documented_amount)
{
    auto_buffer struct buffer out = { 0 };
    auto_buffer struct buffer note = { 0 };
    struct capture_cut cut;
    struct capture capture;

    capture_init(&capture, 0);
    for (int i = 1; i <= 14345; i++) {
        char line[32];

        (void)snprintf(line, sizeof line, "line %d\n", i);
        append(&capture, line);
    }
    CHECK(capture_shown(&capture, CAPTURE_SHOWN_LINES, CAPTURE_SHOWN_BYTES, &out, &cut) == 0);
    CHECK(strncmp(out.data, "line 12346\nline 12347\n", 22) == 0);
    CHECK(capture_cut_note(&cut, &note));
    CHECK_STR(note.data, "[cut: the first 12,345 lines (121.8 KiB) of 14,345 are not shown]");
    capture_done(&capture);
}

static void check_note(struct capture_cut cut, const char *expected)
{
    auto_buffer struct buffer note = { 0 };

    CHECK(capture_cut_note(&cut, &note) == (expected != NULL));
    if (expected)
        CHECK_STR(note.data, expected);
    else
        CHECK(note.length == 0);
}

TEST(says_what_was_cut)
{
    check_note((struct capture_cut){ .total_lines = 3, .total_bytes = 6 }, NULL);
    check_note((struct capture_cut){ 2, 1, false, 2001, 4002 },
               "[cut: the first line (2 B) of 2,001 is not shown]");
    check_note((struct capture_cut){ 1258291, 999, false, 1000, 2000000 },
               "[cut: the first 999 lines (1.2 MiB) of 1,000 are not shown]");
    check_note((struct capture_cut){ 3072, 0, true, 1, 53072 },
               "[cut: the first 3 KiB of the only line are not shown]");
    check_note((struct capture_cut){ 3072, 1, true, 2, 53072 },
               "[cut: the first line and the beginning of the last (3 KiB) are not shown]");
    check_note((struct capture_cut){ 3072, 1234567, true, 1234568, 53072 },
               "[cut: the first 1,234,567 lines and the beginning of the last (3 KiB) are not "
               "shown]");
}

TEST(reports_that_the_shown_text_found_no_memory)
{
    struct buffer out = { .failed = true };
    struct capture_cut cut;
    struct capture capture;

    capture_init(&capture, 0);
    append(&capture, "a\nb\n");
    CHECK(capture_shown(&capture, 1, 10, &out, &cut) == -ENOMEM);
    CHECK(cut.lines_cut == 1 && cut.total_lines == 2);
    capture_done(&capture);
}

/* Under the address sanitizer, an allocation that cannot be had would end the program. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
    return "allocator_may_return_null=1:max_allocation_size_mb=32";
}

/* The exit status is the number of the claim that does not hold. */
static int append_without_memory(void)
{
    static char chunk[65536];
    const size_t n_chunks = 1024;
    const struct rlimit limit = { 1, 1 }; /* no new mapping, whatever is there already */
    struct capture capture;
    const char *data;
    size_t length;

    for (size_t i = 0; i < sizeof chunk; i++)
        chunk[i] = i % 16 == 15 ? '\n' : 'x';
    capture_init(&capture, (size_t)64 << 20);
    for (size_t i = 0; i < n_chunks; i++) {
        if (i == 4)
            (void)setrlimit(RLIMIT_AS, &limit);
        capture_append(&capture, chunk, sizeof chunk);
    }
    if (capture_total_bytes(&capture) != n_chunks * sizeof chunk)
        return 1;
    capture_text(&capture, &data, &length);
    if (length < 4 * sizeof chunk || length >= n_chunks * sizeof chunk)
        return 2;
    if (capture_dropped_bytes(&capture) != n_chunks * sizeof chunk - length)
        return 3;
    if (capture_dropped_lines(&capture) != (n_chunks * sizeof chunk - length) / 16)
        return 4;
    for (size_t i = 0; i < length; i++) {
        if (data[length - 1 - i] != chunk[sizeof chunk - 1 - i % sizeof chunk])
            return 5;
    }
    capture_done(&capture);
    return 0;
}

TEST(makes_do_with_the_memory_there_is)
{
#if defined(__SANITIZE_ADDRESS__)
    SKIP_NEVER("the address sanitizer needs more address space than the limit leaves");
#endif
    int status = -1;
    pid_t pid = fork();

    CHECK(pid >= 0);
    if (pid == 0)
        _exit(append_without_memory());
    CHECK(waitpid(pid, &status, 0) == pid);
    if (status != 0)
        printf("# status %d\n", status);
    CHECK(status == 0);
}

TEST(counts_where_there_is_no_memory_at_all)
{
    struct capture capture;
    const char *data;
    size_t length;

    capture_init(&capture, 4);
    capture.cap = 0; /* leaves what a refused first allocation leaves: no block at all */
    append(&capture, "a\nb");
    capture_text(&capture, &data, &length);
    CHECK(length == 0);
    CHECK(capture_dropped_bytes(&capture) == 3);
    CHECK(capture_dropped_lines(&capture) == 2);
    capture.cap = 4; /* memory is back */
    append(&capture, "c\n");
    check_text(&capture, "c\n");
    CHECK(capture_dropped_bytes(&capture) == 3);
    CHECK(capture_dropped_lines(&capture) == 1); /* the second line lost only its beginning */
    capture_done(&capture);
}
