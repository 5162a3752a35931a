/*
 * filter.h - what a hostile program may say to the user's terminal
 *
 *   term_filter_init() -> term_filter_run(), any number of times -> term_filter_undo()
 *
 * A terminal obeys what is printed on it: escape sequences write the clipboard, print, transfer
 * files, change the title, and make the terminal type an answer as if the user had typed it. The
 * filter passes text and what full-screen programs need, and drops the rest.
 *
 * The input is never passed on piecemeal. A sequence is collected until it is complete, judged, and
 * written out in one plain form: 7-bit, nothing embedded, properly ended. So the terminal is between
 * two sequences whenever the filter is, and a disagreement about where a sequence ends (CAN, ESC
 * inside a string, 8-bit controls, bad UTF-8) can only make text visible or invisible, never turn
 * text into a command. How the input is cut into chunks makes no difference.
 *
 * Memory is constant: the struct holds everything and owns nothing, so there is no done function.
 * One filter per stream; two filters may share a terminal only if each result is written whole.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The longest sequence that can pass, without its introducer and end. */
#define TERM_FILTER_SEQUENCE_MAX 4096

/* Room that term_filter_run() needs for n bytes of input: a stray byte becomes U+FFFD (three
 * bytes), and a sequence collected before may come out at once. */
#define TERM_FILTER_OUT_SIZE(n) (3 * (n) + TERM_FILTER_SEQUENCE_MAX + 16)

/* Room that term_filter_undo() and term_filter_redo() need. */
#define TERM_FILTER_UNDO_SIZE 512

enum term_filter_kind {
    TERM_FILTER_PASSED,
    TERM_FILTER_CLIPBOARD, /* reads or writes the clipboard */
    TERM_FILTER_QUERY,     /* makes the terminal type an answer that can carry chosen text */
    TERM_FILTER_NOTIFY,    /* desktop notifications */
    TERM_FILTER_TRANSFER,  /* files, images and screen dumps */
    TERM_FILTER_STRING,    /* DCS, APC, PM, SOS and screen's title string */
    TERM_FILTER_PRINTER,   /* media copy */
    TERM_FILTER_LINK,      /* hyperlink that is malformed or not for the web or mail */
    TERM_FILTER_BROKEN,    /* cut short, malformed or too long */
    TERM_FILTER_OTHER,     /* unknown, or of no use to a program in a box */
    TERM_FILTER_KINDS
};

/* What the program has changed in the terminal and not changed back. */
struct term_modes {
    uint64_t changed;
    bool
        has_asked; /* a question passed (cursor position, device attributes); callers may clear it */
};

struct term_filter {
    uint64_t counts[TERM_FILTER_KINDS]; /* sequences by what became of them */
    struct term_modes modes;
    bool is_8bit; /* the terminal does not decode UTF-8: see term_filter_init_8bit() */

    /* private */
    uint8_t state;
    uint8_t string;    /* the byte that opened the string */
    bool is_overlong;  /* the sequence did not fit and will be dropped */
    uint8_t n_char;    /* bytes of an unfinished UTF-8 character */
    uint8_t char_size; /* bytes it needs */
    char character[4];
    size_t n_sequence;
    char sequence[TERM_FILTER_SEQUENCE_MAX];
};

/* For a terminal that decodes UTF-8. */
void term_filter_init(struct term_filter *filter);

/* For one that does not. There the bytes 0x80 to 0x9f are controls wherever they stand, also inside
 * what would be a UTF-8 character, so none of them passes. */
void term_filter_init_8bit(struct term_filter *filter);

/* Borrows in (n bytes) and writes to out, which has room for TERM_FILTER_OUT_SIZE(n) bytes and does
 * not overlap in. Returns the number of bytes written. */
size_t term_filter_run(struct term_filter *filter, const char *in, size_t n, char *out);

/*
 * Writes to out (TERM_FILTER_UNDO_SIZE bytes) what takes the terminal back to ordinary modes: mouse
 * reports off, main screen, visible cursor, plain colours ... Only what was changed is undone, so for
 * a program that cleans up there is nothing to write. Changes no state and is async-signal-safe.
 * Returns the number of bytes.
 */
size_t term_filter_undo(const struct term_filter *filter, char *out);

/* The opposite, after a pause: sets the modes again that were undone. Colours, margins and the like
 * are left to the program, which repaints. */
size_t term_filter_redo(const struct term_filter *filter, char *out);

/* A word for records: "clipboard", "query" ... */
const char *term_filter_kind_name(enum term_filter_kind kind);

/* Sequences that were not passed, of all kinds. */
uint64_t term_filter_n_dropped(const struct term_filter *filter);
