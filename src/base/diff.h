/*
 * diff.h - the difference of two texts, as people read it
 *
 *   diff_unified(&out, "a/x.c", "b/x.c", &(struct diff_text){ old, old_n }, &(...){ new, new_n }, 3);
 *
 * Lines are compared whole. The shortest difference is looked for, within a bound: no input takes
 * more than a fixed number of steps beyond what is linear, and where that is not enough the difference
 * is longer than need be, but right. A carriage return is part of its line.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/buffer.h"

struct diff_text {
    const char *bytes; /* any */
    size_t n;
};

/* Appends nothing where the texts are the same. False: without memory (out->failed is set too). */
bool diff_unified(struct buffer *out, const char *old_name, const char *new_name,
                  const struct diff_text *old, const struct diff_text *new, unsigned context);
