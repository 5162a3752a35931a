/*
 * Questions. Some sequences make the terminal type an answer. Passed are those whose answer has a
 * fixed form made of digits, with no text or line end that the program can choose, because fish,
 * less, vim and others wait for them: device status and cursor position (CSI 5n, 6n), primary and
 * secondary attributes (CSI c, CSI > c), mode state (DECRQM). Dropped are those that can repeat text
 * which the program itself has planted (title, answerback, DECRQSS, colours, fonts, clipboard),
 * reveal the screen (DECRQCRA), or are not worth the doubt.
 *
 * Modes. Dropped are also those that change how the terminal reads what follows, since the filter
 * could no longer know what it passes: VT52 and Tektronix modes, leaving UTF-8 (ESC %), conformance
 * levels, printer redirection, and on the Linux console SGR 11 and 12, which switch UTF-8 off.
 */
#include "base/term/rules.h"

#include <string.h>
#include <strings.h>

#include "base/cleanup.h"

#define LINK_MAX  2083 /* what VTE and others accept */
#define TITLE_MAX 256

#define PASSED  TERM_FILTER_PASSED
#define DROPPED TERM_FILTER_OTHER

/* Bits of term_modes.changed: first the table below, then these. */
enum change {
    CHANGE_KEYPAD = 40,
    CHANGE_OTHER_KEYS_1,
    CHANGE_OTHER_KEYS_2,
    CHANGE_MARGINS,
    CHANGE_CHARSET,
    CHANGE_SHIFT,
    CHANGE_CURSOR_STYLE,
    CHANGE_ATTRIBUTES,
    CHANGE_PALETTE,
    CHANGE_FOREGROUND,
    CHANGE_BACKGROUND,
    CHANGE_CURSOR_COLOUR,
    CHANGE_LINK,
};

/* Where the terminal's own default is not known, or leaving it changed does no harm: UNTRACKED. */
enum mode_default { DEFAULT_OFF, DEFAULT_ON, UNTRACKED };

static const struct mode {
    char prefix;
    uint16_t number;
    enum mode_default is_default;
} modes_that_pass[] = {
    { 0, 4, DEFAULT_OFF },      /* insert */
    { 0, 34, UNTRACKED },       /* cursor shape, part of screen's "cursor normal" */
    { '?', 1, DEFAULT_OFF },    /* cursor keys */
    { '?', 5, DEFAULT_OFF },    /* reverse screen */
    { '?', 6, DEFAULT_OFF },    /* origin */
    { '?', 7, DEFAULT_ON },     /* wrap */
    { '?', 9, DEFAULT_OFF },    /* mouse: presses */
    { '?', 12, UNTRACKED },     /* blinking cursor */
    { '?', 25, DEFAULT_ON },    /* cursor visible */
    { '?', 45, UNTRACKED },     /* reverse wrap */
    { '?', 47, DEFAULT_OFF },   /* alternate screen, the oldest way */
    { '?', 66, DEFAULT_OFF },   /* keypad */
    { '?', 69, DEFAULT_OFF },   /* left and right margins */
    { '?', 1000, DEFAULT_OFF }, /* mouse: presses and releases */
    { '?', 1002, DEFAULT_OFF }, /* mouse: drags */
    { '?', 1003, DEFAULT_OFF }, /* mouse: all motion */
    { '?', 1004, DEFAULT_OFF }, /* focus reports */
    { '?', 1005, DEFAULT_OFF }, /* mouse report format: UTF-8 */
    { '?', 1006, DEFAULT_OFF }, /* ... decimal */
    { '?', 1007, UNTRACKED },   /* wheel as cursor keys on the alternate screen */
    { '?', 1015, DEFAULT_OFF }, /* mouse report format: decimal, older */
    { '?', 1016, DEFAULT_OFF }, /* ... in pixels */
    { '?', 1047, DEFAULT_OFF }, /* alternate screen */
    { '?', 1048, UNTRACKED },   /* save the cursor */
    { '?', 1049, DEFAULT_OFF }, /* both */
    { '?', 2004, DEFAULT_OFF }, /* bracketed paste */
    { '?', 2026, DEFAULT_OFF }, /* synchronised output */
};

_Static_assert(COUNT(modes_that_pass) <= CHANGE_KEYPAD, "a bit for each mode");

/* In this order, after the modes. */
static const struct undo {
    enum change change;
    const char *undo;
    const char *redo; /* NULL: the program repaints */
} undo_steps[] = {
    { CHANGE_KEYPAD, "\033>", "\033=" },
    { CHANGE_OTHER_KEYS_1, "\033[>4m", "\033[>4;1m" },
    { CHANGE_OTHER_KEYS_2, "\033[>4m", "\033[>4;2m" },
    { CHANGE_MARGINS, "\0337\033[r\0338", NULL }, /* without moving the cursor */
    { CHANGE_CHARSET, "\033(B", NULL },
    { CHANGE_SHIFT, "\017", NULL },
    { CHANGE_CURSOR_STYLE, "\033[0 q", NULL },
    { CHANGE_ATTRIBUTES, "\033[m", NULL },
    { CHANGE_PALETTE, "\033]104\033\\", NULL },
    { CHANGE_FOREGROUND, "\033]110\033\\", NULL },
    { CHANGE_BACKGROUND, "\033]111\033\\", NULL },
    { CHANGE_CURSOR_COLOUR, "\033]112\033\\", NULL },
    { CHANGE_LINK, "\033]8;;\033\\", NULL },
};

static bool is_one_of(char c, const char *set)
{
    return c && strchr(set, c);
}

static void set_changed(struct term_modes *modes, unsigned bit, bool is_changed)
{
    uint64_t mask = UINT64_C(1) << bit;

    modes->changed = is_changed ? modes->changed | mask : modes->changed & ~mask;
}

void term_rules_shift(struct term_modes *modes, bool is_out)
{
    set_changed(modes, CHANGE_SHIFT, is_out);
}

enum term_filter_kind term_rules_escape(struct term_modes *modes, char intermediate, char final)
{
    if (intermediate == '#') /* line sizes, alignment pattern */
        return is_one_of(final, "34568") ? PASSED : DROPPED;
    if (is_one_of(intermediate, "()*+")) { /* character sets: line drawing, British, ASCII */
        if (!is_one_of(final, "0AB"))
            return DROPPED;
        if (intermediate == '(')
            set_changed(modes, CHANGE_CHARSET, final != 'B');
        return PASSED;
    }
    if (intermediate)
        return DROPPED;
    if (final == 'Z') /* identify yourself */
        return TERM_FILTER_QUERY;
    if (final == '=' || final == '>')
        set_changed(modes, CHANGE_KEYPAD, final == '=');
    if (final == 'c') /* full reset */
        modes->changed = 0;
    return is_one_of(final, "=>6789DEHMc") ? PASSED : DROPPED;
}

/* Parameter i, with 0 and "not given" being the same, as terminals have it. */
static int parameter(const struct term_csi *csi, unsigned i)
{
    return i < csi->n && csi->parameters[i] > 0 ? csi->parameters[i] : 0;
}

static bool is_plain_zero(const struct term_csi *csi)
{
    return csi->n == 1 && parameter(csi, 0) == 0;
}

static enum term_filter_kind judge_pass(struct term_modes *modes, struct term_csi *csi)
{
    (void)modes;
    (void)csi;
    return PASSED;
}

static enum term_filter_kind judge_query(struct term_modes *modes, struct term_csi *csi)
{
    (void)modes;
    (void)csi;
    return TERM_FILTER_QUERY;
}

static enum term_filter_kind judge_printer(struct term_modes *modes, struct term_csi *csi)
{
    (void)modes;
    (void)csi;
    return TERM_FILTER_PRINTER;
}

/* CSI c, CSI > c. */
static enum term_filter_kind judge_attributes(struct term_modes *modes, struct term_csi *csi)
{
    if (!is_plain_zero(csi))
        return TERM_FILTER_QUERY;
    modes->has_asked = true;
    return PASSED;
}

/* CSI 5 n, CSI 6 n. */
static enum term_filter_kind judge_status(struct term_modes *modes, struct term_csi *csi)
{
    if (csi->n != 1 || (parameter(csi, 0) != 5 && parameter(csi, 0) != 6))
        return TERM_FILTER_QUERY;
    modes->has_asked = true;
    return PASSED;
}

/* CSI Ps $ p, CSI ? Ps $ p. */
static enum term_filter_kind judge_mode_query(struct term_modes *modes, struct term_csi *csi)
{
    if (csi->n != 1)
        return TERM_FILTER_QUERY;
    modes->has_asked = true;
    return PASSED;
}

/* CSI Ps t: the title stack passes, moving windows about does not, reports certainly not. */
static enum term_filter_kind judge_window(struct term_modes *modes, struct term_csi *csi)
{
    int operation = parameter(csi, 0);

    (void)modes;
    if (operation == 22 || operation == 23)
        return PASSED;
    return operation >= 11 && operation <= 21 ? TERM_FILTER_QUERY : DROPPED;
}

/* CSI Ps T scrolls; with five parameters it starts mouse tracking that hangs the terminal. */
static enum term_filter_kind judge_scroll_down(struct term_modes *modes, struct term_csi *csi)
{
    (void)modes;
    return csi->n == 1 ? PASSED : DROPPED;
}

static enum term_filter_kind judge_margins(struct term_modes *modes, struct term_csi *csi)
{
    set_changed(modes, CHANGE_MARGINS, !is_plain_zero(csi));
    return PASSED;
}

static enum term_filter_kind judge_cursor_style(struct term_modes *modes, struct term_csi *csi)
{
    set_changed(modes, CHANGE_CURSOR_STYLE, parameter(csi, 0) != 0);
    return PASSED;
}

/* CSI > 4 ; n m: how modified keys are sent. */
static enum term_filter_kind judge_other_keys(struct term_modes *modes, struct term_csi *csi)
{
    int level = parameter(csi, 1);

    if (csi->n > 2 || parameter(csi, 0) != 4 || level > 2)
        return DROPPED;
    set_changed(modes, CHANGE_OTHER_KEYS_1, level == 1);
    set_changed(modes, CHANGE_OTHER_KEYS_2, level == 2);
    return PASSED;
}

/*
 * How many parameters behind `i` belong to an extended colour, counted as the Linux console counts:
 * where it sees an 11 or 12 as a parameter of its own, so must we.
 */
static unsigned n_colour_parameters(const struct term_csi *csi, unsigned i)
{
    int code = csi->parameters[i];

    if (code != 38 && code != 48)
        return 0;
    if (parameter(csi, i + 1) == 5 && i + 2 < csi->n)
        return 2;
    return parameter(csi, i + 1) == 2 && i + 4 < csi->n ? 4 : 0;
}

static enum term_filter_kind judge_attributes_set(struct term_modes *modes, struct term_csi *csi)
{
    for (unsigned i = 0; i < csi->n; i++) {
        if (csi->is_sub & UINT32_C(1) << i)
            continue;
        if (csi->parameters[i] == 11 || csi->parameters[i] == 12)
            return DROPPED;
        if (!csi->is_sub)
            i += n_colour_parameters(csi, i);
    }
    set_changed(modes, CHANGE_ATTRIBUTES, !is_plain_zero(csi));
    return PASSED;
}

static const struct mode *find_mode(char prefix, int number)
{
    for (size_t i = 0; i < COUNT(modes_that_pass); i++)
        if (modes_that_pass[i].prefix == prefix && modes_that_pass[i].number == number)
            return &modes_that_pass[i];
    return NULL;
}

/* CSI h, CSI l: keeps those of the listed modes that may pass. */
static enum term_filter_kind judge_modes(struct term_modes *modes, struct term_csi *csi)
{
    bool is_on = csi->final == 'h';
    unsigned n = 0;

    for (unsigned i = 0; i < csi->n; i++) {
        const struct mode *mode = find_mode(csi->prefix, csi->parameters[i]);

        if (!mode)
            continue;
        if (mode->is_default != UNTRACKED)
            set_changed(modes, (unsigned)(mode - modes_that_pass),
                        is_on != (mode->is_default == DEFAULT_ON));
        csi->parameters[n++] = csi->parameters[i];
    }
    csi->n = n;
    return n ? PASSED : DROPPED;
}

static const struct csi_rule {
    char prefix;
    char intermediate;
    char final;
    enum term_filter_kind (*judge)(struct term_modes *modes, struct term_csi *csi);
} csi_rules[] = {
    { 0, 0, 'm', judge_attributes_set },
    { 0, 0, 'h', judge_modes },
    { 0, 0, 'l', judge_modes },
    { '?', 0, 'h', judge_modes },
    { '?', 0, 'l', judge_modes },
    { 0, 0, 'r', judge_margins },
    { 0, 0, 'T', judge_scroll_down },
    { 0, ' ', 'q', judge_cursor_style },
    { 0, '"', 'q', judge_pass }, /* protected characters */
    { 0, '!', 'p', judge_pass }, /* soft reset */
    { '?', 0, 'J', judge_pass }, /* selective erase */
    { '?', 0, 'K', judge_pass },
    { '?', 0, 'c', judge_pass }, /* Linux console: size of the cursor */
    { '>', 0, 'm', judge_other_keys },
    { 0, 0, 't', judge_window },
    { 0, 0, 'n', judge_status },
    { 0, 0, 'c', judge_attributes },
    { '>', 0, 'c', judge_attributes },
    { 0, '$', 'p', judge_mode_query },
    { '?', '$', 'p', judge_mode_query },
    { '=', 0, 'c', judge_query },
    { '?', 0, 'n', judge_query },
    { '>', 0, 'n', judge_query },
    { '?', 0, 'm', judge_query },
    { '>', 0, 'q', judge_query },
    { '?', 0, 'S', judge_query },
    { '?', 0, 'u', judge_query },
    { 0, '$', 'u', judge_query }, /* terminal state report */
    { '?', '$', 'u', judge_query },
    { 0, '&', 'u', judge_query },  /* preferred supplemental set */
    { 0, '"', 'v', judge_query },  /* displayed extent */
    { 0, '$', 'w', judge_query },  /* presentation state */
    { 0, '*', 'y', judge_query },  /* checksum of what is on the screen */
    { 0, '\'', '|', judge_query }, /* locator position */
    { 0, '#', 'S', judge_query },  /* title stack */
    { 0, '#', 'R', judge_query },  /* palette stack */
    { 0, '#', '|', judge_query },  /* selected attributes */
    { 0, 0, 'x', judge_query },
    { 0, 0, 'i', judge_printer },
    { '?', 0, 'i', judge_printer },
};

enum term_filter_kind term_rules_csi(struct term_modes *modes, struct term_csi *csi)
{
    bool is_colour = csi->final == 'm' && !csi->prefix && !csi->intermediate;

    if (csi->is_sub && !is_colour) /* colons have a meaning in colours only */
        return DROPPED;
    /* Cursor movement, erasing, inserting, deleting, scrolling, tabs, repetition. */
    if (!csi->prefix && !csi->intermediate && is_one_of(csi->final, "@ABCDEFGHIJKLMPSXZ`abdefgsu"))
        return PASSED;
    for (size_t i = 0; i < COUNT(csi_rules); i++) {
        const struct csi_rule *rule = &csi_rules[i];

        if (rule->final == csi->final && rule->prefix == csi->prefix &&
            rule->intermediate == csi->intermediate)
            return rule->judge(modes, csi);
    }
    return DROPPED;
}

/* Never cuts a character: the body is valid UTF-8, or has no multi-byte characters at all. */
static enum term_filter_kind judge_title(const char *body, size_t *n)
{
    if (*n > TITLE_MAX) {
        *n = TITLE_MAX;
        while (*n > 0 && ((unsigned char)body[*n] & 0xc0) == 0x80)
            (*n)--;
    }
    return PASSED;
}

static bool is_printable_ascii(const char *text, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (text[i] < 0x20 || text[i] > 0x7e)
            return false;
    return true;
}

/* "4;1;#ff0000" and the like. A question mark in place of a colour asks for it. */
static enum term_filter_kind judge_colour(const char *body, const size_t *n)
{
    if (memchr(body, '?', *n))
        return TERM_FILTER_QUERY;
    return is_printable_ascii(body, *n) ? PASSED : DROPPED;
}

/*
 * "8;parameters;address". The user must click on it, but some terminals hand any scheme to the
 * desktop, and file addresses would name files of the host, not of the box.
 */
static enum term_filter_kind judge_link(struct term_modes *modes, const char *body, const size_t *n)
{
    static const char *const schemes[] = { "https://", "http://", "mailto:" };
    const char *parameters = *n > 2 ? body + 2 : NULL;
    const char *address = parameters ? memchr(parameters, ';', *n - 2) : NULL;

    if (!address || *n > LINK_MAX || !is_printable_ascii(body, *n))
        return TERM_FILTER_LINK;
    address++;
    size_t size = (size_t)(body + *n - address);
    bool is_known = size == 0; /* the end of a link */
    for (size_t i = 0; i < COUNT(schemes) && !is_known; i++) {
        size_t length = strlen(schemes[i]);

        is_known = size >= length && strncasecmp(address, schemes[i], length) == 0;
    }
    if (!is_known)
        return TERM_FILTER_LINK;
    set_changed(modes, CHANGE_LINK, size > 0);
    return PASSED;
}

enum osc_action { OSC_TITLE, OSC_LINK, OSC_COLOUR, OSC_COLOUR_RESET, OSC_DROP };

static const struct osc_rule {
    int number;
    enum osc_action action;
    enum term_filter_kind kind; /* why it is dropped */
    enum change change;
} osc_rules[] = {
    { .number = 0, .action = OSC_TITLE },
    { .number = 1, .action = OSC_TITLE },
    { .number = 2, .action = OSC_TITLE },
    { .number = 8, .action = OSC_LINK },
    { .number = 4, .action = OSC_COLOUR, .change = CHANGE_PALETTE },
    { .number = 10, .action = OSC_COLOUR, .change = CHANGE_FOREGROUND },
    { .number = 11, .action = OSC_COLOUR, .change = CHANGE_BACKGROUND },
    { .number = 12, .action = OSC_COLOUR, .change = CHANGE_CURSOR_COLOUR },
    { .number = 104, .action = OSC_COLOUR_RESET, .change = CHANGE_PALETTE },
    { .number = 110, .action = OSC_COLOUR_RESET, .change = CHANGE_FOREGROUND },
    { .number = 111, .action = OSC_COLOUR_RESET, .change = CHANGE_BACKGROUND },
    { .number = 112, .action = OSC_COLOUR_RESET, .change = CHANGE_CURSOR_COLOUR },
    { .number = 52, .action = OSC_DROP, .kind = TERM_FILTER_CLIPBOARD },
    { .number = 5522, .action = OSC_DROP, .kind = TERM_FILTER_CLIPBOARD },
    { .number = 9, .action = OSC_DROP, .kind = TERM_FILTER_NOTIFY },
    { .number = 99, .action = OSC_DROP, .kind = TERM_FILTER_NOTIFY },
    { .number = 777, .action = OSC_DROP, .kind = TERM_FILTER_NOTIFY },
    { .number = 50, .action = OSC_DROP, .kind = TERM_FILTER_QUERY },
    { .number = 55, .action = OSC_DROP, .kind = TERM_FILTER_TRANSFER },
    { .number = 1337, .action = OSC_DROP, .kind = TERM_FILTER_TRANSFER },
    { .number = 5113, .action = OSC_DROP, .kind = TERM_FILTER_TRANSFER },
};

/* The number before the first semicolon, -1 if there is none. One spelling only: terminals and we
 * must not find different fields in "08;a;b". */
static int osc_number(const char *body, size_t n)
{
    int number = 0;
    size_t i = 0;

    for (; i < n && body[i] >= '0' && body[i] <= '9'; i++) {
        if (i == 5)
            return -1;
        number = number * 10 + (body[i] - '0');
    }
    if (i == 0 || (i > 1 && body[0] == '0'))
        return -1;
    return i == n || body[i] == ';' ? number : -1;
}

enum term_filter_kind term_rules_osc(struct term_modes *modes, const char *body, size_t *n)
{
    int number = osc_number(body, *n);
    const struct osc_rule *rule = NULL;
    enum term_filter_kind kind = DROPPED;

    for (size_t i = 0; i < COUNT(osc_rules) && !rule; i++)
        if (osc_rules[i].number == number)
            rule = &osc_rules[i];
    if (!rule)
        return DROPPED;
    switch (rule->action) {
    case OSC_TITLE:
        return judge_title(body, n);
    case OSC_LINK:
        return judge_link(modes, body, n);
    case OSC_COLOUR:
    case OSC_COLOUR_RESET:
        kind = judge_colour(body, n);
        if (kind == PASSED && (rule->action == OSC_COLOUR || !memchr(body, ';', *n)))
            set_changed(modes, rule->change, rule->action == OSC_COLOUR);
        return kind;
    case OSC_DROP:
        return rule->kind;
    }
    return DROPPED;
}

static size_t append(char *out, size_t n, const char *text)
{
    while (*text)
        out[n++] = *text++;
    return n;
}

/* No stdio: this may run in a signal handler. */
static size_t append_mode(char *out, size_t n, const struct mode *mode, bool is_on)
{
    char digits[6];
    size_t i = sizeof digits;

    for (unsigned number = mode->number; number > 0; number /= 10)
        digits[--i] = (char)('0' + number % 10);
    n = append(out, n, "\033[");
    if (mode->prefix)
        out[n++] = mode->prefix;
    while (i < sizeof digits)
        out[n++] = digits[i++];
    out[n++] = is_on ? 'h' : 'l';
    return n;
}

static size_t change_back(const struct term_modes *modes, char *out, bool is_undo)
{
    size_t n = 0;

    for (size_t i = 0; i < COUNT(modes_that_pass); i++)
        if (modes->changed & UINT64_C(1) << i)
            n = append_mode(out, n, &modes_that_pass[i],
                            is_undo == (modes_that_pass[i].is_default == DEFAULT_ON));
    for (size_t i = 0; i < COUNT(undo_steps); i++) {
        const char *text = is_undo ? undo_steps[i].undo : undo_steps[i].redo;

        if (text && (modes->changed & UINT64_C(1) << undo_steps[i].change))
            n = append(out, n, text);
    }
    return n;
}

size_t term_rules_undo(const struct term_modes *modes, char *out)
{
    return change_back(modes, out, true);
}

size_t term_rules_redo(const struct term_modes *modes, char *out)
{
    return change_back(modes, out, false);
}
