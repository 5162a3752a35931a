/*
 * mark.h - lines that begin with held or not held
 *
 *   ✓ User namespaces   unprivileged          [ok] where the locale is not UTF-8
 *   ✗ Cgroup v2         no write access       [--]
 *
 * Colour only on a terminal and without NO_COLOR. Text from the host is made printable.
 */
#pragma once

#include <stdbool.h>
#include <stdio.h>

enum mark { MARK_YES, MARK_NO, MARK_UNSURE };

struct mark_style {
    bool is_utf8;
    bool is_coloured;
};

struct mark_style mark_style_for(FILE *out);
/* `width` is the title's column; detail may be NULL. */
void mark_line(FILE *out, struct mark_style style, enum mark mark, const char *title, int width,
               const char *detail);
/* Text that may hold anything, on one line. */
void mark_text(FILE *out, const char *text);
