/*
 * text.h - the text of the file, checked before anybody parses it
 *
 * libyaml guesses encodings, ends lines at characters that no editor ends them at (what looks like
 * a comment would then be a key), and cannot say where a bad byte is. So it only gets UTF-8 whose
 * lines end in LF or CRLF.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "yaml/answer.h"

struct text {
    char *bytes; /* without a byte order mark */
    size_t length;
    /* Where the last question about a character was, in bytes and in characters. */
    size_t at;
    size_t index;
};

/* All of standard input; false after an error was answered. */
bool text_read(struct text *text, struct answer *answer);
bool text_check(const struct text *text, struct answer *answer);

/* The first byte of the character with this number, from 0; -1 at the end. Cheap when asked in order. */
int text_char(struct text *text, size_t index);
