/*
 * rules.h - which complete terminal sequences may pass, and how to undo what they did
 *
 * Used by base/term/filter.c only. All judgements are lists of what is known to be harmless; everything
 * else is dropped. `modes` records what a passed sequence left changed.
 */
#pragma once

#include "base/term/filter.h"

#define TERM_CSI_PARAMETERS 32

/* ESC [ prefix parameters intermediate final. Zero where there is none. */
struct term_csi {
    char prefix;
    char intermediate;
    char final;
    uint32_t is_sub;                     /* bit i: parameter i stands behind a colon */
    unsigned n;                          /* at least 1 */
    int parameters[TERM_CSI_PARAMETERS]; /* -1: not given */
};

enum term_filter_kind term_rules_escape(struct term_modes *modes, char intermediate, char final);
/* May remove parameters. */
enum term_filter_kind term_rules_csi(struct term_modes *modes, struct term_csi *csi);
/* May shorten the body. */
enum term_filter_kind term_rules_osc(struct term_modes *modes, const char *body, size_t *n);
/* SO and SI: the only control characters that leave something changed. */
void term_rules_shift(struct term_modes *modes, bool is_out);

size_t term_rules_undo(const struct term_modes *modes, char *out);
size_t term_rules_redo(const struct term_modes *modes, char *out);
