/* worlds: user */
#include "base/term/filter.h"

#include "base/cleanup.h"
#include "test/check.h"

#define OUT_SIZE (64 * 1024)

static struct term_filter filter;
static char out[OUT_SIZE];

static size_t run_in_chunks(const char *in, size_t n, size_t chunk)
{
    size_t n_out = 0;

    for (size_t i = 0; i < n; i += chunk)
        n_out += term_filter_run(&filter, in + i, n - i < chunk ? n - i : chunk, out + n_out);
    out[n_out] = 0;
    return n_out;
}

/* What becomes of a text, given whole and in every small chunk size. */
static const char *filtered(const char *in)
{
    static char whole[OUT_SIZE];

    term_filter_init(&filter);
    size_t n = run_in_chunks(in, strlen(in), strlen(in) + 1);
    memcpy(whole, out, n + 1);
    for (size_t chunk = 1; chunk < 8; chunk++) {
        term_filter_init(&filter);
        CHECK(run_in_chunks(in, strlen(in), chunk) == n);
        CHECK(memcmp(whole, out, n) == 0);
    }
    return whole;
}

static const char *undone(void)
{
    static char text[TERM_FILTER_UNDO_SIZE + 1];

    text[term_filter_undo(&filter, text)] = 0;
    return text;
}

static const char *redone(void)
{
    static char text[TERM_FILTER_UNDO_SIZE + 1];

    text[term_filter_redo(&filter, text)] = 0;
    return text;
}

TEST(passes_what_programs_need)
{
    static const char *const texts[] = {
        "plain text\r\n\ttab \b\a",
        "\303\251 \342\202\254 \360\237\220\224 \314\201",   /* two, three, four bytes */
        "\033[1;31mred\033[0m\033[m",                        /* colours */
        "\033[38;5;11m\033[48;2;11;12;13m\033[38:2::1:2:3m", /* 11 and 12 as colours */
        "\033[2J\033[H\033[10;20H\033[K\033[3A\033[5@\033[2P\033[4X\033[7b",
        "\033[5;10r\033[r\033[2S\033[2T\0337\0338\033M\033D\033E\033H\033[3g",
        "\033[?1049h\033[?1h\033=\033[?25l\033[?25h\033>\033[?1l\033[?1049l",
        "\033[?2004h\033[?1000h\033[?1002;1006h\033[?1004h\033[?2026h",
        "\033[?25h\033[?0c\033[4 q\033[!p\033[4h\033[4l\033[34h",
        "\033(0lqk\033(B\033)0\016x\017",
        "\033c\033#8",
        "\033[22;0;0t\033[23;0;0t", /* title stack */
        "\033[>4;2m\033[>4m",
        "\033]0;a title\a\033]2;ti\303\251tle\033\\",
        "\033]8;;https://example.org/a?b;c\033\\link\033]8;;\033\\",
        "\033]8;id=1;mailto:a@example.org\alink\033]8;;\a",
        "\033]4;1;#ff0000\a\033]10;white\033\\\033]11;rgb:00/00/00\a\033]12;red\a",
        "\033]104\a\033]104;1;2\a\033]110\a\033]111\a\033]112\a",
        "\033[c\033[0c\033[>c\033[5n\033[6n\033[?2026$p\033[4$p", /* answers of fixed form */
    };

    for (size_t i = 0; i < COUNT(texts); i++) {
        CHECK_STR(filtered(texts[i]), texts[i]);
        CHECK(term_filter_n_dropped(&filter) == 0);
    }
}

TEST(drops_what_is_dangerous)
{
    static const struct {
        const char *in;
        enum term_filter_kind kind;
    } cases[] = {
        { "\033]52;c;aGVsbG8=\a", TERM_FILTER_CLIPBOARD },
        { "\033]52;c;aGVsbG8=\033\\", TERM_FILTER_CLIPBOARD },
        { "\033]52;c;?\a", TERM_FILTER_CLIPBOARD },
        { "\033]5522;type=read\a", TERM_FILTER_CLIPBOARD },
        { "\033]5\0012;c;aGVsbG8=\a", TERM_FILTER_CLIPBOARD },
        { "\033]5\3772;c;aGVsbG8=\a", TERM_FILTER_CLIPBOARD },
        { "\033]052;c;aGVsbG8=\a", TERM_FILTER_OTHER },
        { "\033]9;hello\a", TERM_FILTER_NOTIFY },
        { "\033]99;;hello\a", TERM_FILTER_NOTIFY },
        { "\033]777;notify;a;b\a", TERM_FILTER_NOTIFY },
        { "\033]1337;File=name=eA==:eA==\a", TERM_FILTER_TRANSFER },
        { "\033]5113;ac=send\a", TERM_FILTER_TRANSFER },
        { "\033]55;/tmp/dump\a", TERM_FILTER_TRANSFER },
        { "\033]50;?\a", TERM_FILTER_QUERY },
        { "\033]4;1;?\a", TERM_FILTER_QUERY },
        { "\033]10;?\a", TERM_FILTER_QUERY },
        { "\033]11;white;?\033\\", TERM_FILTER_QUERY },
        { "\033]7;file://host/\a", TERM_FILTER_OTHER },
        { "\033]133;A\a", TERM_FILTER_OTHER },
        { "\033];x\a", TERM_FILTER_OTHER },
        { "\033]8;;file:///etc/passwd\a", TERM_FILTER_LINK },
        { "\033]8;;x-man-page://ls\a", TERM_FILTER_LINK },
        { "\033]8;;https://\303\251\a", TERM_FILTER_LINK },
        { "\033]8\a", TERM_FILTER_LINK },
        { "\033]08;https://a;file:///etc/passwd\a", TERM_FILTER_OTHER },
        { "\033P$qm\033\\", TERM_FILTER_STRING },             /* DECRQSS */
        { "\033P+q544e\033\\", TERM_FILTER_STRING },          /* XTGETTCAP */
        { "\033Pq#0;2;0;0;0\033\\", TERM_FILTER_STRING },     /* sixel */
        { "\033P1;1|17/6c73\033\\", TERM_FILTER_STRING },     /* function keys */
        { "\033_Ga=T,f=100;AAAA\033\\", TERM_FILTER_STRING }, /* kitty graphics */
        { "\033^private\033\\", TERM_FILTER_STRING },
        { "\033Xstring\033\\", TERM_FILTER_STRING },
        { "\033ktitle\033\\", TERM_FILTER_STRING },
        { "\033P no\aend\033\\", TERM_FILTER_STRING },
        { "\033[21t", TERM_FILTER_QUERY },
        { "\033[11t", TERM_FILTER_QUERY },
        { "\033[14;2t", TERM_FILTER_QUERY },
        { "\033[18t", TERM_FILTER_QUERY },
        { "\033[19t", TERM_FILTER_QUERY },
        { "\033[8;100;100t", TERM_FILTER_OTHER },
        { "\033[>2t", TERM_FILTER_OTHER },
        { "\033[x", TERM_FILTER_QUERY },
        { "\033[1x", TERM_FILTER_QUERY },
        { "\033[>q", TERM_FILTER_QUERY },
        { "\033[=c", TERM_FILTER_QUERY },
        { "\033[?6n", TERM_FILTER_QUERY },
        { "\033[?15n", TERM_FILTER_QUERY },
        { "\033[7n", TERM_FILTER_QUERY },
        { "\033[?u", TERM_FILTER_QUERY },
        { "\033[?1;1;0S", TERM_FILTER_QUERY },
        { "\033[?4m", TERM_FILTER_QUERY },
        { "\033[1;1;1;1;1;1*y", TERM_FILTER_QUERY },
        { "\005", TERM_FILTER_QUERY },
        { "\033Z", TERM_FILTER_QUERY },
        { "\033[4i", TERM_FILTER_PRINTER },
        { "\033[5i", TERM_FILTER_PRINTER },
        { "\033[?5i", TERM_FILTER_PRINTER },
        { "\033[i", TERM_FILTER_PRINTER },
        { "\033%@", TERM_FILTER_OTHER },     /* leave UTF-8 */
        { "\033 G", TERM_FILTER_OTHER },     /* 8-bit answers */
        { "\033[61\"p", TERM_FILTER_OTHER }, /* conformance level */
        { "\033[?2l", TERM_FILTER_OTHER },   /* VT52 */
        { "\033[?38h", TERM_FILTER_OTHER },  /* Tektronix */
        { "\033[2h", TERM_FILTER_OTHER },    /* keyboard locked */
        { "\033[20h", TERM_FILTER_OTHER },
        { "\033[?1001h", TERM_FILTER_OTHER },
        { "\033[1;1;1;1;1T", TERM_FILTER_OTHER },
        { "\033[11m", TERM_FILTER_OTHER }, /* Linux console: UTF-8 off */
        { "\033[0;1;12m", TERM_FILTER_OTHER },
        { "\033[38;2;11m", TERM_FILTER_OTHER }, /* not a colour there */
        { "\033[38;11m", TERM_FILTER_OTHER },
        { "\033[58;5;11m", TERM_FILTER_OTHER },
        { "\033[12;3]", TERM_FILTER_OTHER },
        { "\033[?1s", TERM_FILTER_OTHER },
        { "\033[1:2H", TERM_FILTER_OTHER },
        { "\033(C", TERM_FILTER_OTHER },
        { "\033G", TERM_FILTER_OTHER },
        { "\033]R", TERM_FILTER_OTHER },
        { "\033]P1ff0000", TERM_FILTER_OTHER },
        { "\033[99999A", TERM_FILTER_BROKEN },
        { "\033[1?2h", TERM_FILTER_BROKEN },
        { "\033[1$2p", TERM_FILTER_BROKEN },
        { "\033[$$p", TERM_FILTER_BROKEN },
        { "\033((B", TERM_FILTER_BROKEN },
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        char text[128];

        (void)snprintf(text, sizeof text, "<%s>", cases[i].in);
        CHECK_STR(filtered(text), "<>");
        CHECK(filter.counts[cases[i].kind] == 1);
        CHECK(term_filter_n_dropped(&filter) == 1);
        CHECK(filter.counts[TERM_FILTER_PASSED] == 0);
        CHECK(!filter.modes.has_asked);
    }
}

TEST(controls_of_eight_bits_are_no_way_around)
{
    /* As characters: U+009D is OSC, U+009C is ST, U+009B is CSI, U+0090 is DCS. */
    CHECK_STR(filtered("<\302\23552;c;eA==\302\234>"), "<>");
    CHECK(filter.counts[TERM_FILTER_CLIPBOARD] == 1);
    CHECK_STR(filtered("<\302\23552;c;eA==\a>"), "<>");
    CHECK_STR(filtered("<\033]52;c;eA==\302\234>"), "<>");
    CHECK_STR(filtered("<\302\220$qm\302\234>"), "<>");
    CHECK_STR(filtered("<\302\232>"), "<>");
    CHECK_STR(filtered("<\302\23321t>"), "<>");
    CHECK_STR(filtered("<\302\2331m>"), "<\033[1m>");
    CHECK_STR(filtered("<\302\205>"), "<\033E>");
    /* As bytes, which are rubbish in UTF-8. */
    CHECK_STR(filtered("<\23552;c;eA==\234>"), "<\357\277\27552;c;eA==\357\277\275>");
    CHECK_STR(filtered("<\23321t>"), "<\357\277\27521t>");
}

TEST(only_proper_utf8_passes)
{
    CHECK_STR(filtered("<\300\233>"), "<\357\277\275\357\277\275>"); /* ESC, two bytes long */
    CHECK_STR(filtered("<\340\202\233>"),
              "<\357\277\275\357\277\275\357\277\275>"); /* CSI, three */
    CHECK_STR(filtered("<\355\240\200>"), "<\357\277\275\357\277\275\357\277\275>"); /* surrogate */
    CHECK_STR(filtered("<\364\220\200\200>"), "<\357\277\275\357\277\275\357\277\275\357\277\275>");
    CHECK_STR(filtered("<\342\202>"), "<\357\277\275>");
    CHECK_STR(filtered("<\342\202\033[1m>"), "<\357\277\275\033[1m>");
    CHECK_STR(filtered("<\302\302\23321t>"), "<\357\277\275>");
}

TEST(a_terminal_without_utf8_gets_no_eight_bit_controls)
{
    static const char text[] = "\304\23321t \304\23552;c;eA==\a \351 \303\251 \304\2331m";

    term_filter_init_8bit(&filter);
    (void)run_in_chunks(text, strlen(text), 1);
    CHECK_STR(out, "\304 \304 \351 \303\251 \304\033[1m");
    CHECK(filter.counts[TERM_FILTER_CLIPBOARD] == 1);
    CHECK(filter.counts[TERM_FILTER_QUERY] == 1);
}

TEST(controls_inside_sequences_act_as_on_a_terminal)
{
    CHECK_STR(filtered("\033[1\n;3\r1mx"), "\n\r\033[1;31mx");
    CHECK_STR(filtered("\033[\0052\177J"), "\033[2J");
    CHECK_STR(filtered("\033\n[1m"), "\n\033[1m");
    CHECK_STR(filtered("\033]2;a\nb\tc\177d\a"), "\033]2;abcd\a");
}

TEST(sequences_that_are_broken_off_leave_nothing)
{
    CHECK_STR(filtered("a\033[31\030b"), "ab");
    CHECK_STR(filtered("a\033]2;title\032b"), "ab");
    CHECK_STR(filtered("a\033Pdata\030b"), "ab");
    CHECK_STR(filtered("a\033[31\033[1mb"), "a\033[1mb");
    CHECK_STR(filtered("a\033]2;title\033[1mb"), "a\033[1mb");
    CHECK_STR(filtered("a\033Pdata\033]52;c;eA==\ab"), "ab");
    CHECK_STR(filtered("a\033]2;\033]52;c;eA==\a\ab"), "a\ab");
    CHECK_STR(filtered("a\033]2;x\033\033\\b"), "ab");
    CHECK_STR(filtered("a\033[3\303\251b"), "a\303\251b");
    CHECK_STR(filtered("a\033\033\033[1mb"), "a\033[1mb");
    CHECK_STR(filtered("a\033\\b"), "ab");
    CHECK(term_filter_n_dropped(&filter) == 0);
    /* Passed through tmux: the doubled ESC ends the outer string, the inner one is judged. */
    CHECK_STR(filtered("a\033Ptmux;\033\033]52;c;eA==\a\033\\b"), "ab");
    CHECK(filter.counts[TERM_FILTER_CLIPBOARD] == 1);
    /* At the very end nothing is pending in the terminal. */
    CHECK_STR(filtered("a\033]2;title"), "a");
    CHECK_STR(filtered("a\033[1"), "a");
    CHECK_STR(filtered("a\033"), "a");
}

TEST(keeps_the_harmless_part_of_a_mode_list)
{
    CHECK_STR(filtered("\033[?1000;38;1006h"), "\033[?1000;1006h");
    CHECK_STR(filtered("\033[?3;4;7l"), "\033[?7l");
    CHECK_STR(filtered("\033[?;25h"), "\033[?25h");
}

TEST(numbers_have_one_spelling)
{
    CHECK_STR(filtered("\033[007;01H\033[022;0t\033[04:03m\033[;5H"),
              "\033[7;1H\033[22;0t\033[4:3m\033[;5H");
}

/* "\033]" + prefix + n times 'x' + end */
static const char *long_string(const char *prefix, size_t n)
{
    static char text[TERM_FILTER_SEQUENCE_MAX + 256];
    size_t length = (size_t)snprintf(text, sizeof text, "\033]%s", prefix);

    memset(text + length, 'x', n);
    (void)snprintf(text + length + n, sizeof text - length - n, "\a.");
    return text;
}

TEST(long_sequences_are_cut_or_dropped)
{
    const char *title = filtered(long_string("2;", 1000));

    CHECK(strlen(title) == 2 + 256 + 2);
    CHECK(strncmp(title, "\033]2;xx", 6) == 0);
    CHECK_STR(title + 2 + 256, "\a.");
    CHECK_STR(filtered(long_string("8;;https://", TERM_FILTER_SEQUENCE_MAX)), ".");
    CHECK_STR(filtered(long_string("2;", TERM_FILTER_SEQUENCE_MAX)), ".");
    CHECK(filter.counts[TERM_FILTER_BROKEN] == 1);
    CHECK_STR(filtered(long_string("52;", TERM_FILTER_SEQUENCE_MAX)), ".");
    CHECK(filter.counts[TERM_FILTER_CLIPBOARD] == 1);
    CHECK_STR(filtered(long_string("8;;https://", 3000)), ".");
    CHECK(filter.counts[TERM_FILTER_LINK] == 1);
}

TEST(a_title_is_not_cut_inside_a_character)
{
    char text[600] = "\033]2;";
    size_t n = strlen(text);

    for (size_t i = 0; i < 90; i++, n += 3)
        memcpy(text + n, "\342\202\254", 3);
    memcpy(text + n, "\a", 2);
    const char *title = filtered(text);
    CHECK(strlen(title) == 2 + 2 + 84 * 3 + 1);
    CHECK(strcmp(title + strlen(title) - 4, "\342\202\254\a") == 0);
}

TEST(long_numbers_and_lists_are_dropped)
{
    char text[1024] = "\033[";

    for (int i = 0; i < 40; i++)
        strcat(text, "1;");
    strcat(text, "1m.");
    CHECK_STR(filtered(text), ".");
    strcpy(text, "\033[");
    for (int i = 0; i < 300; i++)
        strcat(text, "0");
    strcat(text, "1A.");
    CHECK_STR(filtered(text), ".");
    CHECK(filter.counts[TERM_FILTER_BROKEN] == 1);
}

TEST(undoes_what_was_left_changed)
{
    (void)filtered("\033[?1049h\033[?1000;1006h\033[?25l\033[31m\033=\033(0\016");
    CHECK_STR(undone(), "\033[?25h\033[?1000l\033[?1006l\033[?1049l\033>\033(B\017\033[m");
    CHECK_STR(redone(), "\033[?25l\033[?1000h\033[?1006h\033[?1049h\033=");
    (void)filtered("\033]11;red\a\033]8;;https://a;\aq\033[>4;2m\033[2;5r\033[5 q");
    CHECK_STR(undone(), "\033[>4m\0337\033[r\0338\033[0 q\033]111\033\\\033]8;;\033\\");
    CHECK_STR(redone(), "\033[>4;2m");
}

TEST(has_nothing_to_undo_after_a_clean_end)
{
    (void)filtered("\033[?1049h\033[?25l\033[1mx\033[0m\033[?25h\033[?1049l\033]8;;https://a\ab"
                   "\033]8;;\a\033=\033>\033[2;4r\033[r\033]4;1;red\a\033]104\a\016\017\033(0\033(B"
                   "\033[3 q\033[ q\033[>4;1m\033[>4m\033[?7l\033[?7h");
    CHECK(filter.counts[TERM_FILTER_PASSED] > 10);
    CHECK_STR(undone(), "");
    CHECK_STR(redone(), "");
    (void)filtered("\033[?1003h\033[7m\033c");
    CHECK_STR(undone(), "");
}

TEST(undoing_everything_fits)
{
    term_filter_init(&filter);
    filter.modes.changed = UINT64_MAX;
    CHECK(strlen(undone()) > 200);
    CHECK(strlen(undone()) <= TERM_FILTER_UNDO_SIZE);
    CHECK(strlen(redone()) <= TERM_FILTER_UNDO_SIZE);
}

TEST(remembers_that_a_question_was_asked)
{
    (void)filtered("\033[6n");
    CHECK(filter.modes.has_asked);
    (void)filtered("\033[?25h");
    CHECK(!filter.modes.has_asked);
}

TEST(output_is_never_longer_than_promised)
{
    static char in[4096];

    term_filter_init(&filter);
    memset(in, 'x', sizeof in);
    memcpy(in, "\033]8;;https://", 13);
    CHECK(term_filter_run(&filter, in, 2000, out) == 0);
    memset(in, '\200', sizeof in);
    in[0] = '\a';
    size_t n = term_filter_run(&filter, in, sizeof in, out);
    CHECK(n == 2000 + 1 + 3 * (sizeof in - 1));
    CHECK(n <= TERM_FILTER_OUT_SIZE(sizeof in));
}

TEST(every_kind_has_a_name)
{
    for (int kind = 0; kind < TERM_FILTER_KINDS; kind++)
        CHECK(term_filter_kind_name((enum term_filter_kind)kind) != NULL);
    CHECK_STR(term_filter_kind_name(TERM_FILTER_CLIPBOARD), "clipboard");
}
