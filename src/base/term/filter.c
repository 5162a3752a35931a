/*
 * Two machines, one behind the other. The first turns bytes into plain ASCII, 8-bit controls (C1),
 * characters and rubbish. The second is the well-known parser for terminal sequences (as in xterm
 * and the DEC VT500): ESC, CAN and SUB break off whatever is under way, other control characters
 * inside a sequence act at once, strings run until ST (ESC \), an operating system command (OSC)
 * also until BEL. What comes to its end is judged in base/term/rules.c.
 */
#include "base/term/filter.h"

#include <string.h>

#include "base/cleanup.h"
#include "base/term/rules.h"

enum control {
    ENQ = 0x05,
    BEL = 0x07,
    SO = 0x0e,
    SI = 0x0f,
    CAN = 0x18,
    SUB = 0x1a,
    ESC = 0x1b,
    DEL = 0x7f,
};

/* BEL BS HT LF VT FF CR SO SI. Not NUL: terminals ignore it. Not XON and XOFF. */
#define CONTROLS_THAT_PASS 0xff80u

/* Longer ones are no use, and judging them takes numbers that fit. */
#define CSI_MAX           256
#define CSI_PARAMETER_MAX 65535

enum state {
    GROUND,
    ESCAPE,      /* ESC and perhaps one intermediate byte */
    CSI,         /* ESC [ ... */
    CSI_IGNORED, /* ... malformed: look for its end only */
    STRING,      /* ESC ] ... and the other strings */
    STRING_ESCAPE,
};

struct sink {
    char *out;
    size_t n;
};

static const char *const kind_names[TERM_FILTER_KINDS] = {
    [TERM_FILTER_PASSED] = "passed",     [TERM_FILTER_CLIPBOARD] = "clipboard",
    [TERM_FILTER_QUERY] = "query",       [TERM_FILTER_NOTIFY] = "notification",
    [TERM_FILTER_TRANSFER] = "transfer", [TERM_FILTER_STRING] = "device string",
    [TERM_FILTER_PRINTER] = "printer",   [TERM_FILTER_LINK] = "hyperlink",
    [TERM_FILTER_BROKEN] = "broken",     [TERM_FILTER_OTHER] = "other",
};

static void put(struct sink *sink, const char *bytes, size_t n)
{
    memcpy(sink->out + sink->n, bytes, n);
    sink->n += n;
}

static void put_byte(struct sink *sink, char byte)
{
    sink->out[sink->n++] = byte;
}

static void put_rubbish(struct sink *sink)
{
    put(sink, "\xef\xbf\xbd", 3); /* U+FFFD */
}

static void start(struct term_filter *filter, enum state state)
{
    filter->state = (uint8_t)state;
    filter->n_sequence = 0;
    filter->is_overlong = false;
}

static void break_off(struct term_filter *filter)
{
    if (filter->state != GROUND)
        filter->counts[TERM_FILTER_BROKEN]++;
    start(filter, GROUND);
}

static void collect(struct term_filter *filter, const char *bytes, size_t n, size_t limit)
{
    if (filter->n_sequence + n > limit) {
        filter->is_overlong = true;
        return;
    }
    memcpy(filter->sequence + filter->n_sequence, bytes, n);
    filter->n_sequence += n;
}

static void put_escape(struct term_filter *filter, struct sink *sink, char final)
{
    char intermediate = filter->n_sequence ? filter->sequence[0] : 0;
    enum term_filter_kind kind = TERM_FILTER_BROKEN;

    if (!filter->is_overlong)
        kind = term_rules_escape(&filter->modes, intermediate, final);
    if (kind == TERM_FILTER_PASSED) {
        put_byte(sink, ESC);
        put(sink, filter->sequence, filter->n_sequence);
        put_byte(sink, final);
    }
    filter->counts[kind]++;
    start(filter, GROUND);
}

/* False: too many parameters, too big, or more than one intermediate byte. */
static bool parse_csi(const struct term_filter *filter, char final, struct term_csi *csi)
{
    const char *p = filter->sequence;
    const char *end = p + filter->n_sequence;

    *csi = (struct term_csi){ .final = final, .n = 1, .parameters = { -1 } };
    if (p < end && *p >= '<' && *p <= '?')
        csi->prefix = *p++;
    for (; p < end && *p >= '0'; p++) {
        int *parameter = &csi->parameters[csi->n - 1];

        if (*p == ';' || *p == ':') {
            if (csi->n == TERM_CSI_PARAMETERS)
                return false;
            csi->is_sub |= (uint32_t)(*p == ':') << csi->n;
            csi->parameters[csi->n++] = -1;
            continue;
        }
        *parameter = (*parameter < 0 ? 0 : *parameter * 10) + (*p - '0');
        if (*parameter > CSI_PARAMETER_MAX)
            return false;
    }
    if (p < end)
        csi->intermediate = *p++;
    return p == end;
}

static void put_number(struct sink *sink, int number)
{
    if (number >= 10)
        put_number(sink, number / 10);
    put_byte(sink, (char)('0' + number % 10));
}

/* In one spelling: no leading zeros, nothing that a judgement has removed. */
static void put_judged_csi(struct sink *sink, const struct term_csi *csi)
{
    put(sink, "\033[", 2);
    if (csi->prefix)
        put_byte(sink, csi->prefix);
    for (unsigned i = 0; i < csi->n; i++) {
        if (i > 0)
            put_byte(sink, csi->is_sub >> i & 1 ? ':' : ';');
        if (csi->parameters[i] >= 0)
            put_number(sink, csi->parameters[i]);
    }
    if (csi->intermediate)
        put_byte(sink, csi->intermediate);
    put_byte(sink, csi->final);
}

static void put_csi(struct term_filter *filter, struct sink *sink, char final)
{
    enum term_filter_kind kind = TERM_FILTER_BROKEN;
    struct term_csi csi;

    if (!filter->is_overlong && parse_csi(filter, final, &csi))
        kind = term_rules_csi(&filter->modes, &csi);
    if (kind == TERM_FILTER_PASSED)
        put_judged_csi(sink, &csi);
    filter->counts[kind]++;
    start(filter, GROUND);
}

/* `end` is BEL or ESC \: some terminals know only the one that the program used. */
static void put_string(struct term_filter *filter, struct sink *sink, const char *end)
{
    enum term_filter_kind kind = TERM_FILTER_STRING;

    if (filter->string == ']') {
        kind = term_rules_osc(&filter->modes, filter->sequence, &filter->n_sequence);
        if (filter->is_overlong && kind == TERM_FILTER_PASSED)
            kind = TERM_FILTER_BROKEN;
    }
    if (kind == TERM_FILTER_PASSED) {
        put(sink, "\033]", 2);
        put(sink, filter->sequence, filter->n_sequence);
        put(sink, end, strlen(end));
    }
    filter->counts[kind]++;
    start(filter, GROUND);
}

/* A control character outside strings. */
static void step_control(struct term_filter *filter, struct sink *sink, char c)
{
    if (c == ENQ)
        filter->counts[TERM_FILTER_QUERY]++; /* asks for the answerback text */
    if (!(CONTROLS_THAT_PASS >> c & 1))
        return;
    if (c == SO || c == SI)
        term_rules_shift(&filter->modes, c == SO);
    put_byte(sink, c);
}

static void step_escape(struct term_filter *filter, struct sink *sink, char c)
{
    if (c >= ' ' && c <= '/') {
        collect(filter, &c, 1, 1);
    } else if (filter->n_sequence > 0) {
        put_escape(filter, sink, c);
    } else if (c == '[') {
        start(filter, CSI);
    } else if (strchr("]PX^_k", c)) { /* 'k': the title string of screen and tmux */
        start(filter, STRING);
        filter->string = (uint8_t)c;
    } else if (c == '\\') {
        start(filter, GROUND); /* the end of a string that is none, or is over */
    } else {
        put_escape(filter, sink, c);
    }
}

static void step_csi(struct term_filter *filter, struct sink *sink, char c)
{
    char last = filter->n_sequence ? filter->sequence[filter->n_sequence - 1] : 0;
    bool is_prefix = c >= '<' && c <= '?';
    bool is_after_intermediate = last >= ' ' && last <= '/';

    if (c >= '@')
        put_csi(filter, sink, c);
    else if ((is_prefix && filter->n_sequence > 0) || (c >= '0' && is_after_intermediate))
        filter->state = CSI_IGNORED;
    else
        collect(filter, &c, 1, CSI_MAX);
}

/*
 * The Linux console has two commands without an end: ESC ] R, and ESC ] P with seven digits. They
 * cannot pass, since other terminals would wait for an end, but must not swallow what follows.
 */
static bool is_console_palette(const struct term_filter *filter)
{
    return filter->string == ']' && filter->n_sequence > 0 &&
           (filter->sequence[0] == 'R' || (filter->sequence[0] == 'P' && filter->n_sequence == 8));
}

static void step_string(struct term_filter *filter, struct sink *sink, char c)
{
    if (filter->string != ']')
        return;
    if (c == BEL) {
        put_string(filter, sink, "\a");
    } else if (c >= ' ') {
        collect(filter, &c, 1, sizeof filter->sequence);
        if (is_console_palette(filter))
            put_string(filter, sink, "\a");
    }
}

static void step_special(struct term_filter *filter, struct sink *sink, char c)
{
    bool is_string = filter->state == STRING;

    if (c == DEL)
        return;
    if (c == CAN || c == SUB) {
        break_off(filter);
    } else if (c == ESC && is_string) {
        filter->state = STRING_ESCAPE; /* its end, if a backslash follows */
    } else if (c == ESC) {
        break_off(filter);
        start(filter, ESCAPE);
    } else if (is_string) {
        step_string(filter, sink, c);
    } else {
        step_control(filter, sink, c);
    }
}

static void step(struct term_filter *filter, struct sink *sink, char c)
{
    if (filter->state == STRING_ESCAPE) {
        if (c == '\\') {
            put_string(filter, sink, "\033\\");
            return;
        }
        break_off(filter); /* the string; what began with this ESC goes on */
        start(filter, ESCAPE);
    }
    if (c < ' ' || c == DEL) {
        step_special(filter, sink, c);
        return;
    }
    switch ((enum state)filter->state) {
    case GROUND:
        put_byte(sink, c);
        break;
    case ESCAPE:
        step_escape(filter, sink, c);
        break;
    case CSI:
        step_csi(filter, sink, c);
        break;
    case CSI_IGNORED:
        if (c >= '@')
            break_off(filter);
        break;
    case STRING:
    case STRING_ESCAPE:
        step_string(filter, sink, c);
        break;
    }
}

/* A C1 control is short for ESC and a letter. */
static void step_c1(struct term_filter *filter, struct sink *sink, unsigned char c)
{
    step(filter, sink, ESC);
    step(filter, sink, (char)(c - 0x40));
}

/* A character beyond ASCII, or rubbish (n = 0). */
static void step_character(struct term_filter *filter, struct sink *sink, const char *bytes,
                           size_t n)
{
    if (filter->state == STRING) {
        if (filter->string == ']' && n > 0)
            collect(filter, bytes, n, sizeof filter->sequence);
        return;
    }
    break_off(filter);
    if (n > 0)
        put(sink, bytes, n);
    else
        put_rubbish(sink);
}

/* Bytes that a UTF-8 character takes, by its first byte. 0: cannot be a first byte. */
static uint8_t utf8_size(unsigned char c)
{
    if (c >= 0xc2 && c <= 0xdf)
        return 2;
    if (c >= 0xe0 && c <= 0xef)
        return 3;
    return c >= 0xf0 && c <= 0xf4 ? 4 : 0;
}

/* No longer forms than needed, no surrogates, nothing above U+10FFFF: lax decoders find controls in
 * the former. */
static bool is_utf8_second(unsigned char first, unsigned char c)
{
    unsigned char low = first == 0xe0 ? 0xa0 : first == 0xf0 ? 0x90 : 0x80;
    unsigned char high = first == 0xed ? 0x9f : first == 0xf4 ? 0x8f : 0xbf;

    return c >= low && c <= high;
}

/* Takes c if it continues the unfinished character. */
static bool continue_character(struct term_filter *filter, struct sink *sink, unsigned char c)
{
    unsigned char first = (unsigned char)filter->character[0];
    bool fits = filter->n_char == 1 ? is_utf8_second(first, c) : (c & 0xc0) == 0x80;

    if (!fits) {
        filter->n_char = 0;
        step_character(filter, sink, NULL, 0);
        return false;
    }
    filter->character[filter->n_char++] = (char)c;
    if (filter->n_char < filter->char_size)
        return true;
    filter->n_char = 0;
    if (first == 0xc2 && c < 0xa0)
        step_c1(filter, sink, c);
    else
        step_character(filter, sink, filter->character, filter->char_size);
    return true;
}

static void take_byte(struct term_filter *filter, struct sink *sink, unsigned char c)
{
    if (filter->n_char > 0 && continue_character(filter, sink, c))
        return;
    if (c < 0x80) {
        step(filter, sink, (char)c);
    } else if (filter->is_8bit) {
        if (c < 0xa0)
            step_c1(filter, sink, c);
        else
            step_character(filter, sink, (char *)&c, 1);
    } else {
        filter->char_size = utf8_size(c);
        filter->character[0] = (char)c;
        if (filter->char_size > 0)
            filter->n_char = 1;
        else
            step_character(filter, sink, NULL, 0);
    }
}

void term_filter_init(struct term_filter *filter)
{
    memset(filter, 0, sizeof *filter);
}

void term_filter_init_8bit(struct term_filter *filter)
{
    term_filter_init(filter);
    filter->is_8bit = true;
}

size_t term_filter_run(struct term_filter *filter, const char *in, size_t n, char *out)
{
    struct sink sink = { out, 0 };

    for (size_t i = 0; i < n; i++) {
        if (filter->state == GROUND && filter->n_char == 0 && in[i] >= ' ' && in[i] < DEL)
            put_byte(&sink, in[i]); /* nearly everything goes this way */
        else
            take_byte(filter, &sink, (unsigned char)in[i]);
    }
    return sink.n;
}

size_t term_filter_undo(const struct term_filter *filter, char *out)
{
    return term_rules_undo(&filter->modes, out);
}

size_t term_filter_redo(const struct term_filter *filter, char *out)
{
    return term_rules_redo(&filter->modes, out);
}

const char *term_filter_kind_name(enum term_filter_kind kind)
{
    return (unsigned)kind < COUNT(kind_names) ? kind_names[kind] : "unknown";
}

uint64_t term_filter_n_dropped(const struct term_filter *filter)
{
    uint64_t n = 0;

    for (int kind = TERM_FILTER_PASSED + 1; kind < TERM_FILTER_KINDS; kind++)
        n += filter->counts[kind];
    return n;
}
