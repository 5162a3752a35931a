/*
 * print.h - a plan as text, as JSON, and as the nearest bubblewrap command line
 */
#pragma once

#include "base/buffer.h"
#include "plan/plan.h"

void plan_print_text(const struct plan *plan, struct buffer *out);
void plan_print_json(const struct plan *plan, struct buffer *out);
void plan_print_bwrap(const struct plan *plan, struct buffer *out);
